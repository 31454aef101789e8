package agents_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// A program that looks otherwise than its engine says is called degraded, with
// its screen, and stays so; nothing is typed into it.
func TestProgramThatLooksOtherwise(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{
		script: agentstest.Script{Kind: agentstest.Inline, Greeting: []string{"a newer version"}, Turns: says("fine\n{token}")},
		options: func(o *agents.Options) {
			o.Engine.Ready, o.Engine.Start = []*regexp.Regexp{regexp.MustCompile(`^➤`)}, 2*time.Second
		},
	})
	r.waitState(protocol.Degraded, "no row of it matches the engine's ready pattern '^➤'")
	r.agent.Poke() // it is looked at again, and nothing has changed
	if s := r.agent.Status(); !strings.Contains(s.Screen, "a newer version") || s.Drift != s.Reason || s.Drift == "" {
		t.Errorf("got %+v, want the screen and the reason", s)
	}
	if n := len(r.entries("prompt")); n != 0 {
		t.Errorf("got %d prompts, want none", n)
	}
}

// A program that is ready and has not said so on its channel goes on by its
// screen, flagged before and after.
func TestProgramWithMuteHooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{
		script:  agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")},
		options: func(o *agents.Options) { o.Engine.Greets, o.Engine.Start = true, 8*time.Second },
	})
	flagged := func() {
		t.Helper()
		tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
			s := r.agent.Status()
			return s.State == protocol.Idle && strings.Contains(s.Reason, "hooks are not called") && s.Screen != ""
		})
	}
	flagged()
	if got := r.send(agents.Request{ID: "abc123", Body: "hello"}); got.err != nil || got.answer.Evidence != agents.ByToken {
		t.Errorf("got %+v, %v, want an answer by the screen", got.answer, got.err)
	}
	if s := r.agent.Status(); s.State != protocol.Idle {
		t.Errorf("right after its answer: got %s, want it idle without another wait for its word", s.State)
	}
	flagged()
}

// One that would not have said that it has started is flagged once it has
// answered without a word on its channel.
func TestProgramWhoseTurnsAreMute(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{
		script:  agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")},
		options: func(o *agents.Options) { o.Engine.Accepts = true },
	})
	r.waitState(protocol.Idle, "")
	if s := r.agent.Status(); s.Drift != "" {
		t.Errorf("before its first turn: got %q, want nothing said", s.Drift)
	}
	if got := r.send(agents.Request{ID: "abc123", Body: "hello"}); got.err != nil {
		t.Fatalf("got %v, want an answer by the screen", got.err)
	}
	r.waitState(protocol.Idle, "hooks are not called")
}
