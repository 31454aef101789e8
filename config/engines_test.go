package config_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrator-cc/config"

	"github.com/google/go-cmp/cmp"
)

func TestEmbeddedEngines(t *testing.T) {
	t.Parallel()
	engines := config.Default().Engines
	want := []string{"builtin", "chat", "claude", "codex", "command", "gemini", "opencode"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(engines))); diff != "" {
		t.Errorf("engines (-want +got):\n%s", diff)
	}
	for name, e := range engines {
		if e.Name != name || len(e.Submit) == 0 || len(e.Interrupt) == 0 || len(e.Composer) == 0 {
			t.Errorf("%s: got %+v, want name, keys and composer", name, e)
		}
	}
}

// The lines are what the programs were seen to draw.
func TestEngineLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		engine, line string
		want         []string // which patterns match
	}{
		{"claude", "❯", []string{"ready", "composer"}},
		{"claude", "❯\u00a0", []string{"ready", "composer"}},
		{"claude", "❯ 1. Yes, I trust this folder", []string{"ready", "dialog", "composer"}},
		{"claude", " Do you want to proceed?", []string{"dialog"}},
		{"claude", " Quick safety check: is this a project you trust?", []string{"dialog"}},
		{"claude", "❯ [Pasted text #1 +31 lines]", []string{"ready", "composer"}},
		{"claude", "✻ Baked for 0s", nil},
		{"claude", "✻ Baking… (3s · esc to interrupt)", []string{"busy"}},
		{"claude", "● The marker is CODING OK.", nil},
		{"codex", "› ", []string{"ready", "composer"}},
		{"codex", "• Working (3s • esc to interrupt)", []string{"busy"}},
		{"codex", "• CODING OK", nil},
		{"codex", "  Worked for <1s", nil},
		{"gemini", " >   Type your message", []string{"ready", "composer"}},
		{"gemini", "⠧ Thinking... (esc to cancel, 8s)", []string{"busy"}},
		{"gemini", "✦ RESEARCH OK", nil},
		{"opencode", "┃  say something", []string{"composer"}},
		{"opencode", "   tab agents  ctrl+p commands", []string{"ready"}},
		{"codex", "  Worked for <1s • 03:32", []string{"footer"}},
		{"opencode", "▣  Build · m · 1.4s", nil},
		{"builtin", "❯ ", []string{"ready", "composer"}},
		{"builtin", "❯ hello … working 3s (esc to interrupt)", []string{"ready", "busy", "composer"}},
		{"builtin", "TESTING OK", nil},
		{"command", "> draft", []string{"composer"}},
		{"command", "TESTING OK", nil},
	}
	engines := config.Default().Engines
	for _, tt := range tests {
		e := engines[tt.engine]
		var got []string
		for _, set := range []struct {
			name string
			list []string
		}{{"ready", e.Ready}, {"busy", e.Busy}, {"dialog", e.Dialog}, {"composer", e.Composer}, {"footer", e.Footer}} {
			if slices.ContainsFunc(set.list, func(p string) bool { return regexp.MustCompile(p).MatchString(tt.line) }) {
				got = append(got, set.name)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", tt.engine, tt.line, diff)
		}
	}
}

func programs(cfg config.Config) []string {
	var list []string
	for _, a := range cfg.Agents {
		list = append(list, a.Engine+": "+strings.Join(a.Command, " "))
	}
	return list
}

func TestResolve(t *testing.T) {
	t.Parallel()
	only := func(names ...string) func(string) bool {
		return func(program string) bool { return slices.Contains(names, program) }
	}
	const mixed = `
engine: auto
agents:
- {name: grand_boss, role: grand_boss, marker: GRAND BOSS OK}
- {name: middle_manager, role: middle_manager, marker: MIDDLE MANAGER OK, engine: mine, env: {B: "2"}}
- {name: own, role: specialist_own, marker: OWN, command: [prog, -x]}
- {name: testing_specialist, role: specialist_testing, marker: TESTING OK, engine: claude, command: [wrapper, claude]}
engines:
  mine: {command: [my-agent], personality: paste, env: {A: "1", B: "1"}}
`
	tests := []struct {
		name, yaml, engine string
		installed          func(string) bool
		want               []string
		warning, err       string
	}{
		{"auto with nothing", "", "", only(), slices.Repeat([]string{"builtin: {self} agent"}, 5), "engine auto: claude is not installed, using the built-in engine", ""},
		{"auto with all", "", "", only("claude", "codex"), slices.Repeat([]string{"claude: claude"}, 5), "engine auto: using claude", ""},
		{"override", "", "codex", only("codex"), slices.Repeat([]string{"codex: codex --no-alt-screen"}, 5), "", ""},
		{"mixed", mixed, "", only("my-agent", "prog", "wrapper"),
			[]string{"builtin: {self} agent", "mine: my-agent", "command: prog -x", "claude: wrapper claude"}, "engine auto: claude is not installed, using the built-in engine", ""},
		{"override leaves agents with their own", mixed, "gemini", only("my-agent", "prog", "wrapper", "gemini"),
			[]string{"gemini: gemini", "mine: my-agent", "command: prog -x", "claude: wrapper claude"}, "", ""},
		{"missing", mixed, "builtin", only("my-agent", "wrapper"), nil, "",
			`agent own: engine command: program "prog" is not installed; install it, or use the built-in engine: orchestrator-cc up --engine builtin`},
		{"missing for all", "", "codex", only(), nil, "",
			`agents grand_boss, middle_manager, coding_writing_specialist, research_analysis_specialist, testing_specialist: engine codex: program "codex" is not installed; install it, or use the built-in engine: orchestrator-cc up --engine builtin`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before, err := config.Parse("c.yaml", []byte(tt.yaml), "")
			if err != nil {
				t.Fatal(err)
			}
			if tt.engine != "" {
				if before, err = before.WithEngine(tt.engine); err != nil {
					t.Fatal(err)
				}
			}
			cfg, err := before.Resolve(tt.installed)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("got error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, programs(cfg)); diff != "" {
				t.Errorf("programs (-want +got):\n%s", diff)
			}
			if got := strings.Join(cfg.Warnings, "\n"); got != tt.warning {
				t.Errorf("got warnings %q, want %q", got, tt.warning)
			}
			if len(before.Warnings) != 0 || before.Agents[0].Engine != "" || before.Agents[0].Command != nil {
				t.Errorf("got %+v changed, want the receiver left alone", before.Agents[0])
			}
		})
	}
}

// What auto stood for when a session began it stands for to its end.
func TestResolveKeepsAuto(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, kept, engine string
		installed          bool
		want, warning      string
	}{
		{"nothing chosen yet", "", "", true, "claude", "engine auto: using claude"},
		{"installed since", "builtin", "", true, "builtin", "engine auto: keeping builtin, as the session began; to choose again: orchestrator-cc down, then: up"},
		{"as it would be chosen now", "claude", "", true, "claude", "engine auto: using claude"},
		{"another engine is named", "builtin", "gemini", true, "gemini", ""},
		{"an engine that is none", "aider", "", false, "builtin", "engine auto: claude is not installed, using the built-in engine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default()
			cfg.Auto = tt.kept
			if tt.engine != "" {
				cfg.Engine = tt.engine
			}
			cfg, err := cfg.Resolve(func(string) bool { return tt.installed })
			if err != nil {
				t.Fatal(err)
			}
			kept := tt.want
			if tt.engine != "" {
				kept = ""
			}
			if got := cfg.Agents[0].Engine; got != tt.want || cfg.Auto != kept {
				t.Errorf("got engine %s and auto %q, want %s and %q", got, cfg.Auto, tt.want, kept)
			}
			if got := strings.Join(cfg.Warnings, "\n"); got != tt.warning {
				t.Errorf("got warnings %q, want %q", got, tt.warning)
			}
		})
	}
}

func TestResolveJoinsEnvironments(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("c.yaml", []byte(`
agents: [{name: grand_boss, role: grand_boss, marker: GRAND BOSS OK, engine: mine, env: {B: 2}}]
engines: {mine: {command: [x], env: {A: 1, B: 1}}}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err = cfg.Resolve(func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "2"}, cfg.Agents[0].Env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// A program in a pane does not update itself. What a project adds to an
// engine's environment leaves that so, and its own word on it counts.
func TestEnginesDoNotUpdateThemselves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, yaml, engine string
		want               map[string]string
	}{
		{"claude", "", "claude", map[string]string{"DISABLE_AUTOUPDATER": "1"}},
		{"opencode", "", "opencode", map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1"}},
		{"with more", `engines: {claude: {env: {A: 1}}}`, "claude", map[string]string{"A": "1", "DISABLE_AUTOUPDATER": "1"}},
		{"the project's word", `engines: {claude: {env: {DISABLE_AUTOUPDATER: ""}}}`, "claude", map[string]string{"DISABLE_AUTOUPDATER": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Parse("c.yaml", []byte(tt.yaml), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, cfg.Engines[tt.engine].Env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if got := config.Default().Engines["claude"].Env["A"]; got != "" {
				t.Errorf("got A=%s in the embedded engine, want it left alone", got)
			}
		})
	}
}

func TestWithEngineUnknown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"clode":   `engine "clode" is unknown; did you mean "claude"?`,
		"command": `engine "command" is unknown`,
	} {
		_, err := config.Default().WithEngine(name)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
