package protocol

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// MaxPayload is the default limit of an encoded payload. It leaves room for
// the largest prompt an engine takes, 1 MiB, with every byte escaped.
const MaxPayload = 8 << 20

// Validate checks a stamped message and names every field that is wrong.
func (m Message) Validate(maxPayload int) error {
	var p Problems
	m.Header.check(&p)
	if m.Metadata != nil {
		m.Metadata.check(&p)
	}
	if m.Payload == nil {
		p.add(Invalid("payload", "is missing"))
		return p.err()
	}
	if m.Payload.payloadType() != m.Header.Type {
		p.add(Invalid("header.type", "is %q but the payload is a %s", m.Header.Type, m.Payload.payloadType()))
	}
	m.Payload.check(&p)
	if body, err := json.Marshal(m.Payload); err != nil {
		p.add(Invalid("payload", "%v", err))
	} else if len(body) > maxPayload {
		p.add(&Fault{Code: CodeTooLarge, Field: "payload", Message: sizeText(len(body), maxPayload), Hint: "send a shorter text, or put it into a file and name the file"})
	}
	return p.err()
}

func (h Header) check(p *Problems) {
	if id, err := uuid.Parse(h.MessageID); err != nil || id.Version() != 4 || len(h.MessageID) != 36 {
		p.add(Invalid("header.message_id", "is %q; it must be a UUID of version 4", h.MessageID))
	}
	if _, err := time.Parse(time.RFC3339Nano, h.Timestamp); err != nil {
		p.add(Invalid("header.timestamp", "is %q; it must be RFC 3339, as 2026-02-01T10:30:00.123456Z", h.Timestamp))
	}
	if h.Version != Version {
		p.add(&Fault{Code: CodeVersion, Field: "header.version", Message: "is \"" + h.Version + "\"; this hub speaks " + Version})
	}
	if h.From.AgentID == "" {
		p.add(Invalid("header.from.agent_id", "is missing"))
	}
	if h.To.AgentID == "" {
		p.add(Invalid("header.to.agent_id", "is missing"))
	}
	needsCorrelation := h.Type == Response || h.Type == Ack || h.Type == Nack
	if needsCorrelation && h.CorrelationID == "" {
		p.add(Invalid("header.correlation_id", "is missing; a %s names the message it answers", h.Type))
	}
}

func (m Metadata) check(p *Problems) {
	if m.Priority.Weight() < 0 {
		p.add(Invalid("metadata.priority", "is %q; use low, normal, high or critical", m.Priority))
	}
	if m.TTLSeconds != nil && !(*m.TTLSeconds > 0 && *m.TTLSeconds <= 1e9) {
		p.add(Invalid("metadata.ttl_seconds", "is %v; it must be above 0", *m.TTLSeconds))
	}
	if m.RetryCount != nil && *m.RetryCount < 0 {
		p.add(Invalid("metadata.retry_count", "is %d; it must not be negative", *m.RetryCount))
	}
}

func (r *RequestPayload) check(p *Problems) {
	if r.Action == "" {
		p.add(Invalid("payload.action", "is missing"))
	}
	checkObject(p, "payload.params", r.Params, true)
	if r.TimeoutMS != nil && *r.TimeoutMS <= 0 {
		p.add(Invalid("payload.timeout_ms", "is %d; it must be above 0", *r.TimeoutMS))
	}
	if r.Action == ActionTask {
		text, ok := textOf(r.Params)
		switch {
		case !ok || strings.TrimSpace(text) == "":
			p.add(Invalid("payload.params.text", "is empty; say what the agent is to do"))
		case !utf8.ValidString(text):
			p.add(Invalid("payload.params.text", "is not valid UTF-8"))
		}
	}
}

func (r *ResponsePayload) check(p *Problems) {
	if r.Status != Success && r.Status != Partial && r.Status != Failed {
		p.add(Invalid("payload.status", "is %q; use success, partial or failed", r.Status))
	}
	if r.Metrics != nil && r.Metrics.DurationMS < 0 {
		p.add(Invalid("payload.metrics.duration_ms", "is negative"))
	}
	if r.Error != nil {
		r.Error.check(p)
	}
}

func (e *EventPayload) check(p *Problems) {
	if e.EventType == "" {
		p.add(Invalid("payload.event_type", "is missing"))
	}
	checkObject(p, "payload.data", e.Data, true)
}

func (e *ErrorPayload) check(p *Problems) {
	if e.ErrorCode == "" {
		p.add(Invalid("payload.error_code", "is missing"))
	}
	switch e.ErrorType {
	case ErrValidation, ErrExecution, ErrTimeout, ErrDependency, ErrResource, ErrInternal:
	default:
		p.add(Invalid("payload.error_type", "is %q; use validation, execution, timeout, dependency, resource or internal", e.ErrorType))
	}
	if e.Message == "" {
		p.add(Invalid("payload.message", "is missing"))
	}
	checkObject(p, "payload.details", e.Details, false)
}

func (h *HeartbeatPayload) check(p *Problems) {
	if h.State == "" {
		p.add(Invalid("payload.state", "is missing"))
	}
}

func (c *ControlPayload) check(p *Problems) {
	switch c.Command {
	case Pause, Resume, Cancel, Retry, Shutdown:
	default:
		p.add(Invalid("payload.command", "is %q; use pause, resume, cancel, retry or shutdown", c.Command))
	}
	checkObject(p, "payload.params", c.Params, false)
}

func (a *AckPayload) check(p *Problems) { checkTime(p, "payload.received_at", a.ReceivedAt) }

func (n *NackPayload) check(p *Problems) {
	checkTime(p, "payload.received_at", n.ReceivedAt)
	if n.NackReason == "" {
		p.add(Invalid("payload.nack_reason", "is missing"))
	}
}

func checkTime(p *Problems, field, value string) {
	if _, err := time.Parse(time.RFC3339Nano, value); err != nil {
		p.add(Invalid(field, "is %q; it must be RFC 3339", value))
	}
}

func checkObject(p *Problems, field string, data json.RawMessage, required bool) {
	if len(data) == 0 {
		if required {
			p.add(Invalid(field, "is missing"))
		}
		return
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		p.add(Invalid(field, "must be an object"))
	}
}
