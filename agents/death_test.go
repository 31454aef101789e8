package agents_test

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

func TestTrapsOfTrouble(t *testing.T) {
	t.Parallel()
	quick := says("fine\n{token}")
	died := agentstest.Act{Exit: "3"}
	hard := func(o *agents.Options) { o.HardLimit = 1500 * time.Millisecond }
	noKey := func(o *agents.Options) { brief(o); o.Engine.Interrupt = nil }
	runTraps(t, []trap{
		{name: "Enter swallowed", kinds: screens, setup: setup{script: agentstest.Script{Swallow: 500 * time.Millisecond, Turns: quick}}},
		{name: "Enter swallowed for ever", kinds: screens, code: protocol.CodeNotSubmitted, reason: "stays in its composer",
			setup: setup{script: agentstest.Script{Swallow: time.Hour, Turns: quick}}},
		{name: "slow to start", setup: setup{script: agentstest.Script{Delay: time.Second, Turns: quick}}},
		{name: "no wake-ups", sends: 2, setup: setup{blind: true, script: agentstest.Script{Turns: [][]agentstest.Act{{spin(600 * time.Millisecond), say("fine"), pause(300 * time.Millisecond), say("{token}")}}}}},
		{name: "dies before the answer", code: protocol.CodeAgentDied, reason: "status 3", setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{died}}}}},
		{name: "killed in the answer", code: protocol.CodeAgentDied, reason: "ended", setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{say("half " + testMarker), {Exit: "kill"}}}}}},
		{name: "a spinner that never ends", code: protocol.CodeTimeout, reason: "limit of 1.5s", kinds: screens, setup: setup{options: hard, script: agentstest.Script{Turns: [][]agentstest.Act{{say("half"), spin(time.Minute)}}}}},
		{name: "silent for ever", code: protocol.CodeTimeout, reason: "no sign of life", setup: setup{options: brief, script: agentstest.Script{Turns: [][]agentstest.Act{{say("half"), pause(time.Minute)}}}}},
		{name: "silent for ever, no interrupt key", code: protocol.CodeTimeout, reason: "no sign of life", setup: setup{options: noKey, script: agentstest.Script{Turns: [][]agentstest.Act{{say("half"), pause(time.Minute)}}}}},
		{name: "pane killed by hand", code: protocol.CodeAgentDied, reason: "gone", setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{say("half"), pause(time.Minute)}}}},
			during: func(r *rig) {
				r.waitLog("prompt", 1)
				r.command("kill-pane", "-t", r.info.ID)
			}},
		{name: "server killed", code: protocol.CodeAgentDied, reason: "gone", setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{say("half"), pause(time.Minute)}}}},
			during: func(r *rig) {
				r.waitLog("prompt", 1)
				pid, err := strconv.Atoi(strings.TrimSpace(r.command("display-message", "-p", "#{pid}")))
				if err != nil {
					r.t.Fatal(err)
				}
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					r.t.Error(err)
				}
			}},
		{name: "flood in a neighbour", kinds: screens, setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{spin(500 * time.Millisecond), say("fine\n{token}")}}}},
			during: func(r *rig) { r.command("split-window", "-d", "-t", r.info.ID, "-l", "5", "yes") }},
	})
}

// A program that has said everything and ended has answered.
func TestAnswerOfADeadProgramCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, status, evidence string
		ignore                       bool
	}{
		{"token", "fine\n{token}", "1", agents.ByToken, false},
		{"marker and success", "fine\n{token}", "0", agents.ByExit, true},
		{"marker and failure", "fine\n{token}", "1", "", true},
		{"nothing", "fine", "0", "", false},
	} {
		for _, kind := range allKinds {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, setup{script: agentstest.Script{
					Kind: kind, IgnoreID: c.ignore, Turns: [][]agentstest.Act{{say(c.text), {Exit: c.status}}},
				}})
				got := r.send(agents.Request{ID: "abc123", Body: "hello"})
				if c.evidence == "" {
					f := got.failure()
					if f == nil || f.Code != protocol.CodeAgentDied || !f.Again || !strings.Contains(f.Partial, "fine") {
						t.Errorf("got %+v, %+v, want the death reported with the partial answer", got.answer, got.err)
					}
				} else if got.err != nil || got.answer.Evidence != c.evidence || got.answer.Text != "fine\n"+testMarker {
					t.Errorf("got %+v, %v, want the answer by %s\n%s", got.answer, got.err, c.evidence, r.screen())
				}
				r.waitState(protocol.Dead, "ended")
			})
		}
	}
}

func TestDeadAgentRefusesAndComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{{Exit: "7"}}}}})
	if f := r.send(agents.Request{ID: "abc123", Body: "die"}).failure(); f == nil || !f.Again {
		t.Fatalf("got %v, want a death that allows another attempt", f)
	}
	got := r.send(agents.Request{ID: "abc124", Body: "hello"})
	if f := got.failure(); f == nil || f.Code != protocol.CodeAgentDied || !f.Again || len(got.steps) != 0 {
		t.Errorf("got %v after %v, want a refusal before anything is typed", got.err, got.steps)
	}
	info, err := r.server.Respawn(t.Context(), r.spec)
	if err != nil {
		t.Fatal(err)
	}
	r.info = info
	r.agent.Replace(terminal{r.server.Pane(info)})
	r.waitState(protocol.Idle, "")
	if !r.was(protocol.Starting, "") {
		t.Error("got no starting state after the restart, want one")
	}
}

func TestRestartEndsTheExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{say("half"), spin(time.Minute)}}}})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	r.waitLog("prompt", 1)
	info, err := r.server.Respawn(t.Context(), r.spec)
	if err != nil {
		t.Fatal(err)
	}
	r.agent.Replace(terminal{r.server.Pane(info)})
	if f := (<-done).failure(); f == nil || f.Code != protocol.CodeAgentDied || !f.Again {
		t.Errorf("got %+v, want the death of the old program", f)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, kind := range screens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{script: agentstest.Script{Kind: kind, Turns: [][]agentstest.Act{{say("half"), spin(time.Minute)}, acts("fine\n{token}")}}})
			done := make(chan attempt, 1)
			go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
			r.waitLog("prompt", 1)
			tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return strings.Contains(r.screen(), "half") })
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := r.agent.Interrupt(ctx); err != nil {
				t.Errorf("interrupt: got %v, want the agent at rest", err)
			}
			got := <-done
			if f := got.failure(); f == nil || f.Code != protocol.CodeCancelled || !f.Again {
				t.Errorf("got %+v, want a cancelled turn", got.err)
			}
			if got := r.send(agents.Request{ID: "abc124", Body: "hello"}); got.err != nil || got.answer.Text != "fine\n"+testMarker {
				t.Errorf("after the interrupt: got %+v, %v, want the next answer\n%s", got.answer, got.err, r.screen())
			}
		})
	}
}

// Whoever stops waiting does not stop the turn; a later interrupt does.
func TestInterruptAfterTheCallerLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{say("half"), spin(time.Minute)}}}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan attempt, 1)
	go func() { done <- r.sendIn(ctx, agents.Request{ID: "abc123", Body: "hello"}) }()
	r.waitLog("prompt", 1)
	cancel()
	if got := <-done; got.err == nil || got.failure() != nil {
		t.Errorf("got %+v, want the context's error and no failure", got.err)
	}
	r.waitState(protocol.Busy, "")
	stop, release := context.WithTimeout(t.Context(), 10*time.Second)
	defer release()
	if err := r.agent.Interrupt(stop); err != nil {
		t.Errorf("interrupt: got %v, want the agent at rest", err)
	}
	r.waitState(protocol.Idle, "")
}

func TestRefusedPasteIsNotTyped(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")}})
	r.waitState(protocol.Idle, "")
	if _, err := r.server.Renew(t.Context(), "agent"); err != nil {
		t.Fatal(err)
	}
	got := r.send(agents.Request{ID: "abc123", Body: "hello"})
	if f := got.failure(); f == nil || f.Code != protocol.CodeNotSubmitted || !f.Again || len(got.steps) != 0 {
		t.Errorf("got %v after %v, want a refusal that allows another attempt", got.err, got.steps)
	}
	if n := len(r.entries("prompt")); n != 0 {
		t.Errorf("got %d prompts, want none", n)
	}
}

var _ agents.Terminal = terminal{(*tmux.Pane)(nil)}
