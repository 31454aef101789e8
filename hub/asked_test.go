package hub

import (
	"testing"

	"orchestrator-cc/protocol"
)

func TestQuestionsAreCountedUntilAnswered(t *testing.T) {
	t.Parallel()
	a := asked{}
	event := func(kind, id string) protocol.Entry {
		m := protocol.New(protocol.FromHub(), protocol.FromUser(), &protocol.EventPayload{EventType: kind, Data: []byte(`{"confirmationId":"` + id + `"}`)})
		return protocol.Entry{Message: &protocol.Accepted{Message: m}}
	}
	for _, step := range []struct {
		kind, id string
		want     int
	}{
		{protocol.EventConfirmationRequest, "a", 1},
		{protocol.EventConfirmationRequest, "b", 2},
		{protocol.EventConfirmationRequest, "b", 2},
		{"info", "c", 2},
		{protocol.EventConfirmationAnswer, "a", 1},
		{protocol.EventConfirmationAnswer, "nobody", 1},
		{protocol.EventConfirmationAnswer, "b", 0},
	} {
		if a.apply(event(step.kind, step.id)); len(a) != step.want {
			t.Errorf("after %s of %s: got %d questions, want %d", step.kind, step.id, len(a), step.want)
		}
	}
}
