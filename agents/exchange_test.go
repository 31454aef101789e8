package agents_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

func TestExchangeWithEveryKindOfProgram(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{script: agentstest.Script{Kind: kind, Turns: says("first\n  second\nthird", "{token}")}})
			got := r.send(agents.Request{ID: "abc123", Body: "hello"})
			if got.err != nil {
				t.Fatalf("got %v, want an answer\n%s", got.err, r.screen())
			}
			want := agents.Answer{Text: "first\n  second\nthird\n" + testMarker, Evidence: agents.ByToken, Marked: true}
			if diff := cmp.Diff(want, got.answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]protocol.StepName{protocol.Typed, protocol.Submitted, protocol.Taken}, got.steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if s := r.agent.Status(); s.State != protocol.Idle || s.Request != "" || s.LastActivity.IsZero() {
				t.Errorf("got status %+v, want an idle agent", s)
			}
		})
	}
}

// A step that cannot be written down is not followed by another.
func TestNothingIsDoneUnrecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")}})
	_, err := r.agent.Exchange(t.Context(), agents.Request{ID: "abc123", From: "user", Body: "hello"}, func(protocol.StepName, string) error {
		return errHubDied{}
	})
	if err == nil || protocol.CodeOf(err) != protocol.CodeInternal {
		t.Errorf("got %v, want the recorder's error", err)
	}
	if n := len(r.entries("prompt")); n != 0 {
		t.Errorf("got %d prompts submitted, want none before the typing was recorded", n)
	}
}

// At rest the interrupt key is not pressed: it would end many a program.
func TestInterruptAtRestPressesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Line, Turns: says("fine\n{token}")}})
	if got := r.send(agents.Request{ID: "abc123", Body: "hello"}); got.err != nil {
		t.Fatal(got.err)
	}
	if err := r.agent.Interrupt(t.Context()); err != nil {
		t.Errorf("got %v, want nothing to do", err)
	}
	if got := r.send(agents.Request{ID: "abc124", Body: "hello"}); got.err != nil {
		t.Errorf("got %v, want the program still there", got.err)
	}
}
