package agents_test

import (
	"strings"
	"testing"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/tmux/tmuxtest"
)

func forgetful(o *agents.Options) { o.Engine.Forget = "/clear" }

// prompts are the first lines of what the program was given.
func (r *rig) prompts() (out []string) {
	for _, e := range r.entries("prompt") {
		first, _, _ := strings.Cut(e.Text, "\n")
		out = append(out, first)
	}
	return out
}

// A program forgets before it gets a prompt of another session, and only then.
func TestProgramForgetsFirst(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{agentstest.Inline, agentstest.Alternate} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			done := []agentstest.Act{{Say: "done\n{token}"}}
			r := newRig(t, setup{options: forgetful, script: agentstest.Script{Kind: kind, Turns: [][]agentstest.Act{done, {}, done}}})
			for id, forget := range []bool{false, true, false} {
				got := r.send(agents.Request{ID: "abc12" + string(rune('0'+id)), Body: "work", Forget: forget})
				if got.err != nil || got.answer.Text != "done\n"+testMarker {
					t.Fatalf("got %+v (%v), want an answer\n%s", got.answer, got.err, r.screen())
				}
			}
			want := "req-abc120 from user, /clear, req-abc121 from user, req-abc122 from user"
			if got := strings.Join(r.prompts(), ", "); got != want {
				t.Errorf("got prompts %q, want %q", got, want)
			}
		})
	}
}

// What a hub that died had typed to make the program forget is not taken for a
// person's draft: the next hub presses Enter.
func TestHalfTypedForgettingIsCarriedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{options: forgetful, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{}, {{Say: "done\n{token}"}}}}})
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return strings.Contains(r.screen(), "❯") })
	if err := (terminal{r.server.Pane(r.info)}).Paste(t.Context(), agents.Screen{}, "forget", []byte("/clear")); err != nil {
		t.Fatal(err)
	}
	got := r.send(agents.Request{ID: "abc123", Body: "work"})
	if got.err != nil {
		t.Fatalf("got %v, want an answer\n%s", got.err, r.screen())
	}
	if got, want := strings.Join(r.prompts(), ", "), "/clear, req-abc123 from user"; got != want {
		t.Errorf("got prompts %q, want %q", got, want)
	}
}

// A program that does not say that it has begun anew gets no prompt.
func TestUnprovedForgettingIsNoDelivery(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{channel: true, options: func(o *agents.Options) { forgetful(o); o.Engine.Renews = true },
		script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{}}}})
	got := r.send(agents.Request{ID: "abc123", Body: "work", Forget: true})
	if f := got.failure(); f == nil || !f.Again || len(got.steps) != 0 {
		t.Errorf("got %v after steps %v, want a failure before anything is typed, to be tried again", got.err, got.steps)
	}
	for _, p := range r.prompts() {
		if p != "/clear" {
			t.Errorf("got prompt %q, want none", p)
		}
	}
}
