package agents_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// errHubDied ends an exchange where a hub would have died: the step was taken,
// its record may or may not have been written.
type errHubDied struct{}

func (errHubDied) Error() string { return "the hub died" }

// dieAt runs an exchange until it records a step, and ends the agent's owner
// there, as the death of a hub would.
func (r *rig) dieAt(step protocol.StepName, req agents.Request) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), tmuxtest.Wait)
	defer cancel()
	req.From = "user"
	_, err := r.agent.Exchange(ctx, req, func(s protocol.StepName, _ string) error {
		if s == step {
			return errHubDied{}
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "the hub died") {
		r.t.Fatalf("got %v, want the exchange to end at %s", err, step)
	}
	r.stop()
}

// revive is what a new hub does: it renews the epoch and runs the agent.
func (r *rig) revive() {
	r.t.Helper()
	info, err := r.server.Renew(r.t.Context(), "agent")
	if err != nil {
		r.t.Fatal(err)
	}
	r.info = info
	r.run()
}

// The hub dies after each step, with that step recorded or not, and the answer
// is collected without typing again.
func TestResumeAfterEachStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		diesAt   protocol.StepName
		recorded protocol.StepName
	}{
		{"typed, not recorded", protocol.Typed, protocol.Claimed},
		{"typed", protocol.Typed, protocol.Typed},
		{"submitted, not recorded", protocol.Submitted, protocol.Typed},
		{"submitted", protocol.Submitted, protocol.Submitted},
		{"accepted, not recorded", protocol.Taken, protocol.Submitted},
		{"accepted", protocol.Taken, protocol.Taken},
	} {
		for _, kind := range allKinds {
			for _, channel := range []bool{false, true} {
				if channel && kind == agentstest.Alternate {
					continue // the channel does not depend on the screen
				}
				name := c.name + "/" + kind
				if channel {
					name += "/channel"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					testResume(t, c.diesAt, c.recorded, setup{channel: channel, script: agentstest.Script{
						Kind: kind, Turns: [][]agentstest.Act{{pause(200 * time.Millisecond), say("fine\n{token}")}},
					}})
				})
			}
		}
	}
}

func testResume(t *testing.T, diesAt, recorded protocol.StepName, s setup) {
	r := newRig(t, s)
	req := agents.Request{ID: "abc123", Body: "hello\nworld"}
	r.dieAt(diesAt, req)
	r.revive()
	req.Resume = recorded
	got := r.send(req)
	if got.err != nil || got.answer.Text != "fine\n"+testMarker {
		t.Fatalf("got %+v, %v, want the answer\n%s", got.answer, got.err, r.screen())
	}
	if n := r.typed(req); n != 1 {
		t.Errorf("got the prompt %d times, want once", n)
	}
	steps := []protocol.StepName{protocol.Claimed, protocol.Typed, protocol.Submitted, protocol.Taken}
	for i, step := range steps {
		if step == recorded {
			steps = steps[i+1:]
			break
		}
	}
	if len(got.steps) != len(steps) {
		t.Errorf("got steps %v, want the missing ones %v", got.steps, steps)
	}
}

func TestResumeCollectsWhatWasAnsweredMeanwhile(t *testing.T) {
	t.Parallel()
	for _, channel := range []bool{false, true} {
		for _, kind := range allKinds {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, setup{channel: channel, script: agentstest.Script{Kind: kind, Turns: [][]agentstest.Act{{pause(300 * time.Millisecond), say("fine\n{token}")}}}})
				req := agents.Request{ID: "abc123", Body: "hello"}
				r.dieAt(protocol.Taken, req)
				r.waitLog("end", 1)
				r.revive()
				req.Resume = protocol.Taken
				got := r.send(req)
				if got.err != nil || got.answer.Text != "fine\n"+testMarker {
					t.Errorf("got %+v, %v, want the answer given while nobody looked\n%s", got.answer, got.err, r.screen())
				}
				if channel != (got.answer.Evidence == agents.ByChannel) {
					t.Errorf("got evidence %s, want the channel exactly where there is one", got.answer.Evidence)
				}
			})
		}
	}
}

func TestResumeOfWhatWasNeverTyped(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")}})
	for _, c := range []struct {
		resume protocol.StepName
		code   protocol.Code
	}{
		{protocol.Claimed, protocol.CodeNoHub},
		{protocol.Typed, protocol.CodeAgentDied},
		{protocol.Taken, protocol.CodeAgentDied},
	} {
		got := r.send(agents.Request{ID: "abc123", Body: "hello", Resume: c.resume})
		if f := got.failure(); f == nil || f.Code != c.code || !f.Again {
			t.Errorf("resume from %s: got %v (%s), want %s and another attempt", c.resume, got.err, protocol.CodeOf(got.err), c.code)
		}
	}
	if n := len(r.entries("prompt")); n != 0 {
		t.Errorf("got %d prompts, want none", n)
	}
}

func TestResumeOfTheUndecidable(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Alternate, Silent: true, Turns: says("done, and no marker")}})
	req := agents.Request{ID: "abc123", Body: "hello"}
	r.dieAt(protocol.Submitted, req)
	r.waitLog("end", 1)
	r.revive()
	req.Resume = protocol.Typed
	got := r.send(req)
	if f := got.failure(); f == nil || f.Code != protocol.CodeUndecidable || f.Again || !strings.Contains(f.Reason, "attach agent") {
		t.Errorf("got %+v, %v, want a person to decide", got.answer, got.err)
	}
	if n, keys := r.typed(req), r.entries("key"); n != 1 || len(keys) != 0 {
		t.Errorf("got %d prompts and keys %v, want nothing typed again", n, keys)
	}
}

func TestChannel(t *testing.T) {
	t.Parallel()
	exact := "  indented\n\n\ttab and  blanks \n● bullet\n" + testMarker
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: kind, Turns: [][]agentstest.Act{{say("  indented\n\n\ttab and  blanks \n● bullet\n{token}")}, {pause(300 * time.Millisecond), {Lines: 3}, say("{token}")}}}})
			got := r.send(agents.Request{ID: "abc123", Body: "hello"})
			if got.err != nil || got.answer.Text != exact || got.answer.Evidence != agents.ByChannel || !got.answer.Marked {
				t.Errorf("got %+v, %v, want %q byte for byte", got.answer, got.err, exact)
			}
			got = r.send(agents.Request{ID: "abc124", Body: "hello"})
			if want := "line 1 of 3\nline 2 of 3\nline 3 of 3\n" + testMarker; got.err != nil || got.answer.Text != want {
				t.Errorf("got %+v, %v, want %q", got.answer, got.err, want)
			}
		})
	}
}

// What a program reports about other requests, and when it says it did, is of
// no consequence: clocks jump.
func TestChannelIgnoresOthersAndClocks(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{say("half"), pause(time.Minute), say("{token}")}}}})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	r.waitLog("prompt", 1)
	report := func(event protocol.ReportEvent, req, text string, at time.Time) {
		t.Helper()
		if err := agents.Append(r.options.Spool, protocol.Report{Event: event, Req: req, Text: text, Time: at}); err != nil {
			t.Fatal(err)
		}
		r.agent.Poke()
	}
	report(protocol.ReportAnswer, "zzzzzz", "not this "+testMarker, time.Now())
	report(protocol.ReportAnswer, "", "nor this "+testMarker, time.Now())
	if _, err := appendRaw(r.options.Spool, "{broken\n\n[]\n"); err != nil {
		t.Fatal(err)
	}
	report(protocol.ReportProgress, "abc123", "", time.Now().Add(-24*time.Hour))
	report(protocol.ReportAnswer, "abc123", "this\n"+testMarker+" <abc123>", time.Now().Add(1000*time.Hour))
	if got := <-done; got.err != nil || got.answer.Text != "this\n"+testMarker {
		t.Errorf("got %+v, %v, want the answer to this request without its id", got.answer, got.err)
	}
}

func appendRaw(path, text string) (int, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.WriteString(text)
}

func TestChannelReportsFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{say("half"), pause(time.Minute), say("{token}")}}}})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	r.waitLog("prompt", 1)
	if err := agents.Append(r.options.Spool, protocol.Report{Event: protocol.ReportFailed, Req: "abc123", Text: "no model"}); err != nil {
		t.Fatal(err)
	}
	r.agent.Poke()
	if f := (<-done).failure(); f == nil || f.Code != protocol.CodeAgentFailed || f.Reason != "no model" {
		t.Errorf("got %v, want the program's own reason", f)
	}
}

func TestStoppedAgentSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Line}})
	r.stop()
	if got := r.send(agents.Request{ID: "abc123", Body: "hello"}); got.err == nil || got.failure() != nil {
		t.Errorf("got %v, want an error that leaves the attempt as it was", got.err)
	}
	if err := r.agent.Interrupt(t.Context()); err == nil {
		t.Error("interrupt: got nil, want an error")
	}
}
