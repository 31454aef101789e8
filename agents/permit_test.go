package agents_test

import (
	"encoding/json"
	"testing"

	"orchestrator-cc/agents"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// hear gives a program one hook and returns what was said.
func hear(t *testing.T, p agents.Program, event string, data map[string]any) agents.Word {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Hear(event, text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What Gemini would ask about is asked for before, in the inbox; what only looks
// is not, and neither is what the user has told it not to ask about.
func TestGeminiAsksBefore(t *testing.T) {
	t.Parallel()
	shell := func(command string) map[string]any { return map[string]any{"command": command} }
	tests := []struct {
		name, tool string
		input      map[string]any
		args       []string
		want       bool
	}{
		{"a command", "run_shell_command", shell("make install"), nil, true},
		{"a command that only looks", "run_shell_command", shell("ls -l"), nil, false},
		{"one that looks and writes", "run_shell_command", shell("ls > list"), nil, true},
		{"a file", "write_file", map[string]any{"file_path": "/p/a"}, nil, true},
		{"a file, with edits allowed", "write_file", map[string]any{"file_path": "/p/a"}, []string{"--approval-mode", "auto_edit"}, false},
		{"a command, with edits allowed", "run_shell_command", shell("make"), []string{"--approval-mode=auto_edit"}, true},
		{"a command, with everything allowed", "run_shell_command", shell("make"), []string{"--yolo"}, false},
		{"a change", "replace", map[string]any{"file_path": "/p/a"}, nil, true},
		{"a page", "web_fetch", map[string]any{"prompt": "see https://example.com"}, nil, true},
		{"a foreign tool", "mcp_files_delete", nil, nil, true},
		{"a tool of ours", "mcp_orchestrator-cc_delegate", nil, nil, false},
		{"a look at a file", "read_file", map[string]any{"file_path": "/p/a"}, nil, false},
		{"a question to the user", "ask_user", nil, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, config.HooksGemini)
			p.Command = append(p.Command, tt.args...)
			w := hear(t, p, "BeforeTool", map[string]any{"tool_name": tt.tool, "tool_input": tt.input, "cwd": "/p"})
			if got := w.Ask != nil; got != tt.want {
				t.Errorf("got asked %v, want %v", got, tt.want)
			}
			if len(w.Output) > 0 {
				t.Errorf("got %s printed before anybody decided", w.Output)
			}
		})
	}
}

// The dialog of a call that was allowed is known by it, once; any other is
// nobody's.
func TestPermit(t *testing.T) {
	t.Parallel()
	dialog := func(details map[string]any) map[string]any {
		return map[string]any{"notification_type": "ToolPermission", "details": details, "cwd": "/p"}
	}
	tests := []struct {
		name, tool     string
		input          map[string]any
		shown, another map[string]any
	}{
		{"a command", "run_shell_command", map[string]any{"command": "make\nmake install"},
			map[string]any{"type": "exec", "command": "make\nmake install"}, map[string]any{"type": "exec", "command": "make"}},
		{"a file", "write_file", map[string]any{"file_path": "sub/a.go"},
			map[string]any{"type": "edit", "filePath": "/p/sub/a.go"}, map[string]any{"type": "edit", "filePath": "/p/a.go"}},
		{"a page by its address", "web_fetch", map[string]any{"url": "https://example.com"},
			map[string]any{"type": "info", "prompt": "Fetch https://example.com"}, map[string]any{"type": "info", "prompt": "https://example.com"}},
		{"a page", "web_fetch", map[string]any{"prompt": "read https://example.com"},
			map[string]any{"type": "info", "prompt": "read https://example.com"}, map[string]any{"type": "info", "prompt": ""}},
		{"a skill", "activate_skill", map[string]any{"name": "review"},
			map[string]any{"type": "info", "title": "Activate Skill: review"}, map[string]any{"type": "info", "title": "Activate Skill: deploy"}},
		{"a foreign tool", "mcp_files_delete", map[string]any{"path": "a"},
			map[string]any{"type": "mcp", "serverName": "files", "toolName": "delete"}, map[string]any{"type": "mcp", "serverName": "files", "toolName": "read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, config.HooksGemini)
			call := map[string]any{"tool_name": tt.tool, "tool_input": tt.input, "cwd": "/p"}
			allow := func() {
				t.Helper()
				w := hear(t, p, "BeforeTool", call)
				if w.Ask == nil || !w.Ask.Again {
					t.Fatalf("got %+v, want a question about what the program asks again", w)
				}
				if err := p.Permit("c1", *w.Ask); err != nil {
					t.Fatal(err)
				}
			}
			want := func(details map[string]any, id string) {
				t.Helper()
				w := hear(t, p, "Notification", dialog(details))
				if len(w.Reports) != 1 || w.Reports[0].Event != protocol.ReportAsking || w.Reports[0].Text != id {
					t.Errorf("got %+v, want a dialog by the confirmation %q", w.Reports, id)
				}
			}
			allow()
			want(tt.another, "")
			want(tt.shown, "c1")
			want(tt.shown, "")
			allow()
			hear(t, p, "AfterTool", call)
			want(tt.shown, "")
			allow()
			hear(t, p, "BeforeAgent", map[string]any{"prompt": prompt("abc123")})
			want(tt.shown, "")
		})
	}
}
