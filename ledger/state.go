package ledger

import "orchestrator-cc/protocol"

// change is something that happens to a task.
type change string

const (
	claimed   change = "claimed"
	completed change = "completed"
	failed    change = "failed"
	cancelled change = "cancelled"
	escalated change = "escalated"
	retried   change = "retried"
)

// next is the life of a task.
//
//	pending ------claimed------> in_progress --claimed (a further turn)--> in_progress
//	   |                              |
//	   +--- completed, failed, cancelled, escalated ---> completed | failed | cancelled | needs_human
//
//	failed, cancelled, needs_human --retried--> pending
//	needs_human --cancelled--> cancelled
//
// A completed task stays completed. Where no arrow leads, the task stays as it
// is and next says so.
func next(s protocol.TaskState, c change) (protocol.TaskState, bool) {
	open := s == protocol.TaskPending || s == protocol.TaskInProgress
	switch {
	case c == claimed && open:
		return protocol.TaskInProgress, true
	case c == completed && open:
		return protocol.TaskCompleted, true
	case c == failed && open:
		return protocol.TaskFailed, true
	case c == escalated && open:
		return protocol.TaskNeedsHuman, true
	case c == cancelled && (open || s == protocol.TaskNeedsHuman):
		return protocol.TaskCancelled, true
	case c == retried && (s == protocol.TaskFailed || s == protocol.TaskCancelled || s == protocol.TaskNeedsHuman):
		return protocol.TaskPending, true
	}
	return s, false
}

// outcome says what a closing message makes of a request. A failure that
// nobody in the company can act on any more is a person's; an expiry, a
// cancellation or a limit was wanted by one and stays what it is.
func outcome(c *protocol.Closing, askedByUser bool) change {
	switch {
	case c.Code == protocol.CodeCancelled:
		return cancelled
	case c.Status != protocol.Failed:
		return completed
	case c.Code == protocol.CodeExpired || c.Code == protocol.CodeLimit || !askedByUser:
		return failed
	}
	return escalated
}

// stage orders the steps of an attempt that is under way; the rest have none.
func stage(s protocol.StepName) int {
	switch s {
	case protocol.Claimed:
		return 1
	case protocol.Typed:
		return 2
	case protocol.Submitted:
		return 3
	case protocol.Taken:
		return 4
	}
	return 0
}
