package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// exhaust lets every attempt at the next delivery of an agent fail.
func (o *office) exhaust(agent string) {
	o.t.Helper()
	for range 10 {
		if _, ok := o.ready(agent); !ok {
			plan := o.settle()
			if plan.Wake.IsZero() {
				return
			}
			o.now = plan.Wake
			continue
		}
		o.fail(o.take(agent), protocol.CodeAgentDied, true)
	}
}

// A specialist's failure goes up step by step: to the manager's pane, to the
// boss's pane, to a person.
func TestEscalation(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, boss, "build it")
	o.answer(o.take(boss), "@"+manager+": build it")
	o.answer(o.take(manager), "@"+coder+": write it\n@"+tester+": test it")
	o.answer(o.take(tester), "tested")
	o.exhaust(coder)
	m := o.take(manager)
	want := "Result of " + coder + " (failed):\n" + coder + " failed: it E_AGENT_DIED\n\nResult of " + tester + " (success):\ntested"
	if diff := cmp.Diff(want, m.Body); diff != "" {
		t.Fatalf("manager reads (-want +got):\n%s", diff)
	}
	if got := protocol.ParseResults(m.Body, coder, tester); len(got) != 2 || got[0].Status != protocol.Failed {
		t.Errorf("got %+v, want both results readable for a program", got)
	}
	o.fail(m, protocol.CodeTimeout, false)
	if b, ok := o.ready(boss); !ok || b.Body != "Result of "+manager+" (failed):\n"+manager+" failed: it E_TIMEOUT" {
		t.Fatalf("boss reads %+v, want the manager's failure", b)
	}
	o.fail(o.take(boss), protocol.CodeTimeout, false)
	got := o.task(root)
	if got.State != protocol.TaskNeedsHuman || got.Reason != "it E_TIMEOUT" || got.Code != protocol.CodeTimeout {
		t.Errorf("got %s %q %s, want needs_human with the reason", got.State, got.Reason, got.Code)
	}
	inbox := o.l.Inbox(o.now)
	if len(inbox) != 1 || inbox[0].ID != root || inbox[0].Kind != "needs_human" || inbox[0].Text != "it E_TIMEOUT" {
		t.Errorf("got inbox %+v, want the root", inbox)
	}
	last := o.entries[len(o.entries)-2].Message.Message.Payload.(*protocol.ErrorPayload)
	if !strings.Contains(last.SuggestedAction, "orchestrator-cc retry 00000000") {
		t.Errorf("got action %q, want the commands to type", last.SuggestedAction)
	}
	o.wantSound()

	// The person answers with a text: the boss starts over, with the words and
	// with what it never saw.
	o.order(protocol.Retry, boss, orderParams{Task: root, Text: "take your time"})
	o.wantState(root, protocol.TaskPending)
	b := o.take(boss)
	if b.Attempt != 2 || b.Body != "build it\n\ntake your time\n\nResult of "+manager+" (failed):\n"+manager+" failed: it E_TIMEOUT" {
		t.Errorf("got attempt %d with %q, want the second with the person's words and the result", b.Attempt, b.Body)
	}
	o.answer(b, "done")
	o.wantState(root, protocol.TaskCompleted)
	if got := o.l.Inbox(o.now); len(got) != 0 {
		t.Errorf("got inbox %+v, want it empty", got)
	}
	o.wantSound()
}

func TestPartialAnswerIsReported(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "x")
	d := o.take(coder)
	o.append(o.l.Fail(d, Failure{Code: protocol.CodeTimeout, Reason: "silent for 30 s", Partial: "half an ans", Truncated: true}, o.now)...)
	o.settle()
	task := o.task(root)
	if task.Result != "half an ans" || task.Reason != "silent for 30 s" {
		t.Errorf("got %q because %q, want the partial answer and the reason", task.Result, task.Reason)
	}
	mark := task.Attempts[0].Steps[4]
	if mark.Step != protocol.Undone || mark.Text != "half an ans" || !mark.Truncated {
		t.Errorf("got mark %+v, want the failed step with its text", mark)
	}
	o.wantSound()
}

func TestEventsAreGivenUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.send(user, coder, protocol.Info("news"))
	o.exhaust(coder)
	if diff := cmp.Diff([]string{"hub > user: it E_AGENT_DIED"}, o.said(protocol.Error)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if got := o.l.Queue(coder); got != 0 {
		t.Errorf("queue: got %d, want 0", got)
	}
	o.wantSound()
}

func TestAckAndNack(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "taken")
	o.answer(o.take(coder), "done")
	o.ask(user, coder, "never taken")
	o.fail(o.claim(coder), protocol.CodeNotAccepted, false)
	o.ask(user, coder, "never tried", within(time.Second))
	o.now = o.now.Add(time.Second)
	o.settle()
	o.ask(user, coder, "taken, then silent")
	o.fail(o.take(coder), protocol.CodeTimeout, false)
	if diff := cmp.Diff([]string{coder + " > user: accepted", coder + " > user: accepted"}, o.said(protocol.Ack)); diff != "" {
		t.Errorf("acks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{coder + " > user: it E_NOT_ACCEPTED"}, o.said(protocol.Nack)); diff != "" {
		t.Errorf("nacks (-want +got):\n%s", diff)
	}
	o.wantSound()
}

func TestLimits(t *testing.T) {
	t.Parallel()
	r := company()
	r.Limits = Limits{Turns: 3, Depth: 2, OpenTasks: 2}
	t.Run("turns", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, r)
		root := o.ask(user, boss, "x")
		for range 2 {
			o.answer(o.take(boss), "@"+manager+": again")
			o.answer(o.take(manager), "no")
		}
		o.answer(o.take(boss), "@"+manager+": again")
		if got := o.task(root); got.State != protocol.TaskFailed || got.Code != protocol.CodeLimit || !strings.Contains(got.Reason, "3 turns") {
			t.Errorf("got %s %s %q, want failed by the limit of turns", got.State, got.Code, got.Reason)
		}
		o.order(protocol.Retry, boss, orderParams{Task: root})
		o.answer(o.take(boss), "@"+manager+": once more")
		o.wantState(root, protocol.TaskInProgress) // a fresh start has fresh turns
		o.wantSound()
	})
	t.Run("depth", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, r)
		root := o.ask(user, boss, "x")
		o.answer(o.take(boss), "@"+manager+": deeper")
		o.answer(o.take(manager), "@"+coder+": too deep")
		if got := o.task(root).Children[0]; got.State != protocol.TaskFailed || got.Code != protocol.CodeLimit || !strings.Contains(got.Reason, "3 levels") {
			t.Errorf("got %s %s %q, want failed by the limit of depth", got.State, got.Code, got.Reason)
		}
		if _, ok := o.ready(coder); ok {
			t.Error("got a task below the limit, want none")
		}
		o.wantSound()
	})
	t.Run("open tasks", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, r)
		o.ask(user, coder, "1")
		o.ask(user, coder, "2")
		_, err := o.offer(user, coder, protocol.TaskRequest("3"))
		if protocol.CodeOf(err) != protocol.CodeLimit {
			t.Errorf("got %v, want %s", err, protocol.CodeLimit)
		}
		root := o.ask(user, manager, "x")
		o.answer(o.take(manager), "@"+tester+": a\n@"+tester+": b\n@"+tester+": c")
		if got := o.task(root); got.Code != protocol.CodeLimit || len(got.Children) != 0 {
			t.Errorf("got %s with %d children, want %s with none", got.Code, len(got.Children), protocol.CodeLimit)
		}
		o.wantSound()
	})
}

// An agent that is no longer configured cannot keep a task open for ever.
func TestAgentLeftTheCompany(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	waiting := o.ask(user, coder, "waits")
	o.send(user, coder, protocol.Info("news"))
	working := o.ask(user, tester, "works")
	d := o.take(tester)
	r := o.rules
	r.Agents = r.Agents[:2]
	o.rules, o.l = r, New(r)
	for _, e := range o.entries {
		o.l.Apply(e)
	}
	o.settle()
	if got := o.task(waiting); got.State != protocol.TaskNeedsHuman || got.Code != protocol.CodeUnknownAgent {
		t.Errorf("got %s %s, want needs_human %s", got.State, got.Code, protocol.CodeUnknownAgent)
	}
	if got := o.l.UnderWay(); len(got) != 1 || got[0].Agent != tester {
		t.Errorf("got %+v under way, want the tester's delivery, for the hub to end", got)
	}
	o.fail(d, protocol.CodeUnknownAgent, false)
	o.wantState(working, protocol.TaskNeedsHuman)
	o.wantSound()
}

func TestClosingRecordsRetries(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "x")
	o.fail(o.claim(coder), protocol.CodeNotAccepted, true)
	o.now = o.now.Add(1500 * time.Millisecond)
	o.answer(o.take(coder), "done")
	closing := o.entries[len(o.entries)-2].Message.Closing
	want := &protocol.Closing{Status: protocol.Success, LatencyMS: 1500, RetryCount: 1, Evidence: "channel"}
	if diff := cmp.Diff(want, closing); diff != "" {
		t.Errorf("closing (-want +got):\n%s", diff)
	}
	m := o.l.Metrics()
	if m.RetryRate != 0.5 || m.AvgLatencyMS != 1500 || m.ErrorRate != 0 || m.ByType[protocol.Request] != 1 || m.ByAgent[coder] != 2 {
		t.Errorf("got metrics %+v, want one retry of two attempts and 1500 ms", m)
	}
}
