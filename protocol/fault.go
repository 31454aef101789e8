package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// Code names a mistake for programs. Codes are added, never renamed.
type Code string

// The codes that reach a person or a program.
const (
	CodeInvalid      Code = "E_INVALID"
	CodeVersion      Code = "E_VERSION"
	CodeTooLarge     Code = "E_TOO_LARGE"
	CodeUnknownAgent Code = "E_UNKNOWN_AGENT"
	CodeForbidden    Code = "E_FORBIDDEN"
	CodeImpostor     Code = "E_IMPOSTOR"
	CodeDuplicate    Code = "E_DUPLICATE"
	CodeNotFound     Code = "E_NOT_FOUND"
	CodeConflict     Code = "E_CONFLICT"
	CodeExpired      Code = "E_EXPIRED"
	CodeNotSubmitted Code = "E_NOT_SUBMITTED"
	CodeNotAccepted  Code = "E_NOT_ACCEPTED"
	CodeAgentDied    Code = "E_AGENT_DIED"
	CodeAgentFailed  Code = "E_AGENT_FAILED"
	CodeTimeout      Code = "E_TIMEOUT"
	CodeCancelled    Code = "E_CANCELLED"
	CodeUndecidable  Code = "E_UNDECIDABLE"
	CodeLimit        Code = "E_LIMIT"
	CodeWall         Code = "E_RATE_LIMITED"
	CodeMention      Code = "E_MENTION"
	CodeStorage      Code = "E_STORAGE"
	CodeNoHub        Code = "E_NO_HUB" // there is nobody to ask, or nobody was left to type
	CodeInternal     Code = "E_INTERNAL"
)

// ErrorType sorts a code into the protocol's error types.
func (c Code) ErrorType() ErrorType {
	switch c {
	case CodeInvalid, CodeVersion, CodeTooLarge, CodeUnknownAgent, CodeForbidden, CodeImpostor, CodeDuplicate, CodeMention, CodeNotFound, CodeConflict:
		return ErrValidation
	case CodeTimeout, CodeExpired:
		return ErrTimeout
	case CodeNotSubmitted, CodeNotAccepted, CodeAgentDied, CodeLimit, CodeWall, CodeStorage, CodeNoHub:
		return ErrResource
	case CodeAgentFailed, CodeCancelled, CodeUndecidable:
		return ErrExecution
	}
	return ErrInternal
}

// Fault is an error a caller can branch on and a person can act on.
type Fault struct {
	Code    Code   `json:"code"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do or type next
}

func (f *Fault) Error() string {
	var b strings.Builder
	if f.Field != "" {
		b.WriteString(f.Field + " ")
	}
	b.WriteString(f.Message)
	if f.Hint != "" {
		b.WriteString("; " + f.Hint)
	}
	return b.String()
}

// Is makes two faults of one code equal to errors.Is.
func (f *Fault) Is(target error) bool {
	var other *Fault
	return errors.As(target, &other) && other.Code == f.Code && other.Message == ""
}

// Invalid is a fault in a named field.
func Invalid(field, format string, args ...any) *Fault {
	return &Fault{Code: CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Faultf makes a fault of any code.
func Faultf(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Cure returns the fault with a hint.
func (f *Fault) Cure(format string, args ...any) *Fault {
	g := *f
	g.Hint = fmt.Sprintf(format, args...)
	return &g
}

// CodeOf finds the code in an error chain; what has none is internal.
func CodeOf(err error) Code {
	var f *Fault
	if errors.As(err, &f) {
		return f.Code
	}
	var p *Problems
	if errors.As(err, &p) && len(p.Faults) > 0 {
		return p.Faults[0].Code
	}
	return CodeInternal
}

// Problems are all the faults found in one thing, reported at once.
type Problems struct {
	Faults []*Fault `json:"faults"`
}

func (p *Problems) add(f *Fault) { p.Faults = append(p.Faults, f) }

func (p *Problems) Error() string {
	lines := make([]string, len(p.Faults))
	for i, f := range p.Faults {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "; ")
}

// Unwrap lets errors.Is and errors.As see each fault.
func (p *Problems) Unwrap() []error {
	out := make([]error, len(p.Faults))
	for i, f := range p.Faults {
		out[i] = f
	}
	return out
}

func (p *Problems) err() error {
	if len(p.Faults) == 0 {
		return nil
	}
	return p
}
