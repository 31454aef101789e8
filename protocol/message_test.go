package protocol_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

func asJSON(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The examples of the agent protocol decode and encode unchanged; the folder
// is the list. Acks and heartbeats, which the document defines without an
// example, stand beside them.
func TestDocumentExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/document/*.json")
	if err != nil || len(files) != len(protocol.Types()) {
		t.Fatalf("got %d examples, %v, want one of each type", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var m protocol.Message
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimSuffix(filepath.Base(file), ".json"); string(m.Header.Type) != want {
				t.Errorf("got type %s, want %s", m.Header.Type, want)
			}
			again, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asJSON(t, data), asJSON(t, again)); diff != "" {
				t.Errorf("encoded again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodingRefuses(t *testing.T) {
	t.Parallel()
	const header = `"header":{"message_id":"x","from":{"agent_type":"a","agent_id":"a"},"to":{"agent_type":"b","agent_id":"b"},"type":"request"}`
	tests := []struct{ name, text, field string }{
		{"no object", `[]`, "message"},
		{"unknown part", `{` + header + `,"payload":{},"extra":1}`, "message"},
		{"no header", `{"payload":{}}`, "header"},
		{"unknown header field", `{"header":{"type":"request","colour":"red"},"payload":{}}`, "header"},
		{"unknown type", `{"header":{"type":"gossip"},"payload":{}}`, "header.type"},
		{"no type", `{"header":{},"payload":{}}`, "header.type"},
		{"no payload", `{` + header + `}`, "payload"},
		{"null payload", `{` + header + `,"payload":null}`, "payload"},
		{"payload of another type", `{` + header + `,"payload":{"status":"success"}}`, "payload"},
		{"wrong kind of value", `{` + header + `,"payload":{"action":1}}`, "payload"},
		{"unknown metadata", `{` + header + `,"payload":{},"metadata":{"mood":"good"}}`, "metadata"},
		{"header is a number", `{"header":1,"payload":{}}`, "header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var m protocol.Message
			err := json.Unmarshal([]byte(tt.text), &m)
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeInvalid || fault.Field != tt.field {
				t.Errorf("got %#v, want a fault in %s", err, tt.field)
			}
		})
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 1, 19, 30, 0, 123456789, time.FixedZone("JST", 9*3600))
	m := request("do it")
	m.Header.MessageID, m.Header.Timestamp, m.Header.Version = "", "", ""
	m.Stamp(now)
	if err := m.Validate(protocol.MaxPayload); err != nil {
		t.Errorf("got %v, want a valid message once what was absent is filled in", err)
	}
	if want := "2026-02-01T10:30:00.123456Z"; m.Header.Timestamp != want {
		t.Errorf("got timestamp %s, want %s", m.Header.Timestamp, want)
	}
	for _, part := range []string{"message_id", "timestamp", "version"} {
		m := request("do it")
		switch part {
		case "message_id":
			m.Header.MessageID = "msg_001"
		case "timestamp":
			m.Header.Timestamp = "yesterday"
		case "version":
			m.Header.Version = "2.0"
		}
		before := m.Header
		m.Stamp(now)
		if diff := cmp.Diff(before, m.Header); diff != "" {
			t.Errorf("%s: stamped over (-before +after):\n%s", part, diff)
		}
		if err := m.Validate(protocol.MaxPayload); err == nil || !strings.Contains(err.Error(), "header."+part) {
			t.Errorf("%s: got %v, want it refused by name", part, err)
		}
	}
}

func TestExpires(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	m := request("x")
	if got := m.Expires(at); !got.IsZero() {
		t.Errorf("got %v, want never", got)
	}
	if got := m.WithTTL(1500 * time.Millisecond).Expires(at); got.Sub(at) != 1500*time.Millisecond {
		t.Errorf("got %v, want 1.5 s later", got)
	}
}

// With… and About leave the message they are called on as it is.
func TestVariantsAreCopies(t *testing.T) {
	t.Parallel()
	m := request("x").WithPriority(protocol.High)
	n := m.WithTTL(time.Second).WithPriority(protocol.Low).About("y")
	if m.Priority() != protocol.High || m.Metadata.TTLSeconds != nil || m.Header.CorrelationID != "" {
		t.Errorf("got %+v %+v, want the first message unchanged", m.Header, m.Metadata)
	}
	if n.Priority() != protocol.Low || *n.Metadata.TTLSeconds != 1 || n.Header.CorrelationID != "y" {
		t.Errorf("got %+v %+v, want the second as asked", n.Header, n.Metadata)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		payload protocol.Payload
		want    string
	}{
		{"task", protocol.TaskRequest("a < b & c"), "a < b & c"},
		{"other action", &protocol.RequestPayload{Action: "implement", Params: json.RawMessage(`{"text":"x"}`)}, "implement\n{\"text\":\"x\"}"},
		{"info", protocol.Info("news"), "news"},
		{"other event", &protocol.EventPayload{EventType: "ready", Data: json.RawMessage(`{"a":1}`)}, "ready\n{\"a\":1}"},
		{"answer", protocol.Answer(protocol.Success, "done"), "done"},
		{"empty answer", protocol.Answer(protocol.Success, ""), ""},
		{"other result", &protocol.ResponsePayload{Status: protocol.Success, Result: json.RawMessage(`{"files":[]}`)}, `{"files":[]}`},
		{"failed response", &protocol.ResponsePayload{Status: protocol.Failed, Error: &protocol.ErrorPayload{Message: "broken"}}, "broken"},
		{"error", &protocol.ErrorPayload{Message: "broken"}, "broken"},
		{"control", &protocol.ControlPayload{Command: protocol.Pause}, "pause"},
		{"ack", &protocol.AckPayload{}, "accepted"},
		{"nack", &protocol.NackPayload{NackReason: "busy"}, "busy"},
		{"heartbeat", &protocol.HeartbeatPayload{State: "idle"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := protocol.New(protocol.FromUser(), protocol.FromHub(), tt.payload)
			if got := m.Text(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzDecode holds that decoding never panics, and that what was decoded
// encodes into something that decodes to the same.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/document/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m protocol.Message
		if json.Unmarshal(data, &m) != nil {
			return
		}
		_ = m.Text()
		_ = m.Validate(protocol.MaxPayload)
		first, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("encode %s: %v", data, err)
		}
		var n protocol.Message
		if err := json.Unmarshal(first, &n); err != nil {
			t.Fatalf("decode %s again: %v", first, err)
		}
		second, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asJSON(t, first), asJSON(t, second)); diff != "" {
			t.Errorf("round trip (-first +second):\n%s", diff)
		}
	})
}

func request(text string) protocol.Message {
	m := protocol.New(protocol.FromUser(), protocol.Party("grand_boss", protocol.GrandBoss), protocol.TaskRequest(text))
	m.Stamp(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	return m
}
