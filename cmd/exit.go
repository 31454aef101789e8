package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	text = inWords(err)
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
	case errors.Is(err, fs.ErrPermission):
		hint = "what is closed to you, and the cure: orchestrator-cc doctor"
	}
	var usage *usageError
	if hint == "" && errors.As(err, &usage) {
		hint = "see: " + verb + " --help"
	}
	return text, hint
}

// inWords is an error without the names that fields have for programs.
func inWords(err error) string {
	text := err.Error()
	var several *protocol.Problems
	var fault *protocol.Fault
	faults := []*protocol.Fault{}
	switch {
	case errors.As(err, &several):
		faults = several.Faults
	case errors.As(err, &fault):
		faults = append(faults, fault)
	}
	for _, f := range faults {
		if word, ok := fieldWord(f.Field); ok {
			text = strings.Replace(text, f.Field+" "+f.Message, strings.TrimSpace(word+" "+f.Message), 1)
		}
	}
	return text
}

// fieldWord is what a person calls a field of a message. The sentence about a
// recipient who may not be addressed names it already.
func fieldWord(field string) (word string, ok bool) {
	switch field {
	case "header.to":
		return "", true
	case "header.to.agent_id":
		return "the recipient", true
	case "header.from.agent_id":
		return "--from", true
	case "payload.params.text", "payload.data.text", "body":
		return "the text", true
	case "payload.timeout_ms":
		return "--timeout", true
	case "metadata.priority":
		return "--priority", true
	case "payload":
		return "the message", true
	case "payload.params.task":
		return "the task", true
	}
	return "", false
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
