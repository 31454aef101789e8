package agents

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"orchestrator-cc/protocol"
)

// claude is Claude Code. Its hooks come with a settings file of ours, so the
// user's own settings stay as they are and still apply:
//
//	SessionStart -> ready        UserPromptSubmit -> accepted     PreToolUse, PostToolUse -> progress
//	Stop -> the exact answer     StopFailure -> failed            PermissionRequest -> a person decides
type claude struct{}

// Hooks must not hold the program up. Only a permission takes as long as the
// person who decides.
const (
	hookSeconds       = 10
	permissionSeconds = 24 * 60 * 60
)

func (claude) start(p Program, m memory) (args, env []string, err error) {
	type command struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type matcher struct {
		Hooks []command `json:"hooks"`
	}
	hooks := map[string][]matcher{}
	for _, event := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
		"Notification", "PermissionRequest", "Stop", "StopFailure", "SessionEnd",
	} {
		seconds := hookSeconds
		if event == "PermissionRequest" {
			seconds = permissionSeconds
		}
		hooks[event] = []matcher{{[]command{{"command", p.hookCommand(event), seconds}}}}
	}
	settings, servers := filepath.Join(p.Folder, "settings.json"), filepath.Join(p.Folder, "mcp.json")
	if err := writeJSON(settings, map[string]any{
		"hooks": hooks, "permissions": map[string]any{"allow": []string{"mcp__" + mcpName}},
	}); err != nil {
		return nil, nil, err
	}
	if err := writeJSON(servers, map[string]any{"mcpServers": map[string]any{mcpName: map[string]any{
		"command": p.Self, "args": []string{"mcp"}, "env": paneEnvironment(func(name string) string { return "${" + name + "}" }),
	}}}); err != nil {
		return nil, nil, err
	}
	args = []string{"--mcp-config", servers, "--settings", settings}
	if slices.Contains(p.Command, "--session-id") || slices.Contains(p.Command, "--resume") || slices.Contains(p.Command, "--continue") {
		return args, nil, nil // whoever configured it chose the conversation
	}
	if m.resumable() {
		return append(args, "--resume", m.Session), nil, nil
	}
	return append(args, "--session-id", m.Session), nil, nil
}

func (claude) hear(p Program, m *memory, event string, data []byte) (Word, error) {
	var in struct {
		Session    string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Prompt     string `json:"prompt"`
		Turn       string `json:"prompt_id"`
		Answer     string `json:"last_assistant_message"`
		Error      string `json:"error"`
		Details    string `json:"error_details"`
		toolCall
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Word{}, err
	}
	// The id changes when a person clears or forks the conversation.
	if in.Session != "" && in.Transcript != "" {
		m.Session, m.Transcript = in.Session, in.Transcript
	}
	switch event {
	case "SessionStart":
		m.Resuming = false
		return Word{Reports: append(m.fail("its conversation was ended"), protocol.Report{Event: protocol.ReportReady})}, nil
	case "UserPromptSubmit":
		return Word{Reports: m.begin(in.Prompt, in.Turn)}, nil
	case "Stop":
		if in.Turn != m.Turn {
			return Word{}, nil // of what needed no prompt, such as a shell command
		}
		return m.stop(p, in.Answer), nil
	case "StopFailure":
		if in.Error == claudeLimited {
			return Word{Reports: m.wall(claudeFailure(in.Error, in.Details, in.Answer))}, nil
		}
		return Word{Reports: m.fail(claudeFailure(in.Error, in.Details, in.Answer))}, nil
	case "PostToolUse":
		return Word{Reports: m.read(in.source())}, nil
	case "PermissionRequest":
		return in.question(*m), nil
	}
	return Word{Reports: m.alive()}, nil
}

// claudeLimited is Claude Code's word for a quota or a rate limit.
const claudeLimited = "rate_limit"

// toolCall is what PermissionRequest tells, in every program that has it.
type toolCall struct {
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
}

// What a model is told of a call that does not happen.
const (
	denied   = "A person has denied this."
	taskOver = "The task is over. Stop."
)

func (t toolCall) question(m memory) Word {
	decision := func(d map[string]any) []byte {
		return mustJSON(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": d}})
	}
	return Word{Reports: m.alive(), Ask: &Question{
		Tool: t.Tool, Input: t.Input,
		Allow: decision(map[string]any{"behavior": "allow"}),
		Deny:  decision(map[string]any{"behavior": "deny", "message": denied}),
		Over:  decision(map[string]any{"behavior": "deny", "message": taskOver}),
	}}
}

// claudeFailure words why the model gave no answer, as exactly as it is told.
func claudeFailure(kind, details, shown string) string {
	text := "the model gave no answer"
	for _, part := range []string{kind, details, shown} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// mustJSON encodes what is always encodable, and leaves every character as it
// is where JSON lets it.
func mustJSON(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
