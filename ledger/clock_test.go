package ledger

import (
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// setBack moves the wall clock of the office and says so in the stream, as the
// hub does once it notices.
func (o *office) setBack(by time.Duration) {
	o.now = o.now.Add(-by)
	o.notice(by)
}

func (o *office) notice(by time.Duration) {
	o.append(protocol.Entry{Time: o.now, Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: protocol.ClockSetBack, BackMS: by.Milliseconds()}})
}

func TestRetryWaitsNoLongerForAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	id := o.ask(user, coder, "/say hi")
	o.fail(o.take(coder), protocol.CodeAgentDied, true)
	due := o.settle().Wake.Sub(o.now)
	o.now = o.now.Add(due / 2)
	o.setBack(time.Hour)
	if got := o.settle().Wake.Sub(o.now); got != due/2 {
		t.Errorf("next attempt: got in %s, want the %s that were left", got, due/2)
	}
	o.now = o.now.Add(due / 2)
	o.answer(o.take(coder), "hi")
	o.wantState(id, protocol.TaskCompleted)
	o.wantSound()
}

func TestTimeToLiveCountsOnWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		order []string // of what happens after a minute of waiting
	}{
		{"noticed at once", []string{"set back", "notice", "ask"}},
		{"noticed after the next message", []string{"set back", "ask", "notice"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, company())
			o.order(protocol.Pause, coder, orderParams{})
			old := o.ask(user, coder, "old", within(2*time.Minute))
			o.now = o.now.Add(time.Minute)
			var fresh string
			for _, what := range tc.order {
				switch what {
				case "set back":
					o.now = o.now.Add(-time.Hour)
				case "notice":
					o.notice(time.Hour)
				case "ask":
					fresh = o.ask(user, coder, "fresh", within(2*time.Minute))
				}
			}
			o.now = o.now.Add(59 * time.Second)
			o.settle()
			o.wantState(old, protocol.TaskPending)
			o.now = o.now.Add(time.Second)
			o.settle()
			o.wantState(old, protocol.TaskFailed)
			o.wantState(fresh, protocol.TaskPending)
			o.now = o.now.Add(time.Minute)
			o.settle()
			o.wantState(fresh, protocol.TaskFailed)
			o.wantSound()
		})
	}
}

func TestLatencyIsTrueWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "/say hi")
	d := o.take(coder)
	o.now = o.now.Add(3 * time.Second)
	o.setBack(time.Hour)
	o.now = o.now.Add(4 * time.Second)
	o.answer(d, "hi")
	if got := o.l.Metrics().AvgLatencyMS; got != 7000 {
		t.Errorf("latency: got %v ms, want 7000", got)
	}
	o.wantSound()
}

// A clock that was far ahead for a while must not make the house forget what
// closes after it was mended.
func TestClockThatWasAheadForAWhileForgetsNothingAfterwards(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.now = o.now.AddDate(40, 0, 0)
	o.ask(user, coder, "in the future")
	o.answer(o.take(coder), "hi")
	o.setBack(40 * 365 * 24 * time.Hour)
	id := o.ask(user, coder, "today")
	o.answer(o.take(coder), "hi")
	o.wantState(id, protocol.TaskCompleted)
	o.wantSound()
	o.now = o.now.AddDate(0, 0, 31)
	o.ask(user, coder, "a month later")
	if got := len(o.l.Tasks()); got != 1 {
		t.Errorf("tasks: got %d, want only the last one after a month", got)
	}
}

// A clock that is set forward is time that passed: a machine that slept looks
// the same. Nothing is lost in silence, and nothing is done twice.
func TestClockSetForwardIsTimeThatPassed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	running := o.ask(user, tester, "/think")
	d := o.take(tester)
	again := o.ask(user, coder, "/say hi")
	o.fail(o.take(coder), protocol.CodeAgentDied, true)
	late := o.ask(user, analyst, "late", within(time.Minute))
	o.now = o.now.Add(24 * time.Hour)
	o.settle()
	o.wantState(late, protocol.TaskFailed)
	o.answer(o.take(coder), "hi")
	o.wantState(again, protocol.TaskCompleted)
	o.answer(d, "thought")
	o.wantState(running, protocol.TaskCompleted)
	if got := len(o.said(protocol.Response)) + len(o.said(protocol.Error)); got != 3 {
		t.Errorf("answers: got %d, want one for each of 3 tasks", got)
	}
	o.wantSound()
}
