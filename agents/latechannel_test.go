package agents_test

import (
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
)

// A channel that has taken the prompt is waited for, although the screen shows
// the end already: only the channel has the text as it was written.
func TestChannelThatSpeaksAfterTheScreen(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{say("two  blanks\n\n  indent\n{token}"), pause(400 * time.Millisecond), pause(time.Millisecond)}
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}}})
	got := r.send(agents.Request{ID: "abc123", Body: "hello"})
	want := "two  blanks\n\n  indent\n" + testMarker
	if got.err != nil || got.answer.Text != want || got.answer.Evidence != agents.ByChannel {
		t.Errorf("got %+v, %v, want %q by the channel", got.answer, got.err, want)
	}
}

// A marker on a still screen is no end while a channel that has taken the
// prompt has not told of one.
func TestChannelOutweighsAMarker(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{say("first\n{marker}"), pause(4 * time.Second), say("last\n{token}")}
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}}})
	got := r.send(agents.Request{ID: "abc123", Body: "hello"})
	want := "first\n" + testMarker + "\nlast\n" + testMarker
	if got.err != nil || got.answer.Text != want || got.answer.Evidence != agents.ByChannel {
		t.Errorf("got %+v, %v, want %q by the channel", got.answer, got.err, want)
	}
}
