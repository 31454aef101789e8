package protocol

import (
	"encoding/json"
	"strings"
)

// Payload is what a message says; each type has its own struct.
type Payload interface {
	payloadType() Type
	check(*Problems)
}

// RequestPayload asks for work.
type RequestPayload struct {
	Action    string          `json:"action"`
	Params    json.RawMessage `json:"params"`
	Context   *RequestContext `json:"context,omitempty"`
	TimeoutMS *int64          `json:"timeout_ms,omitempty"`
}

// RequestContext places a request in a larger plan.
type RequestContext struct {
	Iteration    *int     `json:"iteration,omitempty"`
	Phase        string   `json:"phase,omitempty"`
	Dependencies []string `json:"dependencies,omitempty"`
}

// ResponsePayload reports what became of a request.
type ResponsePayload struct {
	Status  Status          `json:"status"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *ErrorPayload   `json:"error,omitempty"`
	Metrics *Cost           `json:"metrics,omitempty"`
	// Sources are the files that the result rests on, below the company's
	// folder by their relative paths.
	Sources []string `json:"sources,omitempty"`
}

// Status is the outcome in a response.
type Status string

// The outcomes.
const (
	Success Status = "success"
	Partial Status = "partial"
	Failed  Status = "failed"
)

// Cost is what an answer took.
type Cost struct {
	DurationMS int64  `json:"duration_ms"`
	TokensUsed *int64 `json:"tokens_used,omitempty"`
}

// EventPayload tells something; nobody waits for an answer.
type EventPayload struct {
	EventType      string          `json:"event_type"`
	Data           json.RawMessage `json:"data"`
	RequiresAction *bool           `json:"requires_action,omitempty"`
}

// ErrorPayload reports a failure.
type ErrorPayload struct {
	ErrorCode       string          `json:"error_code"`
	ErrorType       ErrorType       `json:"error_type"`
	Message         string          `json:"message"`
	Details         json.RawMessage `json:"details,omitempty"`
	Recoverable     bool            `json:"recoverable"`
	SuggestedAction string          `json:"suggested_action,omitempty"`
}

// ErrorType sorts failures.
type ErrorType string

// The error types of the protocol.
const (
	ErrValidation ErrorType = "validation"
	ErrExecution  ErrorType = "execution"
	ErrTimeout    ErrorType = "timeout"
	ErrDependency ErrorType = "dependency"
	ErrResource   ErrorType = "resource"
	ErrInternal   ErrorType = "internal"
)

// HeartbeatPayload says that an agent is alive and what it does. Heartbeats
// are counted, never written to the journal.
type HeartbeatPayload struct {
	State        string `json:"state"`
	LastActivity string `json:"last_activity,omitempty"`
}

// ControlPayload orders an agent about.
type ControlPayload struct {
	Command Command         `json:"command"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// Command is an order.
type Command string

// The control commands.
const (
	Pause    Command = "pause"
	Resume   Command = "resume"
	Cancel   Command = "cancel"
	Retry    Command = "retry"
	Shutdown Command = "shutdown"
)

// AckPayload confirms that a prompt was taken, NackPayload that it was not.
type AckPayload struct {
	ReceivedAt string `json:"received_at"`
}

// NackPayload refuses, or reports that a prompt was never taken.
type NackPayload struct {
	ReceivedAt string `json:"received_at"`
	NackReason string `json:"nack_reason"`
}

func (*RequestPayload) payloadType() Type   { return Request }
func (*ResponsePayload) payloadType() Type  { return Response }
func (*EventPayload) payloadType() Type     { return Event }
func (*ErrorPayload) payloadType() Type     { return Error }
func (*HeartbeatPayload) payloadType() Type { return Heartbeat }
func (*ControlPayload) payloadType() Type   { return Control }
func (*AckPayload) payloadType() Type       { return Ack }
func (*NackPayload) payloadType() Type      { return Nack }

func blankPayload(t Type) Payload {
	switch t {
	case Request:
		return &RequestPayload{}
	case Response:
		return &ResponsePayload{}
	case Event:
		return &EventPayload{}
	case Error:
		return &ErrorPayload{}
	case Heartbeat:
		return &HeartbeatPayload{}
	case Control:
		return &ControlPayload{}
	case Ack:
		return &AckPayload{}
	case Nack:
		return &NackPayload{}
	}
	return nil
}

func decodePayload(t Type, data json.RawMessage) (Payload, error) {
	p := blankPayload(t)
	if p == nil {
		return nil, Invalid("header.type", "is %q; use one of %s", t, typeList())
	}
	if len(data) == 0 || string(data) == "null" {
		return nil, Invalid("payload", "is missing")
	}
	if err := strict(data, p); err != nil {
		return nil, Invalid("payload", "%v", err)
	}
	return p, nil
}

func typeList() string {
	var names []string
	for _, t := range Types() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}
