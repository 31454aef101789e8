package agents_test

import (
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// A program that tells its answer and prints nothing is heard when somebody
// pokes: no look of the agent's own would come in this test.
func TestPokeIsHeardAtOnce(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{pause(10 * time.Minute), say("never")}
	took := make(chan protocol.Tokens, 1)
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}},
		options: func(o *agents.Options) {
			o.Tick, o.Timeout = time.Hour, time.Hour
			o.OnUsage = func(r protocol.Report) { took <- r.Usage.Tokens }
		}})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return r.agent.Status().State == protocol.Busy })
	for _, report := range []protocol.Report{
		{Event: protocol.ReportUsage, Req: "abc123", Usage: &protocol.Usage{ID: "m", Tokens: protocol.Tokens{Input: 1}}},
		{Event: protocol.ReportAnswer, Req: "abc123", Text: "told\n" + testMarker},
	} {
		if err := agents.Append(r.options.Spool, report); err != nil {
			t.Fatal(err)
		}
	}
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
		r.agent.Poke()
		select {
		case got := <-done:
			if got.err != nil || got.answer.Text != "told\n"+testMarker || got.answer.Evidence != agents.ByChannel {
				t.Errorf("got %+v, %v, want the answer by the channel", got.answer, got.err)
			}
			return true
		default:
			return false
		}
	})
	if got := <-took; got != (protocol.Tokens{Input: 1}) {
		t.Errorf("got %+v, want what the model took told before the answer", got)
	}
}
