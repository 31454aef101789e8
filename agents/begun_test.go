package agents_test

import (
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

// A turn that a person began and that fails ends with the program's reason,
// whatever stands on the screen, and is never typed again.
func TestTurnOfAPersonFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Greeting: []string{"one", "two", "three"}}})
	r.waitState(protocol.Idle, "")
	for _, report := range []protocol.Report{
		{Event: protocol.ReportTyped, Req: "abc123", Text: "hello", Time: time.Now()},
		{Event: protocol.ReportFailed, Req: "abc123", Text: "it broke", Time: time.Now()},
	} {
		if err := agents.Append(r.options.Spool, report); err != nil {
			t.Fatal(err)
		}
	}
	got := r.send(agents.Request{ID: "abc123", Body: "hello", Begun: true})
	if f := got.failure(); f == nil || f.Reason != "it broke" || f.Again {
		t.Errorf("got %+v, %v, want the program's reason and no second attempt", got.answer, got.err)
	}
}
