package investigate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// everyEnvelope collects messages of every type: those of an investigation that
// finds something, of one that has to ask again, and of a step that fails.
func everyEnvelope(t *testing.T) []Envelope {
	t.Helper()
	_, all, err := Investigate(t.Context(), "where is the retry policy implemented?", "testdata/golden/go/tree", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, more, err := Investigate(t.Context(), "where is FrobnicateWidget?", "testdata/golden/go/tree", Options{})
	if err != nil {
		t.Fatal(err)
	}
	step := Step{ID: "step-1-1", Role: Research, Command: mustCommand(t, `grep {"pattern":"x"}`), Round: 1}
	failed := ResultOf(step, Outcome{Command: step.Command, Error: "disk on fire", Attempts: 2}, time.Now())
	return append(append(all, more...), failed)
}

func decoded(t *testing.T, e Envelope) map[string]any {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The schema's required fields, types and enumerations hold for every message.
// The full validation is in schema_test.go.
func TestEnvelopesFollowTheSchema(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]struct {
			Type string
			Enum []string
		}
		Required []string
	}
	data, err := os.ReadFile(filepath.Join("testdata", "envelope.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	types := map[string]int{}
	for _, e := range everyEnvelope(t) {
		types[e.MessageType]++
		message := decoded(t, e)
		for _, name := range schema.Required {
			if message[name] == nil || message[name] == "" {
				t.Errorf("got %v without %s", message, name)
			}
		}
		for name, value := range message {
			p, known := schema.Properties[name]
			_, isString := value.(string)
			_, isObject := value.(map[string]any)
			if !known || isString != (p.Type == "string") || isObject != (p.Type == "object") {
				t.Errorf("got field %s of type %T, want %q", name, value, p.Type)
			}
			if len(p.Enum) > 0 && !slices.Contains(p.Enum, value.(string)) {
				t.Errorf("got %s %v, want one of %v", name, value, p.Enum)
			}
		}
		if _, err := time.Parse(time.RFC3339Nano, message["timestamp"].(string)); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{TaskRequest, TaskResult, Feedback, StatusUpdate, ErrorMessage} {
		if types[want] == 0 {
			t.Errorf("got no message of type %s in %v", want, types)
		}
	}
}
