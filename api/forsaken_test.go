package api

import (
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// A question whose asker has gone is withdrawn, but not while a hub that came
// back has yet to be found.
func TestForsakenQuestions(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := newConfirmations()
	c.begin(protocol.Approvals{Items: []protocol.Confirmation{{ID: "a", State: protocol.ConfirmationPending, Deadline: now.Add(time.Hour)}}})
	look := func(at time.Time) int {
		late, next, _ := c.due(at)
		if len(late) == 0 && next.IsZero() {
			t.Error("got no moment to look again")
		}
		return len(late)
	}
	if n := look(now); n != 0 {
		t.Errorf("at the start: got %d withdrawn, want 0", n)
	}
	leave := c.attend("a")
	if n := look(now.Add(30 * time.Minute)); n != 0 {
		t.Errorf("with an asker: got %d withdrawn, want 0", n)
	}
	leave()
	if n := look(time.Now().Add(forsaken - time.Second)); n != 0 {
		t.Errorf("soon after it left: got %d withdrawn, want 0", n)
	}
	late, _, _ := c.due(time.Now().Add(forsaken + time.Second))
	if len(late) != 1 || late[0].state != protocol.ConfirmationWithdrawn {
		t.Errorf("long after it left: got %+v, want it withdrawn", late)
	}
}

// A question has the time it was asked with, also where the clock is set back
// while no hub runs.
func TestDeadlineOfAClockSetBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	asked := now.UTC().Add(time.Hour) // by a clock that has been set back since
	c := newConfirmations()
	c.begin(protocol.Approvals{Items: []protocol.Confirmation{{ID: "a", State: protocol.ConfirmationPending, Since: asked, Deadline: asked.Add(10 * time.Second)}}})
	defer c.attend("a")()
	if late, next, _ := c.due(now); len(late) != 0 || next.Sub(now) != 10*time.Second {
		t.Errorf("at first: got %d expired and %s to go, want 0 and 10s", len(late), next.Sub(now))
	}
	late, _, _ := c.due(now.Add(11 * time.Second))
	if len(late) != 1 || late[0].state != protocol.ConfirmationExpired {
		t.Errorf("after its time: got %+v, want it expired", late)
	}
}
