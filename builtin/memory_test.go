package builtin_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// A conversation outlives its process, no longer than what a model is told, and
// not its being forgotten. A file that is none is said, and nothing is made of it.
func TestChatConversationIsKept(t *testing.T) {
	t.Parallel()
	const long = 100 << 10 // three of these are more than is told
	m := modeltest.New(t, func(c modeltest.Call) modeltest.Turn {
		return modeltest.Turn{Text: strings.Repeat("x", long) + c.Prompt()}
	})
	file := filepath.Join(t.TempDir(), "agent", "conversation.json")
	process := func(want int) func(body string) int {
		t.Helper()
		chat := chats(m)["ollama"]
		chat.File = file
		if got, err := chat.Recall(); err != nil || got != want {
			t.Fatalf("got %d exchanges, %v, want %d", got, err, want)
		}
		return func(body string) int {
			if body == "" {
				if err := chat.Forget(); err != nil {
					t.Fatal(err)
				}
				return 0
			}
			if _, err := chat.Reply(t.Context(), protocol.Prompt{Body: body}, func(string) {}); err != nil {
				t.Fatal(err)
			}
			calls := m.Calls()
			return len(calls[len(calls)-1].Turns)
		}
	}
	process(0)("first")
	talk := process(1)
	if got := talk("second"); got != 3 {
		t.Errorf("got %d parts told to the model, want the conversation of the process before", got)
	}
	talk("third")
	if data, err := os.ReadFile(file); err != nil || len(data) > 3*long {
		t.Errorf("got %d bytes (%v), want a file as short as what is told", len(data), err)
	}
	process(2)("")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no file after it was forgotten", err)
	}
	process(0)
	if err := os.WriteFile(file, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	chat := chats(m)["ollama"]
	chat.File = file
	if n, err := chat.Recall(); err == nil || n != 0 {
		t.Errorf("got %d exchanges, %v, want none and why", n, err)
	}
}
