package protocol_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

func ptr[T any](v T) *T { return &v }

// fields lists the fields an error names.
func fields(err error) []string {
	var p *protocol.Problems
	if !errors.As(err, &p) {
		return nil
	}
	var out []string
	for _, f := range p.Faults {
		out = append(out, f.Field)
	}
	return out
}

func TestValidateHeaderAndMetadata(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(m *protocol.Message)
		want  []string
	}{
		{"sound", func(*protocol.Message) {}, nil},
		{"no id", func(m *protocol.Message) { m.Header.MessageID = "" }, []string{"header.message_id"}},
		{"no uuid", func(m *protocol.Message) { m.Header.MessageID = "msg_001" }, []string{"header.message_id"}},
		{"uuid of version 1", func(m *protocol.Message) { m.Header.MessageID = "a8098c1a-f86e-11da-bd1a-00112444be1e" }, []string{"header.message_id"}},
		{"uuid with braces", func(m *protocol.Message) { m.Header.MessageID = "{" + m.Header.MessageID + "}" }, []string{"header.message_id"}},
		{"no timestamp", func(m *protocol.Message) { m.Header.Timestamp = "" }, []string{"header.timestamp"}},
		{"timestamp without zone", func(m *protocol.Message) { m.Header.Timestamp = "2024-01-15T10:00:00" }, []string{"header.timestamp"}},
		{"version", func(m *protocol.Message) { m.Header.Version = "1.1" }, []string{"header.version"}},
		{"no sender", func(m *protocol.Message) { m.Header.From.AgentID = "" }, []string{"header.from.agent_id"}},
		{"no recipient", func(m *protocol.Message) { m.Header.To.AgentID = "" }, []string{"header.to.agent_id"}},
		{"type unlike payload", func(m *protocol.Message) { m.Header.Type = protocol.Event }, []string{"header.type"}},
		{"no payload", func(m *protocol.Message) { m.Payload = nil }, []string{"payload"}},
		{"priority", func(m *protocol.Message) { *m = m.WithPriority("urgent") }, []string{"metadata.priority"}},
		{"ttl zero", func(m *protocol.Message) { *m = m.WithTTL(0) }, []string{"metadata.ttl_seconds"}},
		{"ttl negative", func(m *protocol.Message) { *m = m.WithTTL(-1) }, []string{"metadata.ttl_seconds"}},
		{"retry count", func(m *protocol.Message) { m.Metadata = &protocol.Metadata{RetryCount: ptr(-1)} }, []string{"metadata.retry_count"}},
		{"all at once", func(m *protocol.Message) { m.Header = protocol.Header{Type: protocol.Request} },
			[]string{"header.message_id", "header.timestamp", "header.version", "header.from.agent_id", "header.to.agent_id"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := request("x")
			tt.spoil(&m)
			if diff := cmp.Diff(tt.want, fields(m.Validate(protocol.MaxPayload))); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidatePayload(t *testing.T) {
	t.Parallel()
	object, list := json.RawMessage(`{"a":1}`), json.RawMessage(`[1]`)
	at := "2024-01-15T10:00:00Z"
	sound := &protocol.ErrorPayload{ErrorCode: "E", ErrorType: protocol.ErrInternal, Message: "m"}
	tests := []struct {
		name    string
		payload protocol.Payload
		want    []string
	}{
		{"request", &protocol.RequestPayload{Action: "implement", Params: object, TimeoutMS: ptr(int64(1))}, nil},
		{"no action, no params", &protocol.RequestPayload{}, []string{"payload.action", "payload.params"}},
		{"params a list", &protocol.RequestPayload{Action: "x", Params: list}, []string{"payload.params"}},
		{"params null", &protocol.RequestPayload{Action: "x", Params: json.RawMessage("null")}, []string{"payload.params"}},
		{"timeout", &protocol.RequestPayload{Action: "x", Params: object, TimeoutMS: ptr(int64(0))}, []string{"payload.timeout_ms"}},
		{"empty task", protocol.TaskRequest(" \n"), []string{"payload.params.text"}},
		{"task without text", &protocol.RequestPayload{Action: protocol.ActionTask, Params: object}, []string{"payload.params.text"}},
		{"response", protocol.Answer(protocol.Partial, "x"), nil},
		{"status", &protocol.ResponsePayload{Status: "done"}, []string{"payload.status"}},
		{"duration", &protocol.ResponsePayload{Status: protocol.Success, Metrics: &protocol.Cost{DurationMS: -1}}, []string{"payload.metrics.duration_ms"}},
		{"error in response", &protocol.ResponsePayload{Status: protocol.Failed, Error: sound}, nil},
		{"event", &protocol.EventPayload{EventType: "x", Data: object}, nil},
		{"empty event", &protocol.EventPayload{}, []string{"payload.event_type", "payload.data"}},
		{"error", sound, nil},
		{"empty error", &protocol.ErrorPayload{Details: list}, []string{"payload.error_code", "payload.error_type", "payload.message", "payload.details"}},
		{"heartbeat", &protocol.HeartbeatPayload{}, []string{"payload.state"}},
		{"control", &protocol.ControlPayload{Command: protocol.Pause}, nil},
		{"command", &protocol.ControlPayload{Command: "dance", Params: list}, []string{"payload.command", "payload.params"}},
		{"ack", &protocol.AckPayload{ReceivedAt: at}, nil},
		{"ack without time", &protocol.AckPayload{}, []string{"payload.received_at"}},
		{"nack", &protocol.NackPayload{ReceivedAt: at, NackReason: "busy"}, nil},
		{"empty nack", &protocol.NackPayload{}, []string{"payload.received_at", "payload.nack_reason"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := protocol.New(protocol.FromUser(), protocol.FromHub(), tt.payload).About("x")
			m.Stamp(time.Unix(0, 0))
			if diff := cmp.Diff(tt.want, fields(m.Validate(protocol.MaxPayload))); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswersNameTheirRequest(t *testing.T) {
	t.Parallel()
	for _, p := range []protocol.Payload{protocol.Answer(protocol.Success, "x"), &protocol.AckPayload{ReceivedAt: "2024-01-15T10:00:00Z"}, &protocol.NackPayload{ReceivedAt: "2024-01-15T10:00:00Z", NackReason: "x"}} {
		m := protocol.New(protocol.FromUser(), protocol.FromHub(), p)
		m.Stamp(time.Unix(0, 0))
		if diff := cmp.Diff([]string{"header.correlation_id"}, fields(m.Validate(protocol.MaxPayload))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.Header.Type, diff)
		}
	}
}

func TestPayloadSize(t *testing.T) {
	t.Parallel()
	m := request(strings.Repeat("x", 1000))
	body, err := json.Marshal(m.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Validate(len(body)); err != nil {
		t.Errorf("got %v, want a payload of exactly the limit accepted", err)
	}
	err = m.Validate(len(body) - 1)
	if protocol.CodeOf(err) != protocol.CodeTooLarge || !strings.Contains(err.Error(), "send a shorter text") {
		t.Errorf("got %v, want %s with a cure", err, protocol.CodeTooLarge)
	}
}
