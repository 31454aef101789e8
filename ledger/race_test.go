package ledger

import (
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// Decisions that were made on an older state and appended after a newer one:
// the hub has one writer for each agent and a clerk, and any of them may be
// a moment late.

// Results were ready, but one branch is tried again before they are typed.
func TestResultsWaitForARetriedBranch(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	o.answer(o.take(manager), "@"+coder+": a\n@"+tester+": b")
	o.answer(o.take(tester), "tested")
	o.fail(o.take(coder), protocol.CodeTimeout, false)
	if _, ok := o.ready(manager); !ok {
		t.Fatal("got no results, want them ready")
	}
	o.order(protocol.Retry, coder, orderParams{Task: o.task(root).Children[0].ID})
	if d, ok := o.ready(manager); ok {
		t.Fatalf("got %+v, want the results to wait for the branch", d)
	}
	o.answer(o.take(coder), "written")
	d := o.take(manager)
	if want := "Result of " + coder + " (success):\nwritten\n\nResult of " + tester + " (success):\ntested"; d.Body != want || len(d.Messages) != 3 {
		t.Errorf("got %q of %d messages, want %q of 3", d.Body, len(d.Messages), want)
	}
	o.answer(d, "done")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}

// An expiry that comes after the claim does not end what is being typed.
func TestExpiryAfterTheClaim(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "x", within(time.Second))
	d, _ := o.ready(coder)
	claim := o.l.Claim(d, "r1", "", o.now)
	expiry := o.l.Next(o.now.Add(time.Second)).Append
	if len(expiry) != 1 {
		t.Fatalf("got %+v, want one expiry", expiry)
	}
	o.append(claim)
	o.append(expiry[0]...)
	o.wantState(root, protocol.TaskInProgress)
	o.answer(o.l.UnderWay()[0], "done")
	o.wantState(root, protocol.TaskCompleted)
}

// Delegations that come after the cancellation are cancelled too.
func TestDelegationAfterTheCancellation(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	batch := o.l.Settle(d, Answer{Text: "@" + coder + ": y"}, o.now)
	o.order(protocol.Cancel, manager, orderParams{Task: root})
	o.append(batch...)
	if plan := o.settle(); len(plan.Deliver) != 0 {
		t.Errorf("got %+v, want nothing delivered", plan.Deliver)
	}
	o.wantState(root, protocol.TaskCancelled)
	if got := o.task(root).Children[0].State; got != protocol.TaskCancelled {
		t.Errorf("delegation: got %s, want cancelled", got)
	}
	o.wantSound()
}

// A request made for a task that ended in the same moment is not lost.
func TestRequestAfterTheEnd(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	late, err := o.offer(manager, coder, protocol.TaskRequest("by tool"))
	if err != nil {
		t.Fatal(err)
	}
	o.answer(d, "done")
	o.wantState(root, protocol.TaskCompleted)
	o.append(protocol.Entry{Time: o.now, Kind: protocol.KindMessage, Message: late})
	o.answer(o.take(coder), "written")
	o.wantState(late.Message.ID(), protocol.TaskCompleted)
	if d, ok := o.ready(manager); !ok || d.Task != "" {
		t.Errorf("got %+v, want the result as a note", d)
	}
	o.wantSound()
}
