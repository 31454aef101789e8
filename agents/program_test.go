package agents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/agents"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

func newProgram(t *testing.T, skill string) agents.Program {
	t.Helper()
	p := agents.Program{
		Agent: "agent", Engine: skill, Skill: skill, Command: []string{"prog", "--own"}, Brief: "be \"kind\"\n日本", Marker: testMarker,
		Folder: filepath.Join(t.TempDir(), "it's here"), Self: "/bin/self",
	}
	path, err := p.Save()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := agents.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, loaded); diff != "" {
		t.Fatalf("program on disk (-want +got):\n%s", diff)
	}
	return loaded
}

// hookCall is one hook and what is to come of it.
type hookCall struct {
	event string
	data  map[string]any
	want  []protocol.Report
	out   string // stands in what the hook prints; "" = it prints nothing
}

func prompt(req string) string {
	return protocol.Tag(req, "user") + "\nbody\n\n" + protocol.ClosingLine()
}

func TestHooks(t *testing.T) {
	t.Parallel()
	token := protocol.Token(testMarker, "abc123")
	accepted := protocol.Report{Event: protocol.ReportAccepted, Req: "abc123"}
	answer := func(text string) protocol.Report {
		return protocol.Report{Event: protocol.ReportAnswer, Req: "abc123", Text: text}
	}
	tests := []struct {
		name, skill string
		calls       []hookCall
	}{
		{"a whole turn", config.HooksClaude, []hookCall{
			{"SessionStart", nil, []protocol.Report{{Event: protocol.ReportReady}}, ""},
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"PostToolUse", nil, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123"}}, ""},
			{"PostToolUse", map[string]any{"tool_name": "Read", "tool_input": map[string]any{"file_path": "/p/a.go"}}, []protocol.Report{
				{Event: protocol.ReportProgress, Req: "abc123"}, {Event: protocol.ReportSource, Req: "abc123", Text: "/p/a.go"}}, ""},
			{"Stop", map[string]any{"last_assistant_message": "yes\n" + token}, []protocol.Report{answer("yes\n" + token)}, ""},
			{"Stop", map[string]any{"last_assistant_message": "again"}, nil, ""},
		}},
		{"a person's own prompt", config.HooksClaude, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": "hello\n", "prompt_id": "1"}, []protocol.Report{{Event: protocol.ReportTyped, Req: "typed1", Text: "hello"}}, ""},
			{"PreToolUse", nil, []protocol.Report{{Event: protocol.ReportProgress, Req: "typed1"}}, ""},
			{"Stop", map[string]any{"last_assistant_message": "of a shell command", "prompt_id": "2"}, nil, ""},
			{"Stop", map[string]any{"last_assistant_message": "without a marker", "prompt_id": "1"}, []protocol.Report{{Event: protocol.ReportAnswer, Req: "typed1", Text: "without a marker"}}, ""},
			{"UserPromptSubmit", map[string]any{"prompt": " \n"}, nil, ""},
		}},
		{"a turn that a person interrupts", config.HooksClaude, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123"), "prompt_id": "1"}, []protocol.Report{accepted}, ""},
			{"UserPromptSubmit", map[string]any{"prompt": "do this instead", "prompt_id": "2"}, []protocol.Report{
				{Event: protocol.ReportFailed, Req: "abc123", Text: "its turn was interrupted", Final: true},
				{Event: protocol.ReportTyped, Req: "typed1", Text: "do this instead"},
			}, ""},
			{"SessionStart", map[string]any{"source": "clear"}, []protocol.Report{
				{Event: protocol.ReportFailed, Req: "typed1", Text: "its conversation was ended"}, {Event: protocol.ReportReady},
			}, ""},
		}},
		{"a rate limit", config.HooksClaude, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"StopFailure", map[string]any{"error": "rate_limit", "last_assistant_message": "API Error: Request rejected (429)"},
				[]protocol.Report{{Event: protocol.ReportWall, Req: "abc123", Text: "the model gave no answer: rate_limit: API Error: Request rejected (429)"}}, ""},
		}},
		{"a forgotten marker", config.HooksClaude, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"Stop", map[string]any{"last_assistant_message": "yes"}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123", Text: "the answer lacks its marker and was asked for it"}}, `"block"`},
			{"Stop", map[string]any{"last_assistant_message": token}, []protocol.Report{answer("yes\n" + token)}, ""},
		}},
		{"a marker forgotten twice", config.HooksClaude, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"Stop", map[string]any{"last_assistant_message": "yes"}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123", Text: "the answer lacks its marker and was asked for it"}}, `"block"`},
			{"Stop", map[string]any{"last_assistant_message": "no"}, []protocol.Report{answer("yes\nno")}, ""},
		}},
		{"a model that fails", config.HooksClaude, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"StopFailure", map[string]any{"error": "server_error"}, []protocol.Report{{Event: protocol.ReportFailed, Req: "abc123", Text: "the model gave no answer: server_error"}}, ""},
		}},
		{"a turn that somebody interrupts", config.HooksCodex, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"Interrupt", nil, []protocol.Report{{Event: protocol.ReportFailed, Req: "abc123", Text: "its turn was interrupted"}}, ""},
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"Stop", map[string]any{"last_assistant_message": "yes"}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123", Text: "the answer lacks its marker and was asked for it"}}, `"block"`},
			{"Stop", map[string]any{"last_assistant_message": token}, []protocol.Report{answer("yes\n" + token)}, ""},
		}},
		{"a subagent's conversation", config.HooksCodex, []hookCall{
			{"UserPromptSubmit", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"UserPromptSubmit", map[string]any{"prompt": "an errand", "agent_id": "sub"}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123"}}, ""},
			{"Stop", map[string]any{"last_assistant_message": "its answer", "agent_id": "sub"}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123"}}, ""},
			{"Stop", map[string]any{"last_assistant_message": "yes\n" + token}, []protocol.Report{answer("yes\n" + token)}, ""},
		}},
		{"a conversation that is on file", config.HooksGemini, []hookCall{
			{"SessionStart", map[string]any{"source": "startup"}, []protocol.Report{{Event: protocol.ReportReady}}, "日本"},
			{"SessionStart", map[string]any{"source": "resume"}, []protocol.Report{{Event: protocol.ReportReady}}, ""},
			{"BeforeAgent", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, "日本"},
			{"AfterTool", map[string]any{"tool_name": "read_file", "tool_input": map[string]any{"file_path": "a.go"}}, []protocol.Report{
				{Event: protocol.ReportDecided, Req: "abc123"}, {Event: protocol.ReportProgress, Req: "abc123"}, {Event: protocol.ReportSource, Req: "abc123", Text: "a.go"}}, ""},
			{"AfterAgent", map[string]any{"prompt_response": "of an earlier turn"}, []protocol.Report{{Event: protocol.ReportFailed, Req: "abc123", Text: "its turn ended without an answer"}}, ""},
			{"BeforeAgent", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"AfterAgent", map[string]any{"said": []string{"user", prompt("abc123"), "gemini", "let me see", "gemini", "yes"}},
				[]protocol.Report{{Event: protocol.ReportProgress, Req: "abc123", Text: "the answer lacks its marker and was asked for it"}}, `"block"`},
			{"BeforeAgent", map[string]any{"prompt": "Your reply does not end with your marker."}, nil, ""},
			{"AfterAgent", map[string]any{"said": []string{"user", "Your reply does not end with your marker.", "gemini", token}}, []protocol.Report{answer("yes\n" + token)}, ""},
			{"BeforeAgent", map[string]any{"prompt": prompt("next99")}, []protocol.Report{{Event: protocol.ReportAccepted, Req: "next99"}}, ""},
			{"AfterAgent", map[string]any{"said": []string{"user", prompt("next99")}}, []protocol.Report{{Event: protocol.ReportFailed, Req: "next99", Text: "its turn ended without an answer"}}, ""},
			{"BeforeAgent", map[string]any{"prompt": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"AfterAgent", map[string]any{"said": []string{"user", prompt("next99"), "error", "an old one", "user", prompt("abc123"), "gemini", "let me", "error", "[API Error: no quota]"}},
				[]protocol.Report{{Event: protocol.ReportFailed, Req: "abc123", Text: "the model gave no answer: [API Error: no quota]"}}, ""},
		}},
		{"a person's own prompt, told with its conversation", config.HooksGemini, []hookCall{
			{"BeforeAgent", map[string]any{"prompt": "hello"}, []protocol.Report{{Event: protocol.ReportTyped, Req: "typed1", Text: "hello"}}, ""},
			{"AfterAgent", map[string]any{"prompt": "hello", "said": []string{"user", prompt("abc123"), "gemini", "older", "user", "hello", "gemini", "it is well"}},
				[]protocol.Report{{Event: protocol.ReportAnswer, Req: "typed1", Text: "it is well"}}, ""},
		}},
		{"events of a plugin", config.HooksOpenCode, []hookCall{
			{"ready", nil, []protocol.Report{{Event: protocol.ReportReady}}, ""},
			{"prompt", map[string]any{"session": "s", "text": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"tool", map[string]any{"session": "s", "tool_name": "read", "tool_input": map[string]any{"filePath": "/p/a.go"}}, []protocol.Report{
				{Event: protocol.ReportProgress, Req: "abc123"}, {Event: protocol.ReportSource, Req: "abc123", Text: "/p/a.go"}}, ""},
			{"tool", map[string]any{"session": "s", "tool_name": "bash", "tool_input": map[string]any{"command": "ls"}}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123"}}, ""},
			{"failed", map[string]any{"session": "s", "text": "aborted"}, []protocol.Report{{Event: protocol.ReportFailed, Req: "abc123", Text: "the model gave no answer: aborted"}}, ""},
			{"prompt", map[string]any{"session": "s", "text": prompt("abc123")}, []protocol.Report{accepted}, ""},
			{"answer", map[string]any{"session": "s", "text": "yes"}, []protocol.Report{{Event: protocol.ReportProgress, Req: "abc123", Text: "the answer lacks its marker and was asked for it"}}, `"block"`},
			{"answer", map[string]any{"session": "s", "text": token, "took": []protocol.Usage{{ID: "u"}}},
				[]protocol.Report{{Event: protocol.ReportUsage, Req: "abc123", Usage: &protocol.Usage{ID: "u"}}, answer("yes\n" + token)}, ""},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, tt.skill)
			transcript := filepath.Join(p.Folder, "conversation.jsonl")
			write(t, transcript, "")
			named := map[string]string{} // the random ids, in the order they came
			for i, call := range tt.calls {
				if call.data == nil {
					call.data = map[string]any{}
				}
				said, _ := call.data["said"].([]string)
				for k := 0; k < len(said); k += 2 {
					line, _ := json.Marshal(map[string]any{"type": said[k], "content": said[k+1]})
					write(t, transcript, string(line)+"\n")
				}
				call.data["session_id"], call.data["transcript_path"] = "s", transcript
				data, err := json.Marshal(call.data)
				if err != nil {
					t.Fatal(err)
				}
				w, err := p.Hear(call.event, data)
				if err != nil {
					t.Fatal(err)
				}
				for j, r := range w.Reports {
					if r.Event == protocol.ReportTyped {
						named[r.Req] = fmt.Sprintf("typed%d", len(named)+1)
					}
					if name, ok := named[r.Req]; ok {
						w.Reports[j].Req = name
					}
				}
				if diff := cmp.Diff(call.want, w.Reports); diff != "" {
					t.Errorf("call %d, %s (-want +got):\n%s", i, call.event, diff)
				}
				if !strings.Contains(string(w.Output), call.out) || call.out == "" && len(w.Output) > 0 {
					t.Errorf("call %d, %s: got output %q, want %q", i, call.event, w.Output, call.out)
				}
			}
		})
	}
}

// A conversation is taken up once it exists, and a new one begins where that
// did not work.
func TestStartGoesOn(t *testing.T) {
	t.Parallel()
	p := newProgram(t, config.HooksClaude)
	start := func() []string {
		t.Helper()
		argv, _, err := p.Start()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(argv[:2], p.Command) {
			t.Fatalf("got command %q, want it to begin with %q", argv, p.Command)
		}
		return argv[len(argv)-2:]
	}
	hear := func(event string, data map[string]any) {
		t.Helper()
		text, err := json.Marshal(data)
		if err == nil {
			_, err = p.Hear(event, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	begun := start()
	if again := start(); begun[0] != "--session-id" || !slices.Equal(begun, again) {
		t.Errorf("before the first word: got %q, then %q, want the same new conversation", begun, again)
	}
	transcript := filepath.Join(p.Folder, "transcript")
	if err := os.WriteFile(transcript, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	session := map[string]any{"session_id": begun[1], "transcript_path": transcript}
	hear("SessionStart", session)
	if got, want := start(), []string{"--resume", begun[1]}; !slices.Equal(got, want) {
		t.Errorf("after a crash: got %q, want %q", got, want)
	}
	hear("SessionStart", session)
	if got, want := start(), []string{"--resume", begun[1]}; !slices.Equal(got, want) {
		t.Errorf("after another crash: got %q, want %q", got, want)
	}
	if got := start(); got[0] != "--session-id" || got[1] == begun[1] {
		t.Errorf("after a start that never came up: got %q, want a new conversation", got)
	}
}

// A conversation that was to be forgotten is not taken up again, whatever the
// program says of itself, until it takes a prompt in another one.
// Gemini CLI is told by its defaults, which the user's own settings replace.
func TestGeminiDoesNotUpdateItself(t *testing.T) {
	t.Parallel()
	_, env, err := newProgram(t, config.HooksGemini).Start()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH=") })
	if at < 0 {
		t.Fatalf("got environment %q, want the path of its defaults", env)
	}
	_, path, _ := strings.Cut(env[at], "=")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ General map[string]bool }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"enableAutoUpdate": false}, got.General); diff != "" {
		t.Errorf("general (-want +got):\n%s", diff)
	}
}

func TestStartForgets(t *testing.T) {
	t.Parallel()
	for _, skill := range []string{config.HooksClaude, config.HooksCodex, config.HooksGemini, config.HooksOpenCode} {
		p := newProgram(t, skill)
		hear := func(event, session string) {
			t.Helper()
			transcript := filepath.Join(p.Folder, session)
			write(t, transcript, "")
			text, err := json.Marshal(map[string]any{"session_id": session, "session": session, "transcript_path": transcript, "prompt": "hello", "text": "hello"})
			if err == nil {
				_, err = p.Hear(event, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		goesOn := func(session string) bool {
			t.Helper()
			argv, _, err := p.Start()
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(argv, session)
		}
		ready, prompt := "SessionStart", map[string]string{config.HooksGemini: "BeforeAgent", config.HooksOpenCode: "prompt"}[skill]
		if skill == config.HooksOpenCode {
			ready = "ready"
		}
		if prompt == "" {
			prompt = "UserPromptSubmit"
		}
		if err := agents.BeginAnew(p.Folder); err != nil {
			t.Errorf("%s, before its first start: got %v, want nothing to forget", skill, err)
		}
		goesOn("")
		hear(prompt, "first")
		if !goesOn("first") {
			t.Errorf("%s: got another conversation after a crash, want the one it had", skill)
		}
		hear(prompt, "first")
		if err := agents.BeginAnew(p.Folder); err != nil {
			t.Fatal(err)
		}
		hear(ready, "first")
		if goesOn("first") {
			t.Errorf("%s: got the forgotten conversation, want a new one", skill)
		}
		hear(prompt, "second")
		if !goesOn("second") {
			t.Errorf("%s: got another conversation after a crash, want the new one", skill)
		}
	}
}

// write appends to a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
