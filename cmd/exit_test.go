package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	coded := func(c protocol.Code) error { return fmt.Errorf("send: %w", protocol.Faultf(c, "x")) }
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"plain", errors.New("x"), 1},
		{"shown", errShown, 1},
		{"usage", usagef("x"), 2},
		{"usage with a hint", withHint(usagef("x"), "y"), 2},
		{"invalid", coded(protocol.CodeInvalid), 2},
		{"version", coded(protocol.CodeVersion), 2},
		{"too large", coded(protocol.CodeTooLarge), 2},
		{"unknown agent", coded(protocol.CodeUnknownAgent), 2},
		{"several faults", &protocol.Problems{Faults: []*protocol.Fault{protocol.Invalid("a", "b")}}, 2},
		{"forbidden", coded(protocol.CodeForbidden), 3},
		{"impostor", coded(protocol.CodeImpostor), 3},
		{"no hub", fmt.Errorf("find: %w", errNoHub), 4},
		{"hub away", fmt.Errorf("ask: %w", api.ErrUnreachable), 4},
		{"timeout", coded(protocol.CodeTimeout), 5},
		{"expired", coded(protocol.CodeExpired), 5},
		{"deadline", fmt.Errorf("wait: %w", context.DeadlineExceeded), 5},
		{"not found", coded(protocol.CodeNotFound), 1},
		{"conflict", coded(protocol.CodeConflict), 1},
		{"limit", coded(protocol.CodeLimit), 1},
		{"storage", coded(protocol.CodeStorage), 1},
		{"agent died", coded(protocol.CodeAgentDied), 1},
		{"cancelled", coded(protocol.CodeCancelled), 1},
		{"interrupted", context.Canceled, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := exitCode(tt.err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		err        error
		text, hint string
	}{
		{"plain", errors.New("a"), "a", ""},
		{"fault with a cure", fmt.Errorf("step: %w", protocol.Faultf(protocol.CodeLimit, "too many").Cure("wait")), "step: too many", "wait"},
		{"forbidden", &protocol.Fault{Code: protocol.CodeForbidden, Field: "header.to", Message: "a may not", Hint: "ask"}, "a may not", "ask"},
		{"field", protocol.Invalid("payload.params.text", "is empty"), "the text is empty", ""},
		{"sender", &protocol.Fault{Code: protocol.CodeImpostor, Field: "header.from.agent_id", Message: "names a, but the sender is b", Hint: "leave it out"}, "--from names a, but the sender is b", "leave it out"},
		{"field for programs", protocol.Invalid("payload.data", "is missing"), "payload.data is missing", ""},
		{"several fields", &protocol.Problems{Faults: []*protocol.Fault{protocol.Invalid("payload.params.text", "is empty"), protocol.Invalid("metadata.priority", "is bad")}},
			"the text is empty; --priority is bad", ""},
		{"hint", withHint(errors.New("a"), "type %s", "b"), "a", "type b"},
		{"usage", usagef("a"), "a", "see: occ send --help"},
		{"closed", fmt.Errorf("make it: %w", fs.ErrPermission), "make it: permission denied", "what is closed to you, and the cure: orchestrator-cc doctor"},
		{"hub away", api.ErrUnreachable, "no hub answers", "look at it with: orchestrator-cc doctor; start it with: orchestrator-cc up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, hint := explain(tt.err, "occ send")
			if text != tt.text || hint != tt.hint {
				t.Errorf("got %q, %q, want %q, %q", text, hint, tt.text, tt.hint)
			}
		})
	}
}
