package ledger

import (
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// bounce lets the next delivery of an agent end at a wall.
func (o *office) bounce(agent string, until time.Time) {
	o.t.Helper()
	o.append(o.l.Fail(o.take(agent), Failure{Code: protocol.CodeWall, Reason: "session limit", Again: true, Until: until}, o.now)...)
	o.settle()
}

// A wall holds all work of its agent until it is over, and costs no attempt.
func TestWallHoldsTheAgent(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	first, second := o.ask(user, coder, "one"), o.ask(user, coder, "two")
	other := o.ask(user, tester, "three")
	reset := o.now.Add(2 * time.Hour)
	for range o.rules.Retry.Max + 3 { // more often than anything else may fail
		o.bounce(coder, reset)
		if d, ok := o.ready(coder); ok {
			t.Fatalf("got %+v for an agent at a wall, want nothing", d)
		}
		w, ok := o.l.Wall(coder, o.now)
		if !ok || w.Until.Before(reset) || w.Reason != "session limit" {
			t.Fatalf("got wall %+v (%t), want one until %s", w, ok, reset)
		}
		if got := o.l.Next(o.now).Wake; !got.Equal(w.Until) {
			t.Fatalf("got wake-up at %s, want %s", got, w.Until)
		}
		o.wantSound()
		o.now, reset = w.Until, w.Until.Add(2*time.Hour)
	}
	if _, ok := o.ready(tester); !ok {
		t.Error("got nothing for another agent, want its work")
	}
	o.answer(o.take(tester), "done")
	if d := o.take(coder); d.Messages[0] != first {
		t.Errorf("after the wall: got %s first, want %s", d.Messages[0], first)
	} else {
		o.answer(d, "done")
	}
	if _, ok := o.l.Wall(coder, o.now); ok {
		t.Error("got a wall after an answer, want none")
	}
	o.answer(o.take(coder), "done")
	for _, id := range []string{first, second, other} {
		o.wantState(id, protocol.TaskCompleted)
	}
	o.wantSound()
}

func TestWallTimes(t *testing.T) {
	t.Parallel()
	type hit struct{ told, wait time.Duration } // told 0: nothing is
	for _, tt := range []struct {
		name string
		hits []hit
	}{
		{"the named moment", []hit{{2 * time.Hour, 2 * time.Hour}}},
		{"no moment", []hit{{0, time.Minute}, {0, 2 * time.Minute}, {0, 4 * time.Minute}, {0, 8 * time.Minute}, {0, 16 * time.Minute}, {0, 30 * time.Minute}, {0, 30 * time.Minute}}},
		{"a moment that proves wrong", []hit{{time.Second, time.Second}, {time.Second, time.Minute}, {time.Second, 2 * time.Minute}, {time.Hour, time.Hour}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, company())
			o.ask(user, coder, "one")
			for i, h := range tt.hits {
				until := time.Time{}
				if h.told > 0 {
					until = o.now.Add(h.told)
				}
				o.bounce(coder, until)
				w, _ := o.l.Wall(coder, o.now)
				if got := w.Until.Sub(o.now); got != h.wait {
					t.Fatalf("hit %d: got a wait of %s, want %s", i+1, got, h.wait)
				}
				o.now = w.Until
			}
			o.wantSound()
		})
	}
}

// A person who knows better ends the wait.
func TestResumeEndsTheWall(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "one")
	o.bounce(coder, o.now.Add(5*time.Hour))
	o.order(protocol.Resume, coder, orderParams{})
	o.answer(o.take(coder), "done")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}

// An attempt whose hub ended before it typed anything costs none either, unless
// hubs go on ending over it.
func TestDeadHubCostsNoAttempt(t *testing.T) {
	t.Parallel()
	rules := company()
	rules.Retry.Max = 0
	o := newOffice(t, rules)
	root := o.ask(user, coder, "one")
	for range forgiven {
		o.fail(o.take(coder), protocol.CodeNoHub, true)
		o.now = o.now.Add(time.Minute)
		o.wantState(root, protocol.TaskInProgress)
	}
	o.fail(o.take(coder), protocol.CodeNoHub, true)
	o.wantState(root, protocol.TaskNeedsHuman)
	o.wantSound()
}

// What was not provably over is not tried again after a wall either.
func TestWallInDoubtIsNotRetried(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "one")
	o.fail(o.take(coder), protocol.CodeWall, false)
	o.wantState(root, protocol.TaskNeedsHuman)
	o.wantSound()
}

// A wall that is over already holds nothing, however often it was hit.
func TestWallThatHasPassed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, coder, "one")
	for range 3 {
		o.bounce(coder, o.now)
		if w, ok := o.l.Wall(coder, o.now); ok {
			t.Fatalf("got wall %+v, want none", w)
		}
	}
	o.answer(o.take(coder), "done")
	o.wantState(root, protocol.TaskCompleted)
	o.wantSound()
}
