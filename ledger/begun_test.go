package ledger

import (
	"testing"

	"orchestrator-cc/protocol"
)

// typed makes a request one that a person typed into the pane.
func typed(req string) func(*protocol.Accepted) {
	return func(a *protocol.Accepted) { a.Typed = req }
}

// What a person typed runs already: it is followed before anything that waits,
// also where deliveries are held, and keeps the id it runs under.
func TestTypedComesFirst(t *testing.T) {
	o := newOffice(t, company())
	o.ask(user, tester, "waits", func(a *protocol.Accepted) { a.Message = a.Message.WithPriority(protocol.Critical) })
	id := o.ask(user, tester, "typed by hand", typed("abcd2345"))
	o.order(protocol.Pause, tester, orderParams{})
	d := o.take(tester)
	if !d.Begun || d.Req != "abcd2345" || d.Messages[0] != id {
		t.Fatalf("got %+v, want what was typed, under its own id", d)
	}
	if under := o.l.UnderWay(); len(under) != 1 || !under[0].Begun || under[0].Req != d.Req {
		t.Errorf("under way: got %+v, want it as it was begun", under)
	}
	o.wantSound()
	o.answer(d, "fine")
	o.wantState(id, protocol.TaskCompleted)
	if d, ok := o.ready(tester); ok {
		t.Errorf("got %+v for a paused agent, want nothing", d)
	}
	o.order(protocol.Resume, tester, orderParams{})
	if d := o.take(tester); d.Begun || d.Body != "waits" {
		t.Errorf("got %+v, want the one that waited", d)
	}
	o.wantSound()
}

// Another try of what was typed is an ordinary delivery.
func TestTypedIsTriedAgain(t *testing.T) {
	o := newOffice(t, company())
	id := o.ask(user, tester, "typed by hand", typed("abcd2345"))
	o.fail(o.take(tester), protocol.CodeAgentDied, false)
	o.wantState(id, protocol.TaskNeedsHuman)
	o.order(protocol.Retry, tester, orderParams{Task: id})
	if d := o.take(tester); d.Begun || d.Req == "abcd2345" || d.Body != "typed by hand" {
		t.Errorf("got %+v, want it typed by us", d)
	}
	o.wantSound()
}

// A person may talk to an agent that waits for its delegates. What comes of it
// is carried out once the agent has ended the task it holds.
func TestTypedAside(t *testing.T) {
	o := newOffice(t, company())
	first := o.ask(user, boss, "first")
	o.answer(o.take(boss), "@middle_manager do it\n"+bossDone)
	answered := o.ask(user, boss, "how is it going?", typed("abcd2345"))
	d := o.take(boss)
	if !d.Begun || d.Messages[0] != answered {
		t.Fatalf("got %+v, want what was typed", d)
	}
	o.wantSound()
	o.answer(d, "well\n"+bossDone)
	o.wantState(answered, protocol.TaskCompleted)

	delegated := o.ask(user, boss, "and this too", typed("efgh2345"))
	o.answer(o.take(boss), "@middle_manager do this too\n"+bossDone)
	o.wantState(delegated, protocol.TaskInProgress)
	o.wantSound()
	o.answer(o.take(manager), "done one")
	o.answer(o.take(manager), "done two")
	o.wantSound()
	for _, want := range []struct{ id, result string }{{first, "one"}, {delegated, "two"}} {
		d := o.take(boss)
		if d.Task != want.id {
			t.Fatalf("got the results of %s, want those of %s", d.Task, want.id)
		}
		o.answer(d, want.result+"\n"+bossDone)
		o.wantState(want.id, protocol.TaskCompleted)
	}
	o.wantSound()
}
