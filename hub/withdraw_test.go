package hub

import (
	"encoding/json"
	"testing"

	"orchestrator-cc/protocol"
)

// What an agent asks for a task that is cancelled is withdrawn, and what others
// ask stays.
func TestCancelWithdrawsItsQuestions(t *testing.T) {
	t.Parallel()
	r := newHouse(t).open()
	id := r.ask("worker_one", "/think 10m")
	r.awaitTaken(id)
	question := func(agent string) protocol.Confirmation {
		t.Helper()
		c := protocol.Confirmation{ID: protocol.NewID(), Tool: "Bash", Args: json.RawMessage(`{"command":"make"}`), Agent: agent, State: protocol.ConfirmationPending}
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		m := protocol.New(protocol.FromHub(), protocol.FromUser(), &protocol.EventPayload{EventType: protocol.EventConfirmationRequest, Data: data})
		if _, err := r.Submit(t.Context(), protocol.Accepted{Message: m}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	mine, other := question("worker_one"), question("worker_two")
	r.order("worker_one", protocol.Cancel, id)
	r.await(id, protocol.TaskCancelled)
	known, _ := r.Approvals()
	for _, c := range known.Items {
		switch {
		case c.ID == mine.ID && (c.State != protocol.ConfirmationWithdrawn || c.By != protocol.ByEndOfTask):
			t.Errorf("got %s by %q for the cancelled task's question, want it withdrawn", c.State, c.By)
		case c.ID == other.ID && c.State != protocol.ConfirmationPending:
			t.Errorf("got %s for another agent's question, want it pending", c.State)
		}
	}
	if len(known.Items) != 2 {
		t.Errorf("got %d questions, want 2", len(known.Items))
	}
}
