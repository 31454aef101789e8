package engines

import (
	"strings"
	"time"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// acting is how a recorder brings a program into its states.
type acting struct {
	voice      func(*stage, line) (body string, begin func()) // how its agent is made to do something
	taken      func(*stage) bool                              // the agent has the last prompt
	command    []string                                       // that starts it, where its engine has none
	lines      bool                                           // it reads lines, and has no troubles with a model
	thinking   string                                         // what its screen means while it thinks
	works      string                                         // what it shows then, where that takes a while
	notes      bool                                           // it draws an answer that comes as a note of its work
	streams    string                                         // and while an answer comes, "" where it draws only whole ones
	interrupts string                                         // what it shows while it can be interrupted
	begun      string                                         // what it shows once it takes keys, where its composer is there earlier
	clear      []string                                       // keys that empty the composer
	menu       bool                                           // it has commands that begin with a slash
	palette    string                                         // the key that opens its list of everything
	exit       string                                         // what a person types to end it
	resume     []string                                       // arguments that go on with the last conversation
	careful    []string                                       // arguments, and environment, with which it asks before it uses a tool
	wary       map[string]string
	asks       string // what its dialog about a tool shows
	shell      func(command string) *modeltest.Tool
	edit       func(path string, lines []string) *modeltest.Tool
	wall       string            // the message of an error 429, "" where it shows none
	retries    string            // what it shows while it waits for the end of a limit by itself, "" where it never does
	quota      string            // the format in which it is told that a subscription's quota is used up, "" where it knows none
	quotaAsks  bool              // it then asks what to do
	member     map[string]string // the environment of a subscription, where it tells of quotas only then
	first      []first
}

// first is a dialog that a program begins with in a certain home.
type first struct {
	name    string
	prepare func(s *stage, env map[string]string)
	shows   string
	means   string
}

func actingOf(name string) acting {
	var a acting
	switch name {
	case "claude":
		a = actingClaude()
	case "codex":
		a = actingCodex()
	case "gemini":
		a = actingGemini()
	case "opencode":
		a = actingOpenCode()
	case "chat":
		return actingChat()
	case "builtin":
		return actingBuiltin()
	default:
		return actingLines()
	}
	a.voice, a.taken = scripted, func(s *stage) bool { return len(received(s.company.model)) == s.said }
	a.thinking, a.interrupts, a.menu = isWorking, "still at it", true
	return a
}

// willDo is what the model says before it uses a tool.
const willDo = "I will do that."

// scripted has the model at the other end do it.
func scripted(s *stage, l line) (string, func()) {
	gate := make(chan struct{})
	s.model.on(l.body, func(c modeltest.Call, _ protocol.Prompt) modeltest.Turn {
		if l.tool != nil && c.Result() == "" {
			return modeltest.Turn{Text: willDo, Tool: l.tool}
		}
		<-gate
		turn := l.turn
		turn.Text = l.shown
		return turn
	})
	return l.body, func() { close(gate) }
}

const limited = "This request would exceed your account's rate limit. Please try again later."

func actingClaude() acting {
	return acting{
		streams: isSilent, clear: []string{"C-c"}, exit: "/exit", resume: []string{"--continue"},
		asks: `Do you want to `, wall: limited, retries: "Retrying in",
		quota: "anthropic", quotaAsks: true,
		member: map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-loopback"},
		shell: func(command string) *modeltest.Tool {
			return &modeltest.Tool{Name: "Bash", Input: map[string]any{"command": command, "description": "Note the year"}}
		},
		edit: func(path string, lines []string) *modeltest.Tool {
			return &modeltest.Tool{Name: "Write", Input: map[string]any{"file_path": path, "content": strings.Join(lines, "\n") + "\n"}}
		},
		first: []first{
			{"trust", func(s *stage, _ map[string]string) { s.program.distrust(s.company) }, "trust this folder", isDialog},
			{"sign-in", func(s *stage, env map[string]string) {
				s.write("home/.claude.json", encode(map[string]any{
					"theme": "dark", "hasCompletedOnboarding": true, "projects": map[string]any{s.project: map[string]any{"hasTrustDialogAccepted": true}},
				}))
				delete(env, "ANTHROPIC_API_KEY")
			}, "Not logged in", isSignedOut},
			{"custom-key", func(s *stage, _ map[string]string) {
				s.write("home/.claude.json", encode(map[string]any{
					"theme": "dark", "hasCompletedOnboarding": true, "projects": map[string]any{s.project: map[string]any{"hasTrustDialogAccepted": true}},
				}))
			}, "custom API key", isDialog},
		},
	}
}

func actingCodex() acting {
	return acting{
		streams: isSilent, begun: `^  gpt-5-loopback .*· `, clear: []string{"C-c"}, exit: "/quit",
		resume: []string{"resume", "--last"}, careful: []string{"--no-daemon", "-a", "on-request", "-s", "read-only"},
		asks: `Would you like to|Allow command`, wall: limited, retries: "Reconnecting",
		quota: "responses",
		shell: func(command string) *modeltest.Tool {
			return &modeltest.Tool{Name: "exec_command", Input: map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "to note the year"}}
		},
		edit: func(path string, lines []string) *modeltest.Tool {
			patch := "*** Begin Patch\n*** Add File: " + path + "\n+" + strings.Join(lines, "\n+") + "\n*** End Patch"
			return &modeltest.Tool{Name: "exec_command", Input: map[string]any{"cmd": "apply_patch <<'EOF'\n" + patch + "\nEOF"}}
		},
		first: []first{
			{"trust", func(s *stage, _ map[string]string) {
				s.codexConfig(`check_for_update_on_startup = false`)
				s.write("home/project/.git/HEAD", "ref: refs/heads/main\n") // it asks only about repositories
			}, "Trust this folder", isDialog},
			{"sign-in", func(s *stage, _ map[string]string) { s.write("home/.codex/config.toml", "") }, "Sign in with|API key", isDialog},
			{"update", func(s *stage, _ map[string]string) {
				s.codexConfig(`[projects."`+s.project+`"]`, `trust_level = "trusted"`)
				s.write("home/.codex/version.json", encode(map[string]any{"latest_version": "9.9.9", "last_checked_at": time.Now().UTC().Format(time.RFC3339Nano), "dismissed_version": nil}))
			}, "Update available|Update now", isDialog},
		},
	}
}

// codexConfig points Codex at the model, with some settings instead of the usual.
func (s *stage) codexConfig(more ...string) {
	s.write("home/.codex/config.toml", strings.Join(append([]string{
		`model = "gpt-5-loopback"`, `model_provider = "loopback"`, `model_providers.loopback = {name = "loopback", base_url = "` + s.company.model.URL + `/v1", env_key = "LOOPBACK_KEY", wire_api = "responses"}`,
	}, more...), "\n")+"\n")
}

func actingGemini() acting {
	return acting{
		streams: isWorking, begun: "Type your message", clear: []string{"C-c"}, exit: "/quit", resume: []string{"--resume", "latest"},
		asks: `Allow execution|Apply this change`, quota: "gemini", quotaAsks: true,
		shell: func(command string) *modeltest.Tool {
			return &modeltest.Tool{Name: "run_shell_command", Input: map[string]any{"command": command, "description": "Note the year"}}
		},
		edit: func(path string, lines []string) *modeltest.Tool {
			return &modeltest.Tool{Name: "write_file", Input: map[string]any{"file_path": path, "content": strings.Join(lines, "\n") + "\n"}}
		},
		first: []first{
			{"trust", func(s *stage, _ map[string]string) { s.geminiSettings("gemini-api-key", true) }, "Do you trust", isDialog},
			{"sign-in", func(s *stage, env map[string]string) {
				s.geminiSettings("", false)
				delete(env, "GEMINI_API_KEY")
			}, "authenticate", isDialog},
			{"missing-key", func(s *stage, env map[string]string) {
				s.geminiSettings("gemini-api-key", false)
				delete(env, "GEMINI_API_KEY")
			}, "API Key", isDialog},
		},
	}
}

func actingOpenCode() acting {
	return acting{
		streams: isWorking, clear: []string{"C-c"}, exit: "/exit", resume: []string{"--continue"}, palette: "C-p",
		asks: `Permission required`, retries: "retrying in",
		wary: map[string]string{"OPENCODE_CONFIG_CONTENT": `{"permission":{"bash":"ask","edit":"ask"}}`},
		shell: func(command string) *modeltest.Tool {
			return &modeltest.Tool{Name: "bash", Input: map[string]any{"command": command, "description": "Note the year"}}
		},
		edit: func(path string, lines []string) *modeltest.Tool {
			return &modeltest.Tool{Name: "write", Input: map[string]any{"filePath": path, "content": strings.Join(lines, "\n") + "\n"}}
		},
		first: []first{
			{"sign-in", func(s *stage, _ map[string]string) {
				s.write("home/.config/opencode/opencode.json", `{"autoupdate": false}`)
			}, `ctrl\+p`, isReady},
		},
	}
}

// geminiSettings are Gemini CLI's, with a way to sign in and a care for trust.
func (s *stage) geminiSettings(auth string, trust bool) {
	security := map[string]any{"folderTrust": map[string]any{"enabled": trust}}
	if auth != "" {
		security["auth"] = map[string]any{"selectedType": auth}
	}
	s.write("home/.gemini/settings.json", encode(map[string]any{
		"security": security, "privacy": map[string]any{"usageStatisticsEnabled": false},
		"general": map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
	}))
}
