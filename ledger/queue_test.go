package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

func urgent(p protocol.Priority) func(*protocol.Accepted) {
	return func(a *protocol.Accepted) { a.Message = a.Message.WithPriority(p) }
}

func about(id string) func(*protocol.Accepted) {
	return func(a *protocol.Accepted) { a.Message = a.Message.About(id) }
}

func within(d time.Duration) func(*protocol.Accepted) {
	return func(a *protocol.Accepted) { a.Message = a.Message.WithTTL(d) }
}

func collected(a *protocol.Accepted) { a.Collected = true }

// deliveries lets an agent answer everything, and lists the bodies it got.
func (o *office) deliveries(agent string) []string {
	var out []string
	for range 100 {
		d, ok := o.ready(agent)
		if !ok {
			break
		}
		out = append(out, d.Body)
		o.answer(o.take(agent), "done")
	}
	return out
}

func TestPriorityAndOrder(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "low", urgent(protocol.Low))
	o.ask(user, coder, "normal 1")
	o.ask(boss, coder, "from the boss")
	o.ask(user, coder, "normal 2", urgent(protocol.Normal))
	o.send(user, coder, protocol.Info("event"), urgent(protocol.High))
	o.ask(user, coder, "critical", urgent(protocol.Critical))
	if got := o.l.Queue(coder); got != 6 {
		t.Errorf("queue: got %d, want 6", got)
	}
	want := []string{"critical", "event", "normal 1", "from the boss", "normal 2", "low"}
	var listed []string
	for _, w := range o.l.Waiting(coder) {
		listed = append(listed, o.textOf(w.Message))
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, o.deliveries(coder)); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	o.wantSound()
}

func (o *office) textOf(id string) string {
	for _, e := range o.entries {
		if e.Message != nil && e.Message.Message.ID() == id {
			return e.Message.Message.Text()
		}
	}
	return ""
}

func TestAfterCorrelation(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	first := o.ask(user, boss, "first", urgent(protocol.Low))
	second := o.send(user, coder, protocol.Info("second"), about(first), urgent(protocol.Critical))
	if _, ok := o.ready(coder); ok {
		t.Fatal("got the second before the first was delivered, want it to wait")
	}
	if got := o.l.Waiting(coder)[0].After; got != first {
		t.Errorf("got it waiting for %q, want %q", got, first)
	}
	o.claim(boss)
	if _, ok := o.ready(coder); ok {
		t.Fatal("got the second while the first was only claimed, want it to wait")
	}
	o.append(o.l.Mark(o.l.UnderWay()[0], protocol.Taken, "channel", o.now)...)
	if d, ok := o.ready(coder); !ok || d.Messages[0] != second {
		t.Errorf("got %+v, want the second once the first is delivered", d)
	}
	o.wantSound()
}

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "holds the agent")
	d := o.take(coder)
	late := o.ask(user, coder, "too late", within(5*time.Second))
	o.send(user, coder, protocol.Info("late news"), within(3*time.Second))
	plan := o.settle()
	if want := o.now.Add(3 * time.Second); !plan.Wake.Equal(want) {
		t.Errorf("wake: got %v, want %v", plan.Wake, want)
	}
	o.now = o.now.Add(5 * time.Second)
	o.append(o.l.Settle(d, Answer{Text: "done"}, o.now)...)
	if got := o.l.Next(o.now).Deliver; len(got) != 0 {
		t.Errorf("got %+v to deliver before the expiry is written, want nothing", got)
	}
	o.settle()
	if got := o.task(late); got.State != protocol.TaskFailed || got.Code != protocol.CodeExpired {
		t.Errorf("got %s %s, want failed %s", got.State, got.Code, protocol.CodeExpired)
	}
	want := []string{
		"hub > user: not delivered to " + coder + " within its ttl_seconds",
		coder + " > user: not delivered to " + coder + " within its ttl_seconds",
	}
	if diff := cmp.Diff(want, o.said(protocol.Error)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if got := o.deliveries(coder); len(got) != 0 {
		t.Errorf("got %q delivered, want nothing late", got)
	}
	o.wantSound()
}

func TestBroadcast(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.order(protocol.Pause, tester, orderParams{})
	o.send(boss, protocol.All, protocol.Info("to all"))
	o.send(user, "role:specialist", protocol.Info("to specialists"))
	var got []string
	for _, a := range o.rules.Agents {
		for _, body := range o.deliveries(a.Name) {
			got = append(got, a.Name+": "+body)
		}
	}
	want := []string{manager + ": to all", coder + ": to all", coder + ": to specialists", analyst + ": to all", analyst + ": to specialists"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	o.order(protocol.Resume, tester, orderParams{})
	if diff := cmp.Diff([]string{"to all", "to specialists"}, o.deliveries(tester)); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	o.wantSound()
}

// Events are read between tasks and while delegates work, never in between.
func TestEventsWaitForATurn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, manager, "work")
	d := o.take(manager)
	o.send(user, manager, protocol.Info("news"))
	o.ask(user, manager, "next task")
	if _, ok := o.ready(manager); ok {
		t.Fatal("got a delivery during a turn, want none")
	}
	o.answer(d, "@"+coder+": help")
	if got, ok := o.ready(manager); !ok || got.Body != "news" {
		t.Fatalf("got %+v, want the event while the delegate works", got)
	}
	o.answer(o.take(manager), "noted @"+tester)
	if got, ok := o.ready(manager); ok {
		t.Fatalf("got %+v, want no new task while one is held", got)
	}
	o.answer(o.take(coder), "helped")
	if diff := cmp.Diff([]string{"Result of " + coder + " (success):\nhelped", "next task"}, o.deliveries(manager)); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	o.wantSound()
}

func TestRetryTimes(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "x")
	var waits []time.Duration
	for range 4 {
		o.fail(o.claim(coder), protocol.CodeNotAccepted, true)
		plan := o.settle()
		if plan.Wake.IsZero() {
			break
		}
		if _, ok := o.ready(coder); ok {
			t.Fatal("got another attempt at once, want it later")
		}
		waits = append(waits, plan.Wake.Sub(o.now))
		o.now = plan.Wake
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if got := len(o.said(protocol.Nack)); got != 1 {
		t.Errorf("got %d nacks after the last attempt, want 1", got)
	}
	o.wantSound()
}

func TestJitter(t *testing.T) {
	t.Parallel()
	r := Rules{}.withDefaults().Retry
	var seen []time.Duration
	for attempt := range 100 {
		d := r.delay(1, "x", attempt)
		if d < 900*time.Millisecond || d > 1100*time.Millisecond {
			t.Fatalf("got %v, want 1 s within a tenth", d)
		}
		if d != r.delay(1, "x", attempt) {
			t.Fatal("got another delay for the same attempt, want the same")
		}
		seen = append(seen, d)
	}
	slices.Sort(seen)
	if got := len(slices.Compact(seen)); got < 90 {
		t.Errorf("got %d different delays of 100, want them spread", got)
	}
	if got := r.delay(60, "x", 1); got > 33*time.Second {
		t.Errorf("got %v, want the longest delay kept", got)
	}
}
