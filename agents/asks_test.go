package agents_test

import (
	"sync/atomic"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

// A program that shows no sign of life while a person is asked outside its pane
// is waited for, and said to wait.
func TestQuestionOutsideThePaneHoldsTheTimeout(t *testing.T) {
	t.Parallel()
	var asks atomic.Bool
	asks.Store(true)
	r := newRig(t, setup{
		script:  agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{{Pause: 3 * time.Second}, say("fine\n{token}")}}},
		options: func(o *agents.Options) { o.Timeout, o.Asks = time.Second, asks.Load },
	})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "x"}) }()
	r.waitState(protocol.Waiting, "asks for a tool")
	if got := <-done; got.err != nil || got.answer.Text != "fine\n"+testMarker {
		t.Errorf("got %+v, %v, want the answer", got.answer, got.err)
	}
}
