package house_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sound is a small house that breaks no rule.
func sound() map[string]string {
	return map[string]string{
		"protocol/protocol.go": `// Package protocol is a sample.
package protocol

import "errors"

var ErrGone = errors.New("gone")

// The Codex of the house: a comment may speak of anything.
var names = map[string]int{"a": 1}

func Find(names map[string]int) { names["b"] = 2 }
`,
		"config/config.go": `// Package config is a sample.
package config

import (
	"embed"
	"regexp"
	"orchestrator-cc/protocol"
	"github.com/rs/zerolog"
	"gopkg.in/yaml.v3"
)

//go:embed x.yaml
var files embed.FS

var word = regexp.MustCompile("x")

var _ protocol.Reader = (*reader)(nil)

const preferred = "claude"
`,
		"config/more.go":                 "package config\n",
		"config/config_test.go":          "package config_test\n\nimport (\n\t_ \"orchestrator-cc/hub\"\n\t\"time\"\n)\n\nvar n int // todo\n\nfunc init() { time.Sleep(n) }\n",
		"tmux/tmuxtest/tmuxtest.go":      "// Package tmuxtest is a sample.\npackage tmuxtest\n\nimport (\n\t_ \"orchestrator-cc/hub\"\n\t\"time\"\n)\n\nvar n int\n\nfunc wait() { time.Sleep(1) }\n",
		"investigate/investigate.go":     "// Package investigate counts TODO comments.\npackage investigate\n",
		"cmd/orchestrator-cc/main.go":    "// Command orchestrator-cc is a sample.\npackage main\n\nimport _ \"orchestrator-cc/cmd\"\n",
		"house_test.go":                  "package house_test\n",
		"hub/hub.go":                     "// Package hub is a sample.\npackage hub\n\nimport (\n\t_ \"orchestrator-cc/agents\"\n\t_ \"orchestrator-cc/hub/inner\"\n\t_ \"golang.org/x/sync/errgroup\"\n)\n",
		"agents/agents.go":               "// Package agents is a sample.\npackage agents\n\nimport _ \"orchestrator-cc/config\"\n",
		"personalities/personalities.go": "// Package personalities is a sample.\npackage personalities\n",
	}
}

func TestSoundHouseHasNoComplaint(t *testing.T) {
	t.Parallel()
	files := sound()
	h, complaints := build(files)
	for _, r := range rules() {
		complaints = append(complaints, r.find(h)...)
	}
	for _, c := range complaints {
		t.Errorf("got %s, want no complaint", c)
	}
}

// Every rule must be able to fail: each case breaks one thing in the sound house.
func TestRulesFindWhatIsBroken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\n", 81)
	tests := []struct {
		name, rule string
		files      map[string]string
		want       []string
	}{
		{"new room", "rooms are in the plan", map[string]string{"cellar/cellar.go": "package cellar"},
			[]string{`cellar/cellar.go: room "cellar" is not in the plan; add it to house_test.go`}},
		{"new room with tests only", "rooms are in the plan", map[string]string{"cellar/a_test.go": "package cellar"},
			[]string{`cellar/a_test.go: room "cellar" is not in the plan; add it to house_test.go`}},
		{"code at the root", "rooms are in the plan", map[string]string{"main.go": "package main"},
			[]string{`main.go: room "" is not in the plan; add it to house_test.go`}},
		{"closed door", "doors", map[string]string{"agents/a.go": `package agents; import _ "orchestrator-cc/tmux"`},
			[]string{"agents/a.go: room agents has no door to tmux"}},
		{"closed door from a folder below", "doors", map[string]string{"api/client/a.go": `package client; import _ "orchestrator-cc/hub"`},
			[]string{"api/client/a.go: room api has no door to hub"}},
		{"foreign library", "doors", map[string]string{"hub/a.go": `package hub; import _ "gopkg.in/yaml.v3"`},
			[]string{"hub/a.go: library gopkg.in/yaml.v3 does not belong into room hub"}},
		{"library of a similar name", "doors", map[string]string{"config/a.go": `package config; import _ "gopkg.in/yaml.v3x"`},
			[]string{"config/a.go: library gopkg.in/yaml.v3x does not belong into room config"}},
		{"test package in the product", "doors", map[string]string{"cmd/a.go": `package cmd; import _ "orchestrator-cc/tmux/tmuxtest"`},
			[]string{"cmd/a.go: orchestrator-cc/tmux/tmuxtest is for tests only"}},
		{"too deep", "depth", map[string]string{
			"cmd/a.go":      `package cmd; import _ "orchestrator-cc/hub"`,
			"protocol/a.go": `package protocol; import _ "orchestrator-cc/tmux"`,
			"tmux/a.go":     `package tmux; import _ "orchestrator-cc/web"`,
		}, []string{"cmd -> hub -> agents -> config -> protocol -> tmux -> web: more than 5 doors in a row"}},
		{"circle", "depth", map[string]string{"logs/a.go": `package logs; import _ "orchestrator-cc/bus"`, "bus/a.go": `package bus; import _ "orchestrator-cc/logs"`},
			[]string{"bus -> logs -> bus -> logs -> bus -> logs -> bus: more than 5 doors in a row", "logs -> bus -> logs -> bus -> logs -> bus -> logs: more than 5 doors in a row"}},
		{"vague name", "package names", map[string]string{"hub/util/util.go": "package util"},
			[]string{"hub/util: package util does not say what it holds"}},
		{"name unlike the folder", "package names", map[string]string{"hub/inner/a.go": "package other"},
			[]string{"hub/inner: package other is not named like its folder"}},
		{"no comment", "package comments", map[string]string{"ledger/ledger.go": "package ledger", "ledger/a.go": "package ledger"},
			[]string{"ledger/ledger.go: the package comment is missing"}},
		{"no file for the comment", "package comments", map[string]string{"ledger/a.go": "package ledger"},
			[]string{"ledger/ledger.go: the package comment is missing"}},
		{"second comment", "package comments", map[string]string{"config/more.go": "// Package config again.\npackage config"},
			[]string{"config/more.go: the package comment belongs into config/config.go"}},
		{"long file", "sizes", map[string]string{"config/a_test.go": "package config" + strings.Repeat("\n", 501)},
			[]string{"config/a_test.go: 501 lines, at most 500"}},
		{"long function", "sizes", map[string]string{"config/a.go": "package config\n\nfunc f() {" + long + "}\n"},
			[]string{"config/a.go:3: f has 82 lines, at most 80"}},
		{"sleep", "sleeps and inits", map[string]string{"hub/a.go": "package hub\n\nimport \"time\"\n\nfunc f() { go func() { time.Sleep(1) }() }\n"},
			[]string{"hub/a.go:5: time.Sleep; wait for a condition, with a deadline"}},
		{"init", "sleeps and inits", map[string]string{"hub/a.go": "package hub\n\nfunc init() {}\n\ntype x struct{}\n\nfunc (x) init() {}\n"},
			[]string{"hub/a.go:3: func init; build things where they are used"}},
		{"empty variable", "package variables", map[string]string{"hub/a.go": "package hub\n\nimport \"sync\"\n\nvar mu sync.Mutex\n"},
			[]string{"hub/a.go:5: package variable mu has no value, so it is there to be changed"}},
		{"exported variable", "package variables", map[string]string{"hub/a.go": "package hub\n\nvar Table = []int{1}\n"},
			[]string{"hub/a.go:3: package variable Table can be changed by other packages"}},
		{"made variable", "package variables", map[string]string{"hub/a.go": "package hub\n\nvar (\n\tq = make(chan int)\n\tp = &struct{}{}\n)\n"},
			[]string{"hub/a.go:4: package variable q is made to be filled", "hub/a.go:5: package variable p points to something that can be changed"}},
		{"written variable", "package variables", map[string]string{
			"hub/a.go": "package hub\n\nvar table = map[string]int{}\n\nvar list = []int{1}\n\nvar n = 1\n",
			"hub/b.go": "package hub\n\nfunc f() {\n\ttable[\"a\"] = 1\n\tdelete(table, \"a\")\n\tn++\n\tp := &list[0]\n\tfor n = range *p {\n\t}\n}\n",
		}, []string{
			"hub/b.go:4: package variable table is written to", "hub/b.go:5: package variable table is written to",
			"hub/b.go:6: package variable n is written to", "hub/b.go:7: package variable list is written to", "hub/b.go:8: package variable n is written to"}},
		{"agent program in a string", "agent programs", map[string]string{"hub/a.go": "package hub\n\nconst x = \"run claude now\"\n"},
			[]string{`hub/a.go:3: "claude" is an agent program, which only agents and config know`}},
		{"agent program in a name", "agent programs", map[string]string{"cmd/a.go": "package cmd\n\nfunc startGemini() {}\n"},
			[]string{`cmd/a.go:3: "Gemini" is an agent program, which only agents and config know`}},
		{"unfinished work", "unfinished work", map[string]string{"hub/a.go": "package hub\n\n// TODO: later\nfunc stubbed() {}\n\nconst x = \"a placeholder\"\n"},
			[]string{`hub/a.go:3: the word "TODO"; finish it, or say what it is`, `hub/a.go:4: the word "stub"; finish it, or say what it is`, `hub/a.go:6: the word "placeholder"; finish it, or say what it is`}},
		{"a stub where only to-do lists are a subject", "unfinished work", map[string]string{"investigate/a.go": "package investigate // a stub\n"},
			[]string{`investigate/a.go:1: the word "stub"; finish it, or say what it is`}},
	}
	tried := map[string]bool{}
	for _, tt := range tests {
		tried[tt.rule] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := sound()
			for path, text := range tt.files {
				files[path] = text
			}
			h, complaints := build(files)
			if len(complaints) > 0 {
				t.Fatalf("got %q, want the case to parse", complaints)
			}
			i := slices.IndexFunc(rules(), func(r rule) bool { return r.name == tt.rule })
			got := rules()[i].find(h)
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
	for _, r := range rules() {
		if !tried[r.name] {
			t.Errorf("rule %q: got no case that breaks it, want one", r.name)
		}
	}
}

func TestFileThatDoesNotParse(t *testing.T) {
	t.Parallel()
	_, complaints := build(map[string]string{"hub/hub.go": "package hub\n\nfunc {"})
	if len(complaints) != 1 || !strings.HasPrefix(complaints[0], "hub/hub.go:3:6:") {
		t.Errorf("got %q, want one complaint with its place", complaints)
	}
}
