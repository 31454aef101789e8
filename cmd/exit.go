package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

// The exit codes, which scripts rely on.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitDenied   = 3
	exitNoHub    = 4
	exitTimedOut = 5
)

// usageError is a command that was typed wrong.
type usageError struct{ err error }

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// hinted adds what to type next to an error that is no fault of the protocol.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

func withHint(err error, format string, args ...any) error {
	return &hinted{err: err, hint: fmt.Sprintf(format, args...)}
}

// errNoHub says that nothing runs for this project.
var errNoHub = errors.New("no hub is running here")

// errShown ends a verb that has already said all there is to say.
var errShown = errors.New("failed")

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errNoHub), errors.Is(err, api.ErrUnreachable):
		return exitNoHub
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimedOut
	}
	switch protocol.CodeOf(err) {
	case protocol.CodeInvalid, protocol.CodeVersion, protocol.CodeTooLarge, protocol.CodeUnknownAgent, protocol.CodeMention:
		return exitUsage
	case protocol.CodeForbidden, protocol.CodeImpostor:
		return exitDenied
	case protocol.CodeTimeout, protocol.CodeExpired:
		return exitTimedOut
	}
	return exitFailed
}

// explain words an error of a verb for a person: what went wrong, and what to
// do about it.
func explain(err error, verb string) (text, hint string) {
	text = err.Error()
	var h *hinted
	var fault *protocol.Fault
	switch {
	case errors.As(err, &h):
		hint = h.hint
	case errors.As(err, &fault) && fault.Hint != "":
		hint = fault.Hint
		text = strings.TrimSuffix(text, "; "+hint)
	case errors.Is(err, api.ErrUnreachable):
		hint = "look at it with: orchestrator-cc doctor; start it with: orchestrator-cc up"
	}
	if fault != nil && fault.Field == "header.to" {
		// The sentence names the recipient; its field is for programs.
		text = strings.Replace(text, fault.Field+" ", "", 1)
	}
	var usage *usageError
	if hint == "" && errors.As(err, &usage) {
		hint = "see: " + verb + " --help"
	}
	return text, hint
}

// complain says on stderr how a verb failed.
func complain(u *ui, err error, verb string) {
	if err == nil || errors.Is(err, errShown) {
		return
	}
	text, hint := explain(err, verb)
	u.err.printf("%s %s\n", u.err.paint(red, "error:"), text)
	if hint != "" {
		u.err.printf("%s %s\n", u.err.paint(faint, "hint: "), hint)
	}
}
