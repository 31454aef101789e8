package protocol_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

func TestParsePrompt(t *testing.T) {
	t.Parallel()
	whole := protocol.Tag("k3v9q2", "user") + "\nline 1\n\nline 2\n" + protocol.ClosingLine()
	tests := []struct {
		name, text string
		want       protocol.Prompt
	}{
		{"whole", whole, protocol.Prompt{Req: "k3v9q2", From: "user", Body: "line 1\n\nline 2"}},
		{"newline at the end", whole + "\n", protocol.Prompt{Req: "k3v9q2", From: "user", Body: "line 1\n\nline 2"}},
		{"typed by a person", " hello \n", protocol.Prompt{From: "user", Body: "hello"}},
		{"tag inside the text", "see req-abc from x", protocol.Prompt{From: "user", Body: "see req-abc from x"}},
		{"tag alone", "req-abc from boss", protocol.Prompt{Req: "abc", From: "boss"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, protocol.ParsePrompt(tt.text)); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
		})
	}
}

// The token that ends an answer must not stand in the prompt that asks for it.
func TestPromptHidesItsToken(t *testing.T) {
	t.Parallel()
	prompt := protocol.Tag("k3v9q2", "user") + "\nbody\n" + protocol.ClosingLine()
	if token := protocol.Token("CODING OK", "k3v9q2"); strings.Contains(prompt, token) {
		t.Errorf("got the token %q in the prompt, want it absent", token)
	}
}
