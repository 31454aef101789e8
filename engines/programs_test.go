package engines

import (
	"encoding/json"
	"strings"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// program is a real agent program: how it is pointed at the scripted model, and
// what it can do.
type program struct {
	name      string
	installed bool // by scripts/engines.sh; one of ours is not
	slow      bool // to start; see core
	// prepare writes what the program wants to find in its home and returns
	// the environment it needs.
	prepare func(*company) map[string]string
	channel bool // it tells the exact answer
	words   bool // and its words while they are written
	most    int  // bytes of a prompt it takes; 0 is any
	// retypes is what its composer makes of some characters: pairs of old and new.
	retypes []string
	resumes bool     // it goes on with its conversation after a crash
	mends   bool     // it can be asked for a forgotten marker
	files   []string // of the user, in the home, which must stay as they are
	own     string   // what stands in them
	// settings are further lines of its description in the project's YAML.
	settings string
	// distrust makes it ask whether the folder or our hooks are trusted, nil
	// where it never does; consent are the keys that say yes.
	distrust func(*company)
	consent  []string
	// shell is how its model asks for a command, and asks the tool's name as
	// the program tells it to a person.
	shell func(command string) (tool string, input any)
	asks  string
	// helper is how its model has a subagent do something and waits for it, told
	// what its last tool gave back; nil where it has none.
	helper func(errand, result string) (tool string, input any)
	// report is how its subagents' model says that it is done, nil where a text is enough.
	report func(text string) (tool string, input any)
}

const apiKey = "sk-ant-loopback-0123456789abcdef"

func claude() program {
	return program{
		name: "claude", installed: true, channel: true,
		prepare: func(c *company) map[string]string {
			c.write("home/.claude.json", encode(map[string]any{
				"hasCompletedOnboarding": true, "theme": "dark",
				"customApiKeyResponses": map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}},
				"projects":              map[string]any{c.project: map[string]any{"hasTrustDialogAccepted": true}},
			}))
			return map[string]string{
				"ANTHROPIC_BASE_URL": c.model.URL, "ANTHROPIC_API_KEY": apiKey,
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
			}
		},
		retypes: []string{"\t", "    "},
		resumes: true, mends: true,
		files: []string{".claude/settings.json", ".claude/CLAUDE.md"}, own: "{}\n",
		consent: []string{"Enter"},
		distrust: func(c *company) {
			c.write("home/.claude.json", encode(map[string]any{
				"hasCompletedOnboarding": true, "theme": "dark",
				"customApiKeyResponses": map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}},
			}))
		},
		shell: func(command string) (string, any) {
			return "Bash", map[string]any{"command": command, "description": "a test"}
		},
		asks: "Bash",
		helper: func(errand, result string) (string, any) {
			return "Agent", map[string]any{"description": "an errand", "prompt": errand, "subagent_type": "general-purpose"}
		},
	}
}

func codex() program {
	return program{
		name: "codex", settings: "    trust_hooks: true\n", installed: true, channel: true, resumes: true, mends: true,
		files: []string{".codex/AGENTS.md"}, own: "be kind\n",
		prepare: func(c *company) map[string]string {
			c.write("home/.codex/config.toml", strings.Join([]string{
				`model = "gpt-5-loopback"`, `model_provider = "loopback"`, `check_for_update_on_startup = false`,
				`[model_providers.loopback]`, `name = "loopback"`, `base_url = "` + c.model.URL + `/v1"`, `env_key = "LOOPBACK_KEY"`, `wire_api = "responses"`,
				`[projects."` + c.project + `"]`, `trust_level = "trusted"`, "",
			}, "\n"))
			return map[string]string{"LOOPBACK_KEY": "x", "CODEX_HOME": c.home() + "/.codex"}
		},
		consent: []string{"Down", "Enter"},
		distrust: func(c *company) {
			c.rewrite("trust_hooks: true", "trust_hooks: false")
		},
		shell: func(command string) (string, any) {
			return "exec_command", map[string]any{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "a test"}
		},
		asks: "Bash",
		helper: func(errand, result string) (string, any) {
			var spawned struct {
				Agent string `json:"agent_id"`
			}
			if json.Unmarshal([]byte(result), &spawned) == nil && spawned.Agent != "" {
				return "multi_agent_v1/wait_agent", map[string]any{"targets": []string{spawned.Agent}}
			}
			return "multi_agent_v1/spawn_agent", map[string]any{"message": errand}
		},
	}
}

func gemini() program {
	return program{
		helper: func(errand, _ string) (string, any) {
			return "invoke_agent", map[string]any{"agent_name": "generalist", "prompt": errand}
		},
		report: func(text string) (string, any) {
			return "complete_task", map[string]any{"result": map[string]any{"response": text}}
		},
		name: "gemini", installed: true, slow: true, channel: true, resumes: true, mends: true,
		files: []string{".gemini/settings.json", ".gemini/GEMINI.md"}, own: "be kind\n",
		prepare: func(c *company) map[string]string {
			c.write("home/.gemini/settings.json", encode(map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}},
				"general":  map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
				"privacy":  map[string]any{"usageStatisticsEnabled": false},
				"model":    map[string]any{"name": "gemini-loopback"},
			}))
			return map[string]string{
				"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": c.model.URL, "GEMINI_TELEMETRY_ENABLED": "false",
				"TMPDIR": c.home(), // for what it writes about errors
			}
		},
		shell: func(command string) (string, any) {
			return "run_shell_command", map[string]any{"command": command, "description": "a test"}
		},
		asks: "run_shell_command",
	}
}

func opencode() program {
	return program{
		name: "opencode", installed: true, slow: true, channel: true, words: true, resumes: true, mends: true,
		files: []string{".config/opencode/AGENTS.md"}, own: "be kind\n",
		prepare: func(c *company) map[string]string {
			c.write("home/.config/opencode/opencode.json", encode(map[string]any{
				"permission": map[string]any{"bash": "ask"},
				"autoupdate": false, "model": "loopback/m", "small_model": "loopback/m", "share": "disabled",
				"provider": map[string]any{"loopback": map[string]any{
					"npm": "@ai-sdk/openai-compatible", "name": "loopback",
					"options": map[string]any{"baseURL": c.model.URL + "/v1", "apiKey": "x"},
					"models":  map[string]any{"m": map[string]any{"name": "m", "tool_call": true}},
				}},
			}))
			c.copy("home/.config/opencode", "opencode-library")
			return map[string]string{
				"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
				"TMPDIR": c.home(), // for a library of 13 MB, which each start leaves there
			}
		},
		shell: func(command string) (string, any) {
			return "bash", map[string]any{"command": command, "description": "a test"}
		},
		asks: "bash",
		helper: func(errand, result string) (string, any) {
			return "task", map[string]any{"description": "an errand", "prompt": errand, "subagent_type": "general"}
		},
	}
}

func chat() program {
	return program{
		name: "chat",
		prepare: func(c *company) map[string]string {
			return map[string]string{"CHAT_URL": c.model.URL, "CHAT_MODEL": "loopback"}
		},
	}
}

// counts is what a program tells of what its model took: some formats know
// nothing of what is written to a cache, or nothing of caches at all.
func (p program) counts(t modeltest.Took) protocol.Tokens {
	if p.name == "chat" {
		return protocol.Tokens{Input: int64(t.Input + t.CacheWrite + t.CacheRead), Output: int64(t.Output)}
	}
	return protocol.Tokens{Input: int64(t.Input + t.CacheWrite), Cached: int64(t.CacheRead), Output: int64(t.Output)}
}

func (p program) retyped(text string) string { return strings.NewReplacer(p.retypes...).Replace(text) }

func encode(value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data)
}

func programs() []program { return []program{claude(), codex(), gemini(), opencode()} }
