package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "{", "[]", `{"version":99}`, `{"version":1,"seen":"AAAA"}`, `{"version":1,"nodes":[{"agent":"x"}]}`, `{"version":1,"notes":[{"agent":"x"}]}`, `{"version":1,"shelf":{"whole":1}}`,
		`{"version":1,"nodes":[{"agent":"x","node":{"id":"a","attempts":[{"marks":[{}]}]}}]}`,
		`{"version":1,"nodes":[{"agent":"x","node":{"id":"a"},"parcel":{"kind":"request"}}]}`} {
		o := newOffice(t, company())
		o.ask(user, coder, "x")
		before := snapshot(t, o.l)
		if err := o.l.Restore([]byte(data)); err == nil {
			t.Errorf("%q: got it restored, want an error", data)
		}
		if diff := cmp.Diff(before, snapshot(t, o.l)); diff != "" {
			t.Errorf("%q: changed the ledger (-before +after):\n%s", data, diff)
		}
	}
}

// Every cut of a history: the snapshot of one part and the entries of the
// other give what all entries give, and the same plan.
func TestSnapshotAtEveryEntry(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, boss, "x")
	o.send(user, protocol.All, protocol.Info("news"), within(time.Minute))
	o.answer(o.take(boss), "@"+manager+": y\n@nobody: z")
	o.fail(o.take(manager), protocol.CodeAgentDied, true)
	o.order(protocol.Pause, tester, orderParams{})
	o.ask(user, tester, "later", about(root), urgent(protocol.High))
	o.now = o.now.Add(time.Second)
	o.answer(o.take(manager), "@"+coder+": a\n@"+analyst+": b")
	o.take(coder)
	want := snapshot(t, o.l)
	for cut := range o.entries {
		l := New(o.rules)
		for _, e := range o.entries[:cut] {
			l.Apply(e)
		}
		data := snapshot(t, l)
		again := New(o.rules)
		if err := again.Restore([]byte(data)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.Next(o.now), again.Next(o.now)); diff != "" {
			t.Fatalf("plan at %d (-applied +restored):\n%s", cut, diff)
		}
		for _, e := range o.entries[cut:] {
			again.Apply(e)
		}
		if diff := cmp.Diff(want, snapshot(t, again)); diff != "" {
			t.Fatalf("cut at %d (-whole +restored):\n%s", cut, diff)
		}
		if diff := cmp.Diff(o.l.Metrics(), again.Metrics()); diff != "" {
			t.Fatalf("metrics cut at %d (-whole +restored):\n%s", cut, diff)
		}
		if diff := cmp.Diff(o.task(root), must(again.Task(root))); diff != "" {
			t.Fatalf("task cut at %d (-whole +restored):\n%s", cut, diff)
		}
	}
}

func must(t protocol.Task, err error) protocol.Task {
	if err != nil {
		return protocol.Task{Reason: err.Error()}
	}
	return t
}

// Old closed tasks lose their long texts, failed ones keep what a retry needs.
func TestOldTextsAreShortened(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	long := strings.Repeat("語", 100_000)
	done := o.ask(user, coder, long)
	o.answer(o.take(coder), long)
	failed := o.ask(user, coder, long)
	o.fail(o.take(coder), protocol.CodeTimeout, false)
	o.order(protocol.Cancel, coder, orderParams{Task: failed})
	o.settle()
	for range 5 {
		o.ask(user, coder, long)
		o.answer(o.take(coder), long)
	}
	if got := o.task(done); len(got.Text) > 200 || len(got.Result) > 200 || !strings.HasPrefix(long, strings.TrimSuffix(got.Text, "…")) {
		t.Errorf("got %d and %d bytes, want the old task shortened", len(got.Text), len(got.Result))
	}
	if got := o.task(done).ResultSeq; o.entries[got-1].Message.Message.Text() != long {
		t.Errorf("got entry %d, want the one with the whole result", got)
	}
	o.order(protocol.Retry, coder, orderParams{Task: failed})
	if d := o.take(coder); d.Body != long {
		t.Errorf("got %d bytes to type again, want all %d", len(d.Body), len(long))
	}
	o.wantSound()
}

func TestForgettingOldTasks(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	var ids []string
	for range 3 {
		ids = append(ids, o.ask(user, coder, "x"))
		o.answer(o.take(coder), "done")
		o.now = o.now.Add(20 * 24 * time.Hour)
	}
	waiting := o.ask(user, coder, "waits")
	o.now = o.now.Add(365 * 24 * time.Hour)
	o.append(protocol.Entry{Time: o.now, Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "started"}})
	if got := o.l.Tasks(); len(got) != 1 || got[0].ID != waiting {
		t.Errorf("got %+v, want only the task that is not over", got)
	}
	if got := o.l.Metrics().MessagesSent; got != 10 {
		t.Errorf("got %d messages sent, want all 10 counted", got)
	}
	if _, err := o.l.Task(ids[0]); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("got %v, want %s", err, protocol.CodeNotFound)
	}
	o.wantSound()
}

func TestLookingUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	o.answer(o.take(manager), "@"+coder+": y")
	child := o.task(root).Children[0].ID
	if got, err := o.l.Task(child[:8]); err != nil || got.ID != child {
		t.Errorf("got %q, %v, want the child by its prefix", got.ID, err)
	}
	if _, err := o.l.Task(""); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("empty id: got %v, want %s", err, protocol.CodeNotFound)
	}
	if got, _ := o.l.Working(manager); got != root {
		t.Errorf("manager works on: got %q, want %q", got, root)
	}
	if got, ok := o.l.TaskOf("unknown"); ok {
		t.Errorf("task of nothing: got %q, want none", got)
	}
	o.answer(o.take(coder), "done")
	d, _ := o.ready(manager)
	if got, ok := o.l.TaskOf(d.Messages[0]); !ok || got != root {
		t.Errorf("task of a waiting result: got %q, want %q", got, root)
	}
	o.answer(o.take(manager), "done")
	newer := o.ask(user, boss, "later")
	if got := o.l.Tasks(); len(got) != 2 || got[0].ID != newer {
		t.Errorf("got %+v, want the newest first", got)
	}
	if got := o.l.Recent(0); len(got) != 1 || got[0].ID != newer {
		t.Errorf("got %+v, want only what is not over", got)
	}
}

// A claim that comes twice, out of turn, or while the agent is busy changes
// nothing, so that whoever made it does not find it under way.
func TestClaimsThatDoNotFit(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "x")
	o.send(user, coder, protocol.Info("news"), urgent(protocol.Low))
	d, _ := o.ready(coder)
	early := d
	early.Attempt = 2
	o.append(o.l.Claim(early, "r1", "", o.now))
	note := d
	note.Messages = []string{o.l.Waiting(coder)[1].Message}
	o.append(o.l.Claim(d, "r2", "", o.now), o.l.Claim(note, "r3", "", o.now), o.l.Claim(d, "r4", "", o.now))
	if got := o.l.Anomalies(); got != 3 {
		t.Errorf("got %d anomalies, want 3", got)
	}
	if got := o.l.UnderWay(); len(got) != 1 || got[0].Req != "r2" {
		t.Errorf("got %+v under way, want the one claim that fits", got)
	}
}

// Apply takes whatever a stream may hold, and counts what does not fit.
func TestApplyIsTotal(t *testing.T) {
	t.Parallel()
	step := func(name protocol.StepName, agent string, ids ...string) protocol.Entry {
		return protocol.Entry{Kind: protocol.KindStep, Step: &protocol.Step{Name: name, Agent: agent, Messages: ids, Attempt: 1}}
	}
	o := newOffice(t, company())
	id := o.ask(user, coder, "x")
	bad := []protocol.Entry{
		{}, {Kind: protocol.KindStep, Step: &protocol.Step{}}, {Kind: protocol.KindMessage, Message: &protocol.Accepted{}},
		step(protocol.Answered, coder, id), step(protocol.Typed, coder, id), step(protocol.Undone, coder, id),
		step(protocol.Claimed, tester, id), step(protocol.Claimed, "janitor", id), step(protocol.Claimed, coder, "other"),
		step(protocol.Claimed, coder, id, "more"), step("dance", coder, id), step(protocol.Answered, coder),
	}
	for i, e := range bad {
		before := snapshot(t, o.l)
		o.append(e)
		if got := o.l.Anomalies(); got != i+1 {
			t.Errorf("entry %d: got %d anomalies, want %d", i, got, i+1)
		}
		o.l.anomalies = i
		o.l.seq--
		if diff := cmp.Diff(before, snapshot(t, o.l)); diff != "" {
			t.Errorf("entry %d changed the ledger (-before +after):\n%s", i, diff)
		}
		o.l.anomalies = i + 1
		o.l.seq++
	}
	o.l.Apply(o.entries[0])
	if got := o.l.Anomalies(); got != len(bad)+1 {
		t.Errorf("an entry that was applied before: got %d anomalies, want %d", got, len(bad)+1)
	}
	if got := o.l.Seq(); got != uint64(len(o.entries)) {
		t.Errorf("got sequence %d after an old entry, want %d", got, len(o.entries))
	}
}

// What people decided outlives the entries that said so.
func TestSnapshotKeepsApprovals(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "x")
	ask := func(id string, state protocol.ConfirmationState) {
		o.send(protocol.Hub, user, &protocol.EventPayload{EventType: protocol.EventConfirmationRequest, Data: []byte(`{"confirmationId":"` + id + `","agent":"` + coder + `","kind":"Bash make","args":{},"state":"pending"}`)}, func(a *protocol.Accepted) { a.Task = root })
		o.send(user, protocol.Hub, &protocol.EventPayload{EventType: protocol.EventConfirmationAnswer, Data: []byte(`{"confirmationId":"` + id + `","state":"` + string(state) + `","answeredBy":"user","scope":"agent"}`)}, func(a *protocol.Accepted) { a.Task = root })
	}
	ask("one", protocol.ConfirmationApproved)
	again := New(o.rules)
	if err := again.Restore([]byte(snapshot(t, o.l))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o.l.Approvals(), again.Approvals()); diff != "" || len(again.Approvals().Rules) != 1 {
		t.Errorf("approvals (-before +after, want one rule):\n%s", diff)
	}
}
