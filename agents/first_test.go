package agents_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/config"
	"orchestrator-cc/tmux/tmuxtest"
)

// In a new home one OpenCode goes first, and the others follow once it says
// that it runs; where the home has what it makes there, nobody waits, and
// nobody waits for one that has died.
func TestFirstInANewHome(t *testing.T) {
	t.Parallel()
	home, run := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	of := func(name string) agents.Program {
		return agents.Program{Agent: name, Engine: "opencode", Skill: config.HooksOpenCode, Folder: filepath.Join(run, name)}
	}
	start := func(name string) (waits func() bool, started chan error) {
		out, err := os.Create(filepath.Join(t.TempDir(), "screen"))
		if err != nil {
			t.Fatal(err)
		}
		started = make(chan error, 1)
		go func() { started <- of(name).Await(t.Context(), getenv, out) }()
		return func() bool {
			shown, err := os.ReadFile(out.Name())
			return err == nil && bytes.Contains(shown, []byte("this one follows"))
		}, started
	}
	goes := func(what string, started chan error) {
		t.Helper()
		select {
		case err := <-started:
			if err != nil {
				t.Fatalf("%s: got %v, want it started", what, err)
			}
		case <-time.After(tmuxtest.Wait):
			t.Fatalf("%s: got one that waits, want it started", what)
		}
	}
	for _, name := range []string{"one", "two", "three", "four"} {
		if _, err := of(name).Save(); err != nil {
			t.Fatal(err)
		}
	}
	mark := filepath.Join(run, "opencode.first")

	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, []byte(fmt.Sprintln(dead.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, first := start("one")
	goes("the first, after one that died", first)
	if got, err := os.ReadFile(mark); err != nil || strings.TrimSpace(string(got)) != fmt.Sprint(os.Getpid()) {
		t.Errorf("got a mark %q (%v), want this process", got, err)
	}
	waits, second := start("two")
	tmuxtest.Eventually(t, tmuxtest.Wait, waits)
	if err := os.MkdirAll(filepath.Join(home, ".config", "opencode", "node_modules", "@opencode-ai", "plugin"), 0o700); err != nil {
		t.Fatal(err)
	}
	select {
	case <-second:
		t.Error("got the second started while the first lays its files, want it to wait")
	case <-time.After(1500 * time.Millisecond):
	}
	if _, err := of("one").Hear("ready", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	goes("the second", second)
	_, third := start("three")
	goes("the first over a home without a database", third)
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("got %v, want a mark in a home that has only the library", err)
	}
	if _, err := of("three").Hear("ready", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(home, ".local", "share", "opencode")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "opencode.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, fourth := start("four")
	goes("one in a home that has both", fourth)
	if _, err := os.Stat(mark); err == nil {
		t.Error("got a mark, want none in a home that has it")
	}
}
