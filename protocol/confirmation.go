package protocol

import (
	"encoding/json"
	"time"
)

// The events by which a confirmation lives in the stream. Only the hub writes
// them: one that came in as a message would let an agent answer itself.
const (
	EventConfirmationRequest = "confirmation_request"
	EventConfirmationAnswer  = "confirmation_answer"
)

// ConfirmationState is where a confirmation stands.
//
//	pending -> approved | denied | expired
type ConfirmationState string

// The states of a confirmation.
const (
	ConfirmationPending  ConfirmationState = "pending"
	ConfirmationApproved ConfirmationState = "approved"
	ConfirmationDenied   ConfirmationState = "denied"
	ConfirmationExpired  ConfirmationState = "expired" // nobody answered in time, which denies
)

// Warning says how dangerous a tool call is.
type Warning struct {
	Level   string `json:"level" enum:"CRITICAL,WARN,INFO"`
	Message string `json:"message"`
}

// Confirmation is a tool call that waits for a person, or did.
type Confirmation struct {
	ID       string            `json:"confirmationId"`
	Tool     string            `json:"toolName"`
	Args     json.RawMessage   `json:"args"`
	Warning  Warning           `json:"security_warning"`
	Agent    string            `json:"agent"`
	Task     string            `json:"taskId,omitempty"`
	Session  string            `json:"sessionId,omitempty"`
	State    ConfirmationState `json:"state" enum:"pending,approved,denied,expired"`
	Since    time.Time         `json:"since"`
	Deadline time.Time         `json:"deadline"`
	By       string            `json:"answeredBy,omitempty"` // who answered
}

// Verdict is the answer to a confirmation, as it stands in the stream.
type Verdict struct {
	ID    string            `json:"confirmationId"`
	State ConfirmationState `json:"state"`
	By    string            `json:"answeredBy"`
	Text  string            `json:"text"`
}
