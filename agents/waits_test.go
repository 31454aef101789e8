package agents_test

import (
	"regexp"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// A program that says it waits for the end of a limit by itself is known to
// wait, and the time of that does not count: the turn ends with its answer.
func TestProgramThatWaitsByItself(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{pause(4 * time.Second), say("over\n{token}")}
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}},
		options: func(o *agents.Options) { o.Timeout, o.HardLimit = 2*time.Second, 2*time.Second }})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return len(r.entries("prompt")) == 1 })
	until := time.Now().Add(time.Hour).UTC()
	if err := agents.Append(r.options.Spool, protocol.Report{Event: protocol.ReportWaits, Req: "abc123", Text: "slow down", Until: until}); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
		s := r.agent.Status()
		return s.State == protocol.Busy && s.Reason == "slow down" && s.Waits.Why == "slow down" && s.Waits.Until.Equal(until)
	})
	if got := <-done; got.err != nil || got.answer.Text != "over\n"+testMarker {
		t.Errorf("got %+v, %v, want the answer", got.answer, got.err)
	}
	if s := r.agent.Status(); s.Waits != (agents.Waits{}) {
		t.Errorf("after the turn: got %+v, want no wait", s.Waits)
	}
}

// One that only shows it waits is read by its screen. A wait of a moment is no
// news, and what a prompt quotes is no wait.
func TestProgramThatShowsItsWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, shows, body string
		waits             bool
	}{
		{"a long one", "Limited, trying again in 40s", "hello", true},
		{"a short one", "Limited, trying again in 4s", "hello", false},
		{"a quoted one", "at work", "Limited, trying again in 40s", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			acts := []agentstest.Act{say(tt.shows), {Spin: 2 * time.Second}, say("{token}")}
			r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}}, options: func(o *agents.Options) {
				o.Engine.Waits = []*regexp.Regexp{regexp.MustCompile(`(?P<why>Limited), trying again`)}
			}})
			began := time.Now()
			if got := r.send(agents.Request{ID: "abc123", Body: tt.body}); got.err != nil {
				t.Fatalf("got %v, want an answer", got.err)
			}
			seen := r.waited()
			if (seen.Why == "Limited") != tt.waits || tt.waits && (seen.Until.Before(began.Add(40*time.Second)) || seen.Until.After(time.Now().Add(40*time.Second))) {
				t.Errorf("got %+v, want a wait: %t", seen, tt.waits)
			}
		})
	}
}

// waited is what the program was last known to wait for.
func (r *rig) waited() (last agents.Waits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.statuses {
		if s.Waits.Why != "" {
			last = s.Waits
		}
	}
	return last
}
