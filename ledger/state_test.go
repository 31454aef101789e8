package ledger

import (
	"testing"

	"orchestrator-cc/protocol"
)

// Every arrow of the task's life, and every pair without one.
func TestNext(t *testing.T) {
	t.Parallel()
	arrows := map[protocol.TaskState]map[change]protocol.TaskState{
		protocol.TaskPending: {
			claimed: protocol.TaskInProgress, completed: protocol.TaskCompleted, failed: protocol.TaskFailed,
			cancelled: protocol.TaskCancelled, escalated: protocol.TaskNeedsHuman,
		},
		protocol.TaskInProgress: {
			claimed: protocol.TaskInProgress, completed: protocol.TaskCompleted, failed: protocol.TaskFailed,
			cancelled: protocol.TaskCancelled, escalated: protocol.TaskNeedsHuman,
		},
		protocol.TaskNeedsHuman: {cancelled: protocol.TaskCancelled, retried: protocol.TaskPending},
		protocol.TaskFailed:     {retried: protocol.TaskPending},
		protocol.TaskCancelled:  {retried: protocol.TaskPending},
		protocol.TaskCompleted:  {},
	}
	for state, out := range arrows {
		for _, c := range []change{claimed, completed, failed, cancelled, escalated, retried} {
			want, leads := out[c]
			if !leads {
				want = state
			}
			got, ok := next(state, c)
			if got != want || ok != leads {
				t.Errorf("%s on %s: got %s, %v, want %s, %v", state, c, got, ok, want, leads)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		closing protocol.Closing
		user    bool
		want    change
	}{
		{"success", protocol.Closing{Status: protocol.Success}, true, completed},
		{"partial", protocol.Closing{Status: protocol.Partial}, false, completed},
		{"failure of a delegate", protocol.Closing{Status: protocol.Failed, Code: protocol.CodeTimeout}, false, failed},
		{"failure for the user", protocol.Closing{Status: protocol.Failed, Code: protocol.CodeTimeout}, true, escalated},
		{"expired for the user", protocol.Closing{Status: protocol.Failed, Code: protocol.CodeExpired}, true, failed},
		{"limit for the user", protocol.Closing{Status: protocol.Failed, Code: protocol.CodeLimit}, true, failed},
		{"cancelled", protocol.Closing{Status: protocol.Failed, Code: protocol.CodeCancelled}, true, cancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := outcome(&tt.closing, tt.user); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The steps of a delivery: forward only, and only while it is under way.
func TestSteps(t *testing.T) {
	t.Parallel()
	under := []protocol.StepName{protocol.Claimed, protocol.Typed, protocol.Submitted, protocol.Taken}
	ends := []protocol.StepName{protocol.Answered, protocol.Undone, protocol.Expired, protocol.Dropped, protocol.DeadEnd}
	for at, from := range under {
		for to, step := range append(append([]protocol.StepName{}, under...), ends...) {
			o := newOffice(t, company())
			o.ask(user, boss, "x")
			d := o.claim(boss)
			if at > 0 {
				o.append(stepEntry(o.now, d.step(from)))
			}
			o.append(stepEntry(o.now, d.step(step)))
			want := to > at && step != protocol.Expired && step != protocol.Dropped && step != protocol.DeadEnd
			if got := o.l.Anomalies() == 0; got != want {
				t.Errorf("%s after %s: got fits %v, want %v", step, from, got, want)
			}
		}
	}
}
