package protocol

import (
	"encoding/json"
	"fmt"
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

// ByEndOfTask is who withdraws what is asked for a task that is over: nobody
// wants it done any more, whatever the program would ask next.
const ByEndOfTask = "the end of its task"

// Answer is the message by which a confirmation is decided. Its id follows from
// the confirmation's, so that the stream takes one and refuses a second.
func (c Confirmation) Answer(v Verdict) Message {
	from, to := FromHub(), FromUser()
	if v.Scope != "" { // only people decide for so much
		from, to = to, from
	}
	v.ID = c.ID
	v.Text = fmt.Sprintf("%s %s of %s, by %s", v.State, c.Tool, c.Agent, v.By)
	if v.Scope == ScopeTask || v.Scope == ScopeAgent {
		v.Text += fmt.Sprintf(", and from now on for this %s: %s", v.Scope, c.Kind)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a struct of strings always encodes
	}
	m := New(from, to, &EventPayload{EventType: EventConfirmationAnswer, Data: data})
	m.Header.MessageID = DeriveID("once", "answer", c.ID)
	return m
}

// Verdict is the answer to a confirmation, as it stands in the stream.
type Verdict struct {
	ID    string            `json:"confirmationId"`
	State ConfirmationState `json:"state"`
	By    string            `json:"answeredBy"`
	Scope string            `json:"scope,omitempty"` // once where it says nothing
	Text  string            `json:"text"`
}
