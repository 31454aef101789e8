package logs

import (
	"bytes"
	"encoding/json"

	"orchestrator-cc/protocol"
)

// Line is one hop as the journal shows it. The first six fields are always
// there and always in this order; fields are added behind, never renamed.
type Line struct {
	Timestamp     string `json:"timestamp"` // of acceptance, RFC 3339 with microseconds
	ID            string `json:"id"`
	From          string `json:"from"`
	To            string `json:"to"`
	Type          string `json:"type"` // task, info, result or error
	Content       string `json:"content"`
	Seq           uint64 `json:"seq"`
	TaskID        string `json:"task_id,omitempty"`
	CorrelationID string `json:"correlation_id,omitempty"`
	MessageType   string `json:"message_type"`
	Priority      string `json:"priority,omitempty"`
	Direction     string `json:"direction"` // sent to an agent, or received from one
	Status        string `json:"status,omitempty"`
	LatencyMS     *int64 `json:"latency_ms,omitempty"`
	Error         string `json:"error,omitempty"` // the code; the words are the content
	RetryCount    *int   `json:"retry_count,omitempty"`
	Evidence      string `json:"evidence,omitempty"`
	Truncated     bool   `json:"truncated,omitempty"`
	// Tokens is what the agent took for the hop that ends here.
	Tokens *protocol.Tokens `json:"tokens,omitempty"`
}

// LineOf returns the journal's line for an entry, and false for one that has
// none: a step, a state, a heartbeat.
func LineOf(e protocol.Entry) (Line, bool) {
	if e.Kind != protocol.KindMessage || e.Message == nil {
		return Line{}, false
	}
	m, closing := e.Message.Message, e.Message.Closing
	if m.Header.Type == protocol.Heartbeat {
		return Line{}, false
	}
	l := Line{
		Timestamp:     e.Time.UTC().Format(protocol.TimeFormat),
		ID:            m.ID(),
		From:          m.From(),
		To:            m.To(),
		Type:          kindOf(m.Header.Type),
		Content:       m.Text(),
		Seq:           e.Seq,
		TaskID:        e.Message.Task,
		CorrelationID: m.Header.CorrelationID,
		MessageType:   string(m.Header.Type),
		Priority:      priorityOf(m),
		Direction:     directionOf(m, closing != nil),
	}
	if closing != nil {
		l.Status = string(closing.Status)
		l.LatencyMS, l.RetryCount = &closing.LatencyMS, &closing.RetryCount
		l.Error, l.Evidence, l.Truncated = string(closing.Code), closing.Evidence, closing.Truncated
		l.Tokens = closing.Tokens
	}
	if p, ok := m.Payload.(*protocol.ErrorPayload); ok && l.Error == "" {
		l.Error = p.ErrorCode
	}
	return l, true
}

func kindOf(t protocol.Type) string {
	switch t {
	case protocol.Request:
		return "task"
	case protocol.Response:
		return "result"
	case protocol.Error, protocol.Nack:
		return "error"
	}
	return "info"
}

// priorityOf is empty for answers that name none: they do not queue by it.
func priorityOf(m protocol.Message) string {
	switch m.Header.Type {
	case protocol.Request, protocol.Event, protocol.Control:
		return string(m.Priority())
	}
	if m.Metadata != nil {
		return string(m.Metadata.Priority)
	}
	return ""
}

// directionOf sees it from the hub: what answers was received, and so was
// what ends a request, even where the hub itself had to say so.
func directionOf(m protocol.Message, closing bool) string {
	switch m.Header.Type {
	case protocol.Response, protocol.Ack, protocol.Nack:
		return "received"
	case protocol.Error:
		if closing || m.From() != protocol.Hub {
			return "received"
		}
	}
	return "sent"
}

// encode returns the line with its newline, readable as it stands.
func (l Line) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	return b.Bytes(), err
}
