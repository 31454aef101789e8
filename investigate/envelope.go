package investigate

import (
	"time"
)

// The types of messages between the agents of an investigation.
const (
	TaskRequest  = "task_request"
	TaskResult   = "task_result"
	Feedback     = "feedback"
	StatusUpdate = "status_update"
	ErrorMessage = "error"
)

// The states of a task.
const (
	StatusPending    = "pending"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusFailed     = "failed"
)

// Envelope is one message of an investigation, as its JSON schema has it. All
// messages are kept with the report.
type Envelope struct {
	Sender      Role           `json:"sender"`
	Receiver    Role           `json:"receiver"`
	Timestamp   time.Time      `json:"timestamp"`
	MessageType string         `json:"message_type"`
	TaskID      string         `json:"task_id,omitempty"`
	Command     string         `json:"command,omitempty"`
	Payload     map[string]any `json:"payload,omitempty"`
	Status      string         `json:"status,omitempty"`
	Metadata    Metadata       `json:"metadata,omitzero"`
}

// Metadata goes with a message: a smaller priority is more urgent.
type Metadata struct {
	Priority   int `json:"priority"`
	RetryCount int `json:"retry_count"`
}

// RequestOf is the message that gives a step to its specialist. Steps of later
// rounds are feedback on the results before.
func RequestOf(s Step, now time.Time) Envelope {
	e := Envelope{
		Sender: Manager, Receiver: s.Role, Timestamp: now, MessageType: TaskRequest, TaskID: s.ID, Command: s.Command.Name,
		Payload: map[string]any{"why": s.Why}, Status: StatusPending, Metadata: Metadata{Priority: s.Round},
	}
	if len(s.Command.Args) > 0 {
		e.Payload["args"] = s.Command.Args
	}
	if len(s.After) > 0 {
		e.Payload["after"] = s.After
	}
	if s.Round > 1 {
		e.MessageType = Feedback
	}
	return e
}

// ResultOf is the message that answers it.
func ResultOf(s Step, o Outcome, now time.Time) Envelope {
	e := Envelope{
		Sender: s.Role, Receiver: Manager, Timestamp: now, MessageType: TaskResult, TaskID: s.ID, Command: s.Command.Name,
		Payload: map[string]any{"summary": o.Summary(), "outcome": o}, Status: StatusCompleted,
		Metadata: Metadata{Priority: s.Round, RetryCount: max(o.Attempts-1, 0)},
	}
	if o.Failed() {
		e.MessageType, e.Status = ErrorMessage, StatusFailed
		e.Payload = map[string]any{"error": o.Error, "attempts": o.Attempts}
	}
	return e
}

// StatusOf is the message that says how far the investigation is.
func StatusOf(text string, status string, now time.Time) Envelope {
	return Envelope{
		Sender: Manager, Receiver: "grand_boss", Timestamp: now, MessageType: StatusUpdate, Payload: map[string]any{"text": text}, Status: status,
	}
}
