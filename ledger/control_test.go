package ledger

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// Cancelling a root drops what is queued, interrupts what is under way, and
// ends the tree from its leaves up.
func TestCancelWholeTree(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, boss, "x")
	o.answer(o.take(boss), "@"+manager+": x")
	o.answer(o.take(manager), "@"+coder+": first\n@"+coder+": second\n@"+tester+": test")
	running := o.take(coder)
	o.answer(o.take(tester), "tested")
	o.order(protocol.Cancel, boss, orderParams{Task: root[:35], Reason: "enough"}) // a prefix is enough
	plan := o.settle()
	if len(plan.Interrupt) != 1 || plan.Interrupt[0].Agent != coder || plan.Interrupt[0].Req != running.Req {
		t.Fatalf("got interrupts %+v, want the coder's turn", plan.Interrupt)
	}
	if len(plan.Deliver) != 0 {
		t.Errorf("got deliveries %+v, want none for a cancelled tree", plan.Deliver)
	}
	o.wantState(root, protocol.TaskInProgress)
	o.fail(running, protocol.CodeCancelled, false)
	tree := o.task(root)
	var states []string
	for _, task := range []protocol.Task{tree, tree.Children[0], tree.Children[0].Children[0], tree.Children[0].Children[1], tree.Children[0].Children[2]} {
		states = append(states, string(task.State))
	}
	if diff := cmp.Diff([]string{"cancelled", "cancelled", "cancelled", "cancelled", "completed"}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if tree.Reason != "cancelled by user: enough" || tree.Code != protocol.CodeCancelled {
		t.Errorf("got %q %s, want the reason and %s", tree.Reason, tree.Code, protocol.CodeCancelled)
	}
	if got := o.settle(); len(got.Interrupt)+len(got.Deliver) != 0 {
		t.Errorf("got %+v, want nothing left to do", got)
	}
	o.wantSound()
}

// An answer that comes in spite of the cancellation is kept, but ends nothing.
func TestAnswerAfterCancel(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "x")
	d := o.take(coder)
	o.order(protocol.Cancel, coder, orderParams{Task: root})
	o.answer(d, "too late\n@"+tester+": help")
	task := o.task(root)
	if task.State != protocol.TaskCancelled || task.Attempts[0].Steps[4].Text == "" || len(task.Children) != 0 {
		t.Errorf("got %+v, want it cancelled with the answer recorded", task)
	}
	o.wantSound()
}

func TestCancelOneBranch(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	o.answer(o.take(manager), "@"+coder+": a\n@"+tester+": b")
	child := o.task(root).Children[0].ID
	o.order(protocol.Cancel, coder, orderParams{Task: child})
	o.answer(o.take(tester), "tested")
	if d, ok := o.ready(manager); !ok || !strings.Contains(d.Body, coder+" failed: cancelled by user") {
		t.Errorf("got %+v, want the manager told of the cancelled branch", d)
	}
	o.wantSound()
}

// A branch that failed is retried while its siblings still work: the delegator
// reads only how it ended at last.
func TestRetryOneBranch(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	o.answer(o.take(manager), "@"+coder+": a\n@"+tester+": b")
	o.fail(o.take(coder), protocol.CodeTimeout, false)
	child := o.task(root).Children[0]
	if child.State != protocol.TaskFailed {
		t.Fatalf("got %s, want failed: a delegate's failure is the delegator's business", child.State)
	}
	o.order(protocol.Retry, coder, orderParams{Task: child.ID})
	o.answer(o.take(tester), "tested")
	if _, ok := o.ready(manager); ok {
		t.Fatal("got results while the retried branch works, want none")
	}
	d := o.take(coder)
	if d.Attempt != 2 {
		t.Errorf("got attempt %d, want 2: no attempt is claimed twice", d.Attempt)
	}
	o.answer(d, "written")
	m := o.take(manager)
	if want := "Result of " + coder + " (success):\nwritten\n\nResult of " + tester + " (success):\ntested"; m.Body != want {
		t.Errorf("got %q, want %q", m.Body, want)
	}
	o.answer(m, "done")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "x")
	o.order(protocol.Pause, coder, orderParams{})
	if _, ok := o.ready(coder); ok || !o.l.Paused(coder) {
		t.Error("got a delivery while paused, want none")
	}
	if diff := cmp.Diff([]string{coder}, o.l.PausedAgents()); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}
	o.order(protocol.Resume, coder, orderParams{})
	d := o.take(coder)
	o.order(protocol.Pause, coder, orderParams{})
	if plan := o.settle(); len(plan.Interrupt) != 0 {
		t.Errorf("got %+v interrupted by an ordinary pause, want the turn to end", plan.Interrupt)
	}
	o.order(protocol.Pause, coder, orderParams{}, urgent(protocol.Critical))
	if plan := o.settle(); len(plan.Interrupt) != 1 {
		t.Fatalf("got %+v, want the turn interrupted by a critical pause", plan.Interrupt)
	}
	o.fail(d, protocol.CodeCancelled, false)
	o.order(protocol.Resume, coder, orderParams{})
	o.now = o.settle().Wake
	if d := o.take(coder); d.Attempt != 2 || d.Body != "x" {
		t.Errorf("got %+v, want a second attempt after the pause", d)
	}
	o.wantSound()
}

func TestShutdownLastsUntilTheNextHub(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "x")
	o.order(protocol.Shutdown, protocol.Hub, orderParams{})
	if _, ok := o.ready(coder); ok {
		t.Error("got a delivery during shutdown, want none")
	}
	o.append(protocol.Entry{Time: o.now, Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "started"}})
	if _, ok := o.ready(coder); !ok {
		t.Error("got nothing after a new hub started, want the delivery")
	}
	o.wantSound()
}

func TestOrdersThatMakeNoSense(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	done := o.ask(user, coder, "x")
	o.answer(o.take(coder), "done")
	waiting := o.ask(user, boss, "y")
	parent := o.ask(user, manager, "z")
	o.answer(o.take(manager), "@"+coder+": fail")
	o.fail(o.take(coder), protocol.CodeTimeout, false)
	child := o.task(parent).Children[0].ID
	o.answer(o.take(manager), "never mind")
	order := func(c protocol.Command, task string) *protocol.ControlPayload {
		return &protocol.ControlPayload{Command: c, Params: encode(orderParams{Task: task})}
	}
	tests := []struct {
		name string
		from string
		to   string
		p    *protocol.ControlPayload
		want protocol.Code
	}{
		{"cancel what is done", user, coder, order(protocol.Cancel, done), protocol.CodeConflict},
		{"retry what is done", user, coder, order(protocol.Retry, done), protocol.CodeConflict},
		{"retry what waits", user, boss, order(protocol.Retry, waiting), protocol.CodeConflict},
		{"retry a branch of a closed tree", user, coder, order(protocol.Retry, child), protocol.CodeConflict},
		{"no such task", user, boss, order(protocol.Cancel, "feedbeef"), protocol.CodeNotFound},
		{"no task named", user, boss, &protocol.ControlPayload{Command: protocol.Cancel}, protocol.CodeInvalid},
		{"prefix of several", user, boss, order(protocol.Cancel, "0000"), protocol.CodeInvalid},
		{"manager cancels the boss's task", manager, coder, order(protocol.Cancel, waiting), protocol.CodeForbidden},
		{"order to the user", boss, user, &protocol.ControlPayload{Command: protocol.Pause}, protocol.CodeInvalid},
	}
	for _, tt := range tests {
		if _, err := o.offer(tt.from, tt.to, tt.p); protocol.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	a, err := o.offer(user, boss, order(protocol.Cancel, waiting[:36]))
	if err != nil || a.Task != waiting {
		t.Errorf("got %v, task %q, want it admitted for the root", err, a.Task)
	}
	o.wantSound()
}
