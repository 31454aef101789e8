package hub

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

func TestNextHubGoesOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.open()
	done := first.ask("worker_one", "/say before")
	first.await(done, protocol.TaskCompleted)
	open := first.ask("worker_two", "/think 500ms\n/say after")
	first.awaitTaken(open)
	figures := first.Metrics()
	first.stop()

	second := h.open()
	task := second.await(open, protocol.TaskCompleted)
	if n := len(task.Attempts); n != 1 {
		t.Errorf("got %d attempts, want the one of the first hub", n)
	}
	if task.Result != "after\nTWO OK" {
		t.Errorf("got result %q, want %q", task.Result, "after\nTWO OK")
	}
	for _, a := range second.Overview().Agents {
		if a.Restarts != 0 {
			t.Errorf("got %d restarts of %s, want none: it only got another hub", a.Restarts, a.Name)
		}
	}
	if now := second.Metrics(); now.MessagesSent <= figures.MessagesSent {
		t.Errorf("got %d messages after the restart, want more than the %d before", now.MessagesSent, figures.MessagesSent)
	}
}

func TestDeadAgentIsStartedAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.open()
	r.status("worker_one", protocol.Idle)
	failed := r.await(r.ask("worker_one", "/die"), protocol.TaskNeedsHuman)
	if failed.Code != protocol.CodeAgentDied {
		t.Errorf("got code %s, want %s", failed.Code, protocol.CodeAgentDied)
	}
	r.await(r.ask("worker_one", "/say alive"), protocol.TaskCompleted)
	if got := r.status("worker_one", protocol.Idle).Restarts; got != len(failed.Attempts) {
		t.Errorf("got %d restarts, want one for each of the %d deaths", got, len(failed.Attempts))
	}
	if got := r.status("worker_two", protocol.Idle).Restarts; got != 0 {
		t.Errorf("got %d restarts of its neighbour, want 0", got)
	}
}

func TestKilledPaneIsMadeAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.open()
	pane := r.status("worker_one", protocol.Idle).Pane
	id := r.ask("worker_one", "/think 500ms\n/say found a new pane")
	r.awaitTaken(id)
	h.tmux("kill-pane", "-t", pane)
	task := r.await(id, protocol.TaskCompleted)
	if n := len(task.Attempts); n != 2 {
		t.Errorf("got %d attempts, want 2", n)
	}
	if now := r.status("worker_one", protocol.Idle).Pane; now == pane {
		t.Errorf("got the same pane %s, want another", now)
	}
}

func TestForeignSessionIsReportedOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.tmux("-f", "/dev/null", "new-session", "-d", "-s", h.options.Session, "cat")
	r := h.open()
	looks := func() int { return h.diary.count("session not whole") }
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return looks() > 0 })
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return len(r.Overview().Hub.Problems) > 0 })
	if got := r.Overview().Hub.Problems[0]; !strings.Contains(got, "belongs to somebody else") {
		t.Errorf("got problem %q, want it to say whose the session is", got)
	}
	// A message is accepted all the same, and waits.
	id := r.ask("worker_one", "/say later")
	if task, err := r.Task(id); err != nil || task.State != protocol.TaskPending {
		t.Errorf("got %s, %v, want the task pending", task.State, err)
	}
	h.tmux("kill-session", "-t", h.options.Session)
	r.await(id, protocol.TaskCompleted)
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return len(r.Overview().Hub.Problems) == 0 })
	if got := looks(); got != 1 {
		t.Errorf("got the problem %d times in the diary, want once", got)
	}
}

// tmux asks the house's server directly, as somebody at another terminal would.
func (h *house) tmux(args ...string) {
	h.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", h.options.Socket}, args...)...)
	cmd.Env = h.options.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
}

func TestCancelInterruptsTheTurn(t *testing.T) {
	t.Parallel()
	r := newHouse(t).open()
	id := r.ask("worker_one", "/think 10m")
	r.awaitTaken(id)
	r.order("worker_one", protocol.Cancel, id)
	r.await(id, protocol.TaskCancelled)
	r.await(r.ask("worker_one", "/say free"), protocol.TaskCompleted)
	if got := r.status("worker_one", protocol.Idle).Restarts; got != 0 {
		t.Errorf("got %d restarts, want the program interrupted and not killed", got)
	}
}

func TestPausedAgentKeepsItsQueue(t *testing.T) {
	t.Parallel()
	r := newHouse(t).open()
	r.order("worker_one", protocol.Pause, "")
	id := r.ask("worker_one", "/say at last")
	r.await(r.ask("worker_two", "/say meanwhile"), protocol.TaskCompleted)
	if got := r.status("worker_one", protocol.Paused).Queue; got != 1 {
		t.Errorf("got a queue of %d, want 1", got)
	}
	r.order("worker_one", protocol.Resume, "")
	r.await(id, protocol.TaskCompleted)
}

func TestOneIDIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	r := newHouse(t).open()
	to, err := r.Party("worker_one")
	if err != nil {
		t.Fatal(err)
	}
	m := protocol.New(protocol.FromUser(), to, protocol.TaskRequest("/say once"))
	m.Header.MessageID = protocol.NewID()
	var mu sync.Mutex
	var group sync.WaitGroup
	accepted := 0
	for range 20 {
		group.Go(func() {
			_, err := r.Submit(context.Background(), protocol.Accepted{Message: m})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				accepted++
			case protocol.CodeOf(err) != protocol.CodeDuplicate:
				t.Errorf("got %v, want %s", err, protocol.CodeDuplicate)
			}
		})
	}
	group.Wait()
	if accepted != 1 {
		t.Errorf("got it accepted %d times, want once", accepted)
	}
	r.await(m.Header.MessageID, protocol.TaskCompleted)
}

func TestPaneSecretProvesOneAgent(t *testing.T) {
	t.Parallel()
	r := newHouse(t).open()
	for _, name := range []string{"boss_one", "worker_one", "worker_two"} {
		who, ok := r.Caller(PaneSecret([]byte("key"), name))
		if !ok || who.AgentID != name {
			t.Errorf("got %s, %v, want %s", who.AgentID, ok, name)
		}
	}
	for _, secret := range []string{"", "worker_one", PaneSecret([]byte("another key"), "worker_one")} {
		if who, ok := r.Caller(secret); ok {
			t.Errorf("got %s for the secret %q, want nobody", who.AgentID, secret)
		}
	}
}

func TestBorderOfAnAgent(t *testing.T) {
	t.Parallel()
	const task = "0a1b2c3d-0000-4000-8000-000000000000"
	for _, tc := range []struct {
		name string
		give protocol.AgentStatus
		want tmux.Label
	}{
		{"at rest", protocol.AgentStatus{Name: "a", State: protocol.Idle}, tmux.Label{Title: "a", State: "idle", Colour: "green"}},
		{"at work", protocol.AgentStatus{Name: "a", State: protocol.Busy, Task: task}, tmux.Label{Title: "a", State: "busy", Task: "task 0a1b2c3d", Colour: "cyan"}},
		{"with more to do", protocol.AgentStatus{Name: "a", State: protocol.Busy, Task: task, Queue: 2}, tmux.Label{Title: "a", State: "busy", Task: "task 0a1b2c3d · 2 waiting", Colour: "cyan"}},
		{"paused with a queue", protocol.AgentStatus{Name: "a", State: protocol.Paused, Queue: 1}, tmux.Label{Title: "a", State: "paused", Task: "1 waiting", Colour: "yellow"}},
		{"dead", protocol.AgentStatus{Name: "a", State: protocol.Dead, Reason: "killed", Task: task}, tmux.Label{Title: "a", State: "dead", Task: "killed", Colour: "red"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, labelOf(tc.give)); diff != "" {
				t.Errorf("label (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusLineNamesWhatWaits(t *testing.T) {
	t.Parallel()
	o := protocol.Overview{Tasks: []protocol.Task{{State: protocol.TaskCompleted}, {State: protocol.TaskPending}, {State: protocol.TaskInProgress}}}
	if got, want := statusLine(o, 0), "2 open · 1 done"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	o.Inbox, o.Hub.Problems = []protocol.InboxItem{{}}, []string{"no room"}
	if got, want := statusLine(o, 1), "2 open · 1 done · 1 for you: orchestrator-cc inbox · problems (1): orchestrator-cc status"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSleepEndsByWhatComesFirst(t *testing.T) {
	t.Parallel()
	change := make(chan struct{}, 1)
	change <- struct{}{}
	began := time.Now()
	sleep(context.Background(), began.Add(time.Hour), change, nil)
	sleep(context.Background(), began, nil, nil)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	sleep(over, time.Time{}, nil, nil)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("got a sleep of %s, want none", took)
	}
}
