package agents_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

// A program that says on its screen why a turn ended without an answer has
// failed with these words, and is not waited for.
func TestFailureOnTheScreen(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{say("■ it broke")}
	r := newRig(t, setup{
		script:  agentstest.Script{Kind: agentstest.Inline, Plain: true, Turns: [][]agentstest.Act{acts}},
		options: func(o *agents.Options) { o.Engine.Failed = []*regexp.Regexp{regexp.MustCompile(`^■ `)} },
	})
	got := r.send(agents.Request{ID: "abc123", Body: "hello\n■ a quotation in the prompt"})
	var f *agents.Failure
	if !errors.As(got.err, &f) || f.Code != protocol.CodeAgentFailed || f.Reason != "it broke" || !f.Again {
		t.Errorf("got %+v, %v, want a failure that says why and may be tried again", got.answer, got.err)
	}
}

// Where the channel tells which prompts are taken, the screen does not.
func TestPromptThatTheChannelDoesNotTake(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{say("an old answer"), spin(8 * time.Second)}
	r := newRig(t, setup{
		script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}},
		options: func(o *agents.Options) {
			o.Engine.Channel, o.Engine.Accepts, o.Spool, o.AckTimeout = true, true, t.TempDir()+"/spool", time.Second
		},
	})
	if err := agents.Append(r.options.Spool, protocol.Report{Event: protocol.ReportReady}); err != nil {
		t.Fatal(err)
	}
	got := r.send(agents.Request{ID: "abc123", Body: "hello"})
	var f *agents.Failure
	if !errors.As(got.err, &f) || f.Code != protocol.CodeNotAccepted {
		t.Errorf("got %+v, %v, want a prompt that was not accepted", got.answer, got.err)
	}
}
