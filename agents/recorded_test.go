package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrator-cc/config"
)

// sizes are those that the recorder knows.
func sizes() []string { return []string{"80x24", "79x15", "160x48"} }

// states are what an agent program may show.
func states() []string {
	return []string{
		"ready", "draft", "draft-lines", "draft-pasted", "menu", "copy-mode", "exit",
		"thinking", "streaming", "answered", "answered-markdown", "answered-quoting", "answered-long", "interrupted", "resumed", "cleared",
		"permission-shell", "tool-running", "answered-tool", "permission-edit", "denied",
		"model-error", "wall", "wall-quota", "retrying", "trust", "sign-in",
	}
}

// ownStates are those that a single program has.
func ownStates(engine string) []string {
	return map[string][]string{
		"claude":   {"custom-key"},
		"codex":    {"update"},
		"gemini":   {"missing-key"},
		"opencode": {"palette"},
		"command":  {"answered-head", "answered-inline", "answered-wrapped", "answered-unseen"},
	}[engine]
}

// unshown says why a program never shows a state, in any size.
func unshown(engine string) map[string]string {
	const (
		noTools   = "it has no tools that it asks about in its pane"
		noAccount = "it needs no account and knows no first start"
		noModel   = "it has no model"
		anew      = "it begins anew after its end"
		oneLine   = "it reads lines: what is pasted is submitted line by line"
	)
	ours := map[string]string{
		"resumed": anew, "permission-shell": noTools, "tool-running": noTools, "answered-tool": noTools,
		"permission-edit": noTools, "denied": noTools, "trust": noAccount, "sign-in": noAccount, "wall-quota": noAccount,
		"retrying": "it fails at a limit at once",
	}
	with := func(more map[string]string) map[string]string {
		for state, why := range ours {
			more[state] = why
		}
		return more
	}
	switch engine {
	case "gemini":
		return map[string]string{
			"wall":     "it goes on trying for minutes, and shows nothing but its work",
			"retrying": "it tells of its tries only after several, minutes later",
		}
	case "opencode":
		return map[string]string{
			"wall":       "it waits for the end of a limit by itself; see retrying",
			"wall-quota": "it knows of no subscriptions; see retrying",
			"trust":      "it trusts every folder",
		}
	case "builtin":
		return with(map[string]string{"cleared": "it remembers nothing", "streaming": "it draws an answer when it is whole"})
	case "chat":
		return with(map[string]string{})
	case "command":
		return with(map[string]string{
			"draft-lines": oneLine, "draft-pasted": oneLine, "menu": "it has no commands", "cleared": "it remembers nothing",
			"streaming":   "nothing tells the beginning of an answer from an answer without its marker",
			"model-error": noModel, "wall": noModel,
		})
	}
	return nil
}

// Every state of every program is there in every size, or it is said why not;
// and nothing else is there.
func TestEveryStateIsRecorded(t *testing.T) {
	t.Parallel()
	for name := range config.Default().Engines {
		found, err := os.ReadDir(filepath.Join("testdata", name))
		if err != nil {
			t.Error(err)
			continue
		}
		var got, want []string
		for _, entry := range found {
			got = append(got, entry.Name())
		}
		why := unshown(name)
		for _, state := range append(states(), ownStates(name)...) {
			if why[state] != "" {
				continue
			}
			for _, size := range sizes() {
				want = append(want, state+"-"+size)
			}
		}
		for _, state := range want {
			if !slices.Contains(got, state) {
				t.Errorf("%s: got no %s, want it recorded", name, state)
			}
		}
		for _, state := range got {
			if !slices.Contains(want, state) {
				t.Errorf("%s: got %s, want nothing that is not known", name, state)
			}
		}
	}
}

// ofMachine is what tells of the machine and the person that recorded.
var ofMachine = regexp.MustCompile(`(^|[\s"'=:])/(root|home|Users)\b|/occ[1-9]|127\.0\.0\.1:[1-9]`)

// Recorded screens hold nothing of the machine that they come from.
func TestScreensAreNobodys(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*/*")
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(data), "\n") {
			if ofMachine.MatchString(line) || len(host) > 6 && strings.Contains(line, host) {
				t.Errorf("%s: got %q, want nothing of a machine", fmt.Sprintf("%s:%d", file, n+1), line)
			}
		}
	}
}
