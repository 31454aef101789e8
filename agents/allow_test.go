package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// A recorded dialog about a tool call is told from one about another call, and
// from any other dialog.
func TestAsksAbout(t *testing.T) {
	t.Parallel()
	engine, err := EngineOf(config.Default().Engines["gemini"])
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		screen, tool, args string
		want               bool
	}{
		{"permission-shell-80x24", "run_shell_command", `{"command":"until [ -e go ]; do sleep 1; done; date +%Y > when.txt; echo finished"}`, true},
		{"permission-shell-80x24", "run_shell_command", `{"command":"until [ -e go ]; do sleep 2; done; date +%Y > when.txt; echo finished"}`, false},
		{"permission-edit-80x24", "write_file", `{"file_path":"/home/user/project/notes.txt"}`, true},
		{"permission-edit-80x24", "write_file", `{"file_path":"/home/user/project/other.txt"}`, false},
		{"permission-edit-80x24", "mcp_files_write", `{"key":"value"}`, true}, // its arguments are not shown
		{"trust-80x24", "mcp_files_write", `{"key":"value"}`, false},
		{"ready-80x24", "mcp_files_write", `{"key":"value"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.screen+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", "gemini", tt.screen, "screen.txt"))
			if err != nil {
				t.Fatal(err)
			}
			s := Screen{Visible: strings.Split(string(text), "\n")}
			if got := engine.asksAbout(s, protocol.ToolUse{Tool: tt.tool, Args: json.RawMessage(tt.args)}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
