package agents_test

import (
	"testing"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
)

func TestExchangeWithEveryKindOfProgram(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{agentstest.Inline, agentstest.Alternate, agentstest.Line} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{script: agentstest.Script{
				Kind: kind, Turns: [][]agentstest.Act{{{Say: "first\n  second\nthird"}, {Say: "{token}"}}},
			}})
			got := r.send(agents.Request{ID: "abc123", Body: "hello"})
			t.Log(r.command("capture-pane", "-p", "-t", r.info.ID))
			if got.err != nil {
				t.Fatalf("got %v, want an answer", got.err)
			}
			if want := "first\n  second\nthird\n" + testMarker; got.answer.Text != want {
				t.Errorf("got answer %q, want %q", got.answer.Text, want)
			}
			t.Log(got.answer, got.steps, got.done.Sub(r.entries("end")[0].Time), r.entries("prompt"))
		})
	}
}
