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
	EventRuleRevoked         = "confirmation_rule_revoked"
	EventDialogAnswered      = "dialog_answered"
)

// ConfirmationState is where a confirmation stands.
//
//	pending -> approved | denied | expired | withdrawn
type ConfirmationState string

// The states of a confirmation.
const (
	ConfirmationPending   ConfirmationState = "pending"
	ConfirmationApproved  ConfirmationState = "approved"
	ConfirmationDenied    ConfirmationState = "denied"
	ConfirmationExpired   ConfirmationState = "expired"   // nobody answered in time
	ConfirmationWithdrawn ConfirmationState = "withdrawn" // its task is over, or whoever asked has gone
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
	State    ConfirmationState `json:"state" enum:"pending,approved,denied,expired,withdrawn"`
	Since    time.Time         `json:"since"`
	Deadline time.Time         `json:"deadline"`
	By       string            `json:"answeredBy,omitempty"` // who answered
	// Kind is what a person allows or denies who decides for more than this
	// call, and Scope for how much the decision counts.
	Kind    string    `json:"kind,omitempty"`
	Scope   string    `json:"scope,omitempty" enum:"once,task,agent"`
	Decided time.Time `json:"decided,omitzero"`
	Over    bool      `json:"over,omitempty"` // its task has ended while it was pending
}

// Verdict is the answer to a confirmation, as it stands in the stream.
type Verdict struct {
	ID    string            `json:"confirmationId"`
	State ConfirmationState `json:"state"`
	By    string            `json:"answeredBy"`
	Scope string            `json:"scope,omitempty"` // once where it says nothing
	Text  string            `json:"text"`
}
