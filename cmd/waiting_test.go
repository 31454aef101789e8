package cmd

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

func TestHindrance(t *testing.T) {
	t.Parallel()
	delegated := protocol.Task{ID: "t", Agent: "boss", State: protocol.TaskInProgress, Children: []protocol.Task{
		{ID: "c", Agent: "worker", State: protocol.TaskInProgress}, {ID: "d", Agent: "other", State: protocol.TaskCompleted}}}
	tests := []struct {
		name  string
		task  protocol.Task
		agent protocol.AgentStatus
		want  string
	}{
		{"a draft", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Waiting, Reason: "somebody's text stands in the composer"},
			"boss needs you: somebody's text stands in the composer; look at it with: orchestrator-cc attach boss"},
		{"paused", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Paused}, "boss is paused; let it go on with: orchestrator-cc resume boss"},
		{"out of tokens", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Paused, Reason: "the agent took 2k tokens of 1k; type: orchestrator-cc resume boss"},
			"boss is paused; the agent took 2k tokens of 1k; type: orchestrator-cc resume boss"},
		{"a task out of tokens", protocol.Task{ID: "t", Agent: "boss", State: protocol.TaskInProgress, Reason: "the task took 2k tokens of 1k"}, protocol.AgentStatus{Name: "boss", State: protocol.Idle},
			"the task took 2k tokens of 1k; let it go on with: orchestrator-cc approve t"},
		{"dead", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Dead, Reason: "starts again in 4s"}, "boss is dead: starts again in 4s"},
		{"starting", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Starting}, "boss is starting"},
		{"another task", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Busy, Task: "x"}, "boss is at another task first; see: orchestrator-cc status"},
		{"backing off", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Idle, Task: "t", Reason: "attempt 1 failed; tries again at 10:30:04"}, "boss: attempt 1 failed; tries again at 10:30:04"},
		{"at work", protocol.Task{ID: "t", Agent: "boss"}, protocol.AgentStatus{Name: "boss", State: protocol.Busy, Task: "t"}, ""},
		{"the delegate", delegated, protocol.AgentStatus{Name: "worker", State: protocol.Paused}, "worker is paused; let it go on with: orchestrator-cc resume worker"},
		{"who waits for a delegate", delegated, protocol.AgentStatus{Name: "boss", State: protocol.Paused}, ""},
		{"who is done", delegated, protocol.AgentStatus{Name: "other", State: protocol.Paused}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := hindrance(tt.task, []protocol.AgentStatus{tt.agent}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSendSaysWhyItWaits tells it once into a pipe, and on the redrawn line of
// a terminal.
func TestSendSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		r := newRig(t, nil)
		r.app.err.terminal = terminal
		r.app.err.width = func() int { return 200 }
		r.hub.Change(func(o *protocol.Overview) {
			o.Agents[0].State, o.Agents[0].Reason = protocol.Waiting, "somebody's text stands in the composer"
		})
		ctx, cancel := withDeadline(t)
		defer cancel()
		ended := make(chan int, 1)
		go func() { ended <- run(ctx, r.app, []string{"send", "grand_boss", "x"}) }()
		const want = "waiting: grand_boss needs you: somebody's text stands in the composer"
		eventually(t, func() bool { return strings.Contains(r.err.String(), want) })
		r.hub.Reply(r.hub.Tasks()[0].ID, "done")
		if code := <-ended; code != 0 {
			t.Errorf("got exit %d, want 0 (%s)", code, r.err)
		}
		if got := strings.Count(r.err.String(), want); !terminal && got != 1 {
			t.Errorf("got it %d times into a pipe, want once", got)
		}
	}
}

// TestSendEndsWithTheCompany lets somebody type down while a sender waits.
func TestSendEndsWithTheCompany(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	go func() {
		<-r.hub.Stopped()
		r.stop()
	}()
	ctx, cancel := withDeadline(t)
	defer cancel()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, r.app, []string{"send", "grand_boss", "x"}) }()
	eventually(t, func() bool { return len(r.hub.Tasks()) == 1 })
	other := r.again()
	wantRun(t, other, []string{"down"}, 0, "is down", "1 task is unfinished; it goes on at the next: orchestrator-cc up")
	if code := <-ended; code != exitFailed {
		t.Errorf("got exit %d, want %d", code, exitFailed)
	}
	if got, want := r.err.String(), "error: the hub was shut down; the task goes on at the next: orchestrator-cc up\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLostSight names no command that needs the hub that is away.
func TestLostSight(t *testing.T) {
	t.Parallel()
	away := fmt.Errorf("%w at /run/hub.sock: connection refused", api.ErrUnreachable)
	err := lostSight(t.Context(), away, idDone)
	text, hint := explain(err, "orchestrator-cc send")
	if want := "no hub is running here any more; the task is safe"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if want := "start it again with: orchestrator-cc up; then look at it with: orchestrator-cc show aaaaaaaa"; hint != want {
		t.Errorf("got hint %q, want %q", hint, want)
	}
	if got := exitCode(err); got != exitNoHub {
		t.Errorf("got exit %d, want %d", got, exitNoHub)
	}
}
