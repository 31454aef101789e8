package ledger

import (
	"strings"
	"testing"

	"orchestrator-cc/protocol"
)

// Mentions that cannot be carried out come back to their writer together with
// the results of those that could.
func TestBadMentions(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	o.answer(o.take(manager), "a plan\n@nobody: a\n@"+manager+": b\n@"+boss+": c\n@"+coder+":\n@"+tester+": test")
	if _, ok := o.ready(manager); ok {
		t.Fatal("got the errors before the result, want them together")
	}
	o.answer(o.take(tester), "tested")
	d := o.take(manager)
	parts := strings.Split(d.Body, "\n\n")
	want := []string{
		"Result of " + tester + " (success):\ntested",
		"@nobody: there is no agent of that name; the agents you may ask are: @" + coder + ", @" + analyst + ", @" + tester,
		"@" + manager + ": an agent cannot ask itself",
		"@" + boss + ": you may not ask this agent",
		"@" + coder + ": nothing is said after the name",
	}
	if len(parts) != len(want) || len(d.Messages) != len(want) {
		t.Fatalf("got %q, want %d parts", d.Body, len(want))
	}
	for i := range want {
		if !strings.HasPrefix(parts[i], want[i]) {
			t.Errorf("part %d: got %q, want it to begin with %q", i, parts[i], want[i])
		}
	}
	if got := o.task(root).Attempts[0].Steps[4].Text; got != "a plan" {
		t.Errorf("got recorded text %q, want the words before the first mention", got)
	}
	o.answer(d, "done")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}

func TestOnlyBadMentions(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "x")
	o.answer(o.take(coder), "@"+tester+": please")
	d := o.take(coder)
	if d.From != protocol.Hub || !strings.Contains(d.Body, "nobody; answer without a line that begins with @") {
		t.Errorf("got %q from %s, want the hub to say that a specialist may ask nobody", d.Body, d.From)
	}
	o.answer(d, "done myself")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}

// Delegates made by tool during a turn: the answer waits for them, and their
// results are typed before the task may end.
func TestDelegationByTool(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	child := o.ask(manager, coder, "by tool")
	if got := o.task(child); got.Parent != root || got.Root != root {
		t.Fatalf("got parent %q, want the task the manager holds", got.Parent)
	}
	o.answer(d, "I have asked the coder")
	o.wantState(root, protocol.TaskInProgress)
	o.answer(o.take(coder), "written")
	m := o.take(manager)
	if m.Body != "Result of "+coder+" (success):\nwritten" {
		t.Errorf("got %q, want the result", m.Body)
	}
	o.answer(m, "all done")
	if got := o.task(root); got.State != protocol.TaskCompleted || got.Result != "all done" {
		t.Errorf("got %s %q, want the last answer", got.State, got.Result)
	}
	o.wantSound()
}

// A delegate that is done before the turn ends is heard before the task is.
func TestResultDuringTheTurn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	o.ask(manager, coder, "by tool")
	o.answer(o.take(coder), "written")
	o.answer(d, "I have asked the coder")
	o.wantState(root, protocol.TaskInProgress)
	m := o.take(manager)
	if m.Body != "Result of "+coder+" (success):\nwritten" {
		t.Errorf("got %q, want the result", m.Body)
	}
	o.answer(m, "done")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}

// A blocking send collects its answer itself: nothing is typed, and an answer
// given before it ended becomes the result once it has.
func TestCollectedAnswers(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	o.ask(manager, coder, "quick question", collected)
	c := o.take(coder)
	o.answer(d, "my answer")
	o.wantState(root, protocol.TaskInProgress)
	o.answer(c, "quick answer")
	if _, ok := o.ready(manager); ok {
		t.Error("got a collected answer typed, want it left to the sender")
	}
	if got := o.task(root); got.State != protocol.TaskCompleted || got.Result != "my answer" || got.Evidence != "channel" {
		t.Errorf("got %s %q by %q, want the recorded answer", got.State, got.Result, got.Evidence)
	}
	o.wantSound()
}

// A delegator that fails takes its delegates with it.
func TestDelegatesOfAFailedTask(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	child := o.ask(manager, coder, "by tool")
	c := o.take(coder)
	o.fail(d, protocol.CodeTimeout, false)
	if plan := o.settle(); len(plan.Interrupt) != 1 || plan.Interrupt[0].Agent != coder {
		t.Fatalf("got %+v, want the delegate interrupted", plan.Interrupt)
	}
	o.wantState(root, protocol.TaskInProgress)
	o.fail(c, protocol.CodeCancelled, false)
	o.wantState(child, protocol.TaskCancelled)
	o.wantState(root, protocol.TaskNeedsHuman)
	o.wantSound()
}

// An agent without a task may ask too, for instance when a person types into
// its pane; the result is typed like news.
func TestAskingWithoutATask(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(manager, coder, "x")
	o.answer(o.take(coder), "done")
	o.wantState(root, protocol.TaskCompleted)
	d := o.take(manager)
	if d.Task != "" || d.Root != root || d.Body != "Result of "+coder+" (success):\ndone" {
		t.Errorf("got %+v, want the result as a note", d)
	}
	o.answer(d, "thanks @"+coder)
	if got := o.settle(); len(got.Deliver) != 0 {
		t.Errorf("got %+v, want the answer only recorded", got.Deliver)
	}
	o.wantSound()
}

// An agent may end its request by a message of its own.
func TestAnswerByMessage(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "x")
	d := o.take(coder)
	o.send(coder, user, protocol.Answer(protocol.Success, "by message"), about(root))
	o.wantState(root, protocol.TaskCompleted)
	o.answer(d, "CODING OK")
	if got := o.task(root); got.Result != "by message" || got.Evidence != "message" {
		t.Errorf("got %q by %q, want the message's answer", got.Result, got.Evidence)
	}
	if _, err := o.offer(coder, user, protocol.Answer(protocol.Success, "again"), about(root)); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("second answer: got %v, want %s", err, protocol.CodeConflict)
	}
	o.wantSound()
}

// Ids follow from their causes: a decision made again makes the same message.
func TestDecisionsRepeatThemselves(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, manager, "x")
	d := o.take(manager)
	answer := Answer{Text: "@" + coder + ": a\n@" + coder + ": a\n@nobody: b"}
	first, second := o.l.Settle(d, answer, o.now), o.l.Settle(d, answer, o.now)
	ids := map[string]bool{}
	for i := range first {
		if first[i].Message == nil {
			continue
		}
		id := first[i].Message.Message.ID()
		if id != second[i].Message.Message.ID() || ids[id] {
			t.Errorf("got id %s and %s, want the same, once", id, second[i].Message.Message.ID())
		}
		ids[id] = true
		if err := first[i].Message.Message.Validate(protocol.MaxPayload); err != nil {
			t.Errorf("got %v, want a valid message", err)
		}
	}
	if len(ids) != 3 {
		t.Errorf("got %d messages, want 3", len(ids))
	}
	o.append(first[0])
	if rest := o.l.Settle(d, answer, o.now); len(rest) != len(first)-1 {
		t.Errorf("got %d entries after a cut batch, want the %d that are missing", len(rest), len(first)-1)
	}
}

// A retried task that others refer to must not make them wait for it again:
// it may stand behind them in the queue.
func TestRetryHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	first := o.ask(user, coder, "first")
	o.ask(user, coder, "second", about(first))
	o.fail(o.claim(coder), protocol.CodeTimeout, false)
	o.order(protocol.Retry, coder, orderParams{Task: first})
	got := o.deliveries(coder)
	if len(got) != 2 || got[0] != "second" || got[1] != "first" {
		t.Errorf("got %q, want the second, then the first again", got)
	}
	o.wantSound()
}

// A delegation never waits for a message that its own delegator is to read,
// nor for one that itself waits for such a message.
func TestDelegationIsNotHeldUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, manager, "x")
	d := o.take(manager)
	queued := o.ask(user, manager, "later")
	behind := o.send(user, coder, protocol.Info("behind it"), about(queued))
	o.ask(manager, coder, "for the delegator", about(queued))
	o.ask(manager, coder, "for what waits for it", about(behind))
	o.answer(d, "asked")
	for _, want := range []string{"for the delegator", "for what waits for it"} {
		got, ok := o.ready(coder)
		if !ok || got.Body != want {
			t.Fatalf("got %+v, want %q though what it refers to waits for the delegator", got, want)
		}
		o.answer(o.take(coder), "done")
	}
	o.wantSound()
}
