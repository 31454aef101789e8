package agents

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator-cc/protocol"
)

// codex is Codex. Its hooks come with the command line, so the user's own file
// stays as it is and still applies:
//
//	UserPromptSubmit -> accepted     PreToolUse, PostToolUse -> progress
//	Stop -> the exact answer         Interrupt -> failed
//	PermissionRequest -> a person decides
//
// Codex runs a hook only once a person has reviewed it, which it keeps as a hash
// of what the hook is. Ours are the same at every agent, so one review holds for
// all of them. Whoever configured that they are trusted is not asked: the hashes
// of ours then go with them, for this start alone and for no other hook.
type codex struct{}

// codexProgram is the variable by which a hook, alike everywhere, finds its agent.
const codexProgram = "ORCHESTRATOR_CC_PROGRAM"

// codexEvents are the hooks of ours, by Codex's two names for each. Codex gives
// an interrupt no more than three seconds.
func codexEvents() []codexHook {
	return []codexHook{
		{"SessionStart", "session_start", hookSeconds}, {"UserPromptSubmit", "user_prompt_submit", hookSeconds},
		{"PreToolUse", "pre_tool_use", hookSeconds}, {"PostToolUse", "post_tool_use", hookSeconds},
		{"PermissionRequest", "permission_request", permissionSeconds},
		{"Stop", "stop", hookSeconds}, {"Interrupt", "interrupt", 3},
	}
}

type codexHook struct {
	event, label string
	seconds      int
}

func (codex) start(p Program, m memory) (args, env []string, err error) {
	// A shared background server would outlive the pane and call us from an
	// environment of its own.
	args = []string{"--no-daemon"}
	var trust []string
	for _, h := range codexEvents() {
		setting, hash := h.setting(quoted(p.Self) + ` hook --program "$` + codexProgram + `" ` + h.event)
		args = append(args, "-c", setting)
		trust = append(trust, fmt.Sprintf("%q={trusted_hash=%q}", "/<session-flags>/config.toml:"+h.label+":0:0", hash))
	}
	if p.TrustHooks {
		args = append(args, "-c", "hooks.state={"+strings.Join(trust, ",")+"}")
	}
	args = append(args, "-c", fmt.Sprintf(`mcp_servers.%s={command=%s,args=["mcp"],env_vars=%s,default_tools_approval_mode="approve"}`,
		mcpName, mustJSON(p.Self), mustJSON(paneVariables())))
	if p.Brief != "" {
		// TOML's strings have JSON's escapes.
		args = append(args, "-c", "developer_instructions="+string(mustJSON(p.Brief)))
	}
	if m.resumable() && !slices.Contains(p.Command, "resume") {
		args = append(args, "resume", m.Session)
	}
	return args, []string{codexProgram + "=" + filepath.Join(p.Folder, programFile)}, nil
}

// setting is one hook as Codex is told of it, and the hash by which it is
// trusted: that of its description as JSON in Codex's own form, with the keys
// in order.
func (h codexHook) setting(command string) (setting, hash string) {
	type handler struct {
		Async   bool   `json:"async"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Type    string `json:"type"`
	}
	identity := mustJSON(struct {
		Event string    `json:"event_name"`
		Hooks []handler `json:"hooks"`
	}{h.label, []handler{{false, command, h.seconds, "command"}}})
	return fmt.Sprintf(`hooks.%s=[{hooks=[{type="command",command=%s,timeout=%d}]}]`, h.event, mustJSON(command), h.seconds),
		fmt.Sprintf("sha256:%x", sha256.Sum256(identity))
}

func (codex) hear(p Program, m *memory, event string, data []byte) (Word, error) {
	var in struct {
		Session    string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Prompt     string `json:"prompt"`
		Answer     string `json:"last_assistant_message"`
		Agent      string `json:"agent_id"` // of a subagent
		toolCall
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Word{}, err
	}
	if in.Agent != "" {
		// A subagent has a conversation of its own, whose prompts and answers
		// are no turns here.
		m.beside(in.Transcript)
		if event == "PermissionRequest" {
			return in.question(*m), nil
		}
		return Word{Reports: m.alive()}, nil
	}
	if in.Session != "" && in.Transcript != "" {
		m.Session, m.Transcript, m.Resuming = in.Session, in.Transcript, false
	}
	switch event {
	case "SessionStart":
		return Word{Reports: []protocol.Report{{Event: protocol.ReportReady}}}, nil
	case "UserPromptSubmit":
		return Word{Reports: m.begin(in.Prompt, "")}, nil
	case "Stop":
		return m.stop(p, in.Answer), nil
	case "PermissionRequest":
		return in.question(*m), nil
	case "Interrupt":
		return Word{Reports: m.fail("its turn was interrupted")}, nil
	}
	return Word{Reports: m.alive()}, nil
}
