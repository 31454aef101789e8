package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator-cc/tmux/tmuxtest"
)

// TestMain lets this binary be what a session runs: the hub and the agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "hub" || os.Args[1] == "agent") {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// realRig is an app in an empty project on a machine of its own: its tmux
// servers and sockets are in a folder that the test removes.
func realRig(t *testing.T) *rig {
	t.Helper()
	r := quietRig(tempPlace(t))
	r.getenv, r.environ = os.Getenv, os.Environ
	t.Cleanup(func() {
		fresh := quietRig(place{root: r.dir})
		fresh.getenv = os.Getenv
		if code := run(t.Context(), fresh.app, []string{"down"}); code != 0 && t.Context().Err() == nil {
			t.Errorf("down: got exit %d (%s)", code, fresh.err)
		}
	})
	return r
}

func ownMachine(t *testing.T) {
	t.Helper()
	_, env := tmuxtest.Socket(t)
	dir := tmuxtest.TmpDir(env)
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("TMUX", "")
	t.Setenv("TERM", "xterm-256color")
}

// again is the same project with empty voices.
func (r *rig) again() *rig {
	next := quietRig(place{root: r.dir})
	next.getenv, next.environ = r.getenv, r.environ
	return next
}

// TestRealCompany runs the verbs against the real hub in real tmux.
func TestRealCompany(t *testing.T) {
	ownMachine(t)
	r := realRig(t)
	t.Cleanup(func() { r.again().run(t, "down") })
	steps := []struct {
		name      string
		args      []string
		code      int
		out, text string
	}{
		{"up", []string{"up", "--engine", "builtin"}, 0, "tmux -L orchestrator-cc attach", ""},
		{"up again", []string{"up"}, 0, "testing_specialist", "already running"},
		{"status", []string{"status"}, 0, "middle_manager                idle", ""},
		{"an answer", []string{"send", "grand_boss", "/say forty-two"}, 0, "forty-two\nGRAND BOSS OK\n", ""},
		{"a delegation", []string{"send", "grand_boss", "/delegate middle_manager\n  /say planned"}, 0, "planned", ""},
		{"for programs", []string{"send", "--json", "testing_specialist", "/say x"}, 0, `"evidence": "channel"`, ""},
		{"unknown agent", []string{"send", "grand_bos", "x"}, 2, "", "did you mean grand_boss?"},
		{"as somebody else", []string{"send", "--from", "grand_boss", "middle_manager", "x"}, 3, "", "the sender is user"},
		{"a failure", []string{"send", "testing_specialist", "/fail no idea"}, 1, "", "no idea"},
		{"inbox", []string{"inbox"}, 0, "no idea", ""},
		{"log", []string{"log", "--agent", "middle_manager"}, 0, "grand_boss → middle_manager  task  /say planned", ""},
		{"tasks", []string{"tasks"}, 0, "needs_human", ""},
		{"stats", []string{"stats", "--json"}, 0, `"request": `, ""},
		{"doctor", []string{"doctor"}, 0, "ok   hub", ""},
		{"pause", []string{"pause", "testing_specialist"}, 0, "is paused", ""},
		{"paused", []string{"status"}, 0, "paused", ""},
		{"resume", []string{"resume", "testing_specialist"}, 0, "goes on", ""},
		{"attach without a terminal", []string{"attach"}, 2, "", "needs a terminal"},
		{"attach to nobody", []string{"attach", "nobody"}, 2, "", "the panes are"},
		{"down", []string{"down"}, 0, "is down", ""},
		{"down again", []string{"down"}, 0, "nothing is running", ""},
		{"after the end", []string{"send", "grand_boss", "x"}, 4, "", "orchestrator-cc up"},
		{"the journal stays", []string{"log"}, 0, "forty-two", ""},
	}
	for _, s := range steps {
		wantStep(t, r.again(), s.name, s.args, s.code, s.out, s.text)
	}
}

// TestRealRefusals lets the real ledger refuse what comes too late or means
// nothing in particular.
func TestRealRefusals(t *testing.T) {
	ownMachine(t)
	r := realRig(t)
	wantRun(t, r, []string{"up", "--engine", "builtin"}, 0, "", "")
	wantRun(t, r.again(), []string{"send", "testing_specialist", "/say done"}, 0, "done", "")
	ids := map[byte]int{}
	last := ""
	for range 17 { // two of them begin with the same of sixteen digits
		one := r.again()
		wantRun(t, one, []string{"send", "--async", "testing_specialist", "/say x"}, 0, "", "")
		last = strings.TrimSpace(one.out.String())
		ids[last[0]]++
	}
	for digit, n := range ids {
		if n > 1 {
			wantRun(t, r.again(), []string{"show", string(digit)}, exitUsage, "", "fits more than one task")
		}
	}
	eventually(t, func() bool {
		tasks := r.again()
		return tasks.run(t, "tasks") == 0 && !strings.Contains(tasks.out.String(), "pending") && !strings.Contains(tasks.out.String(), "in_progress")
	})
	wantRun(t, r.again(), []string{"cancel", last}, exitFailed, "", "hint:  see what became of it: orchestrator-cc show "+last)
	wantRun(t, r.again(), []string{"retry", last}, exitFailed, "", "for a new task: orchestrator-cc send AGENT TEXT")
	wantRun(t, r.again(), []string{"send", "user", "hi"}, exitDenied, "", "hint:  send it to an agent")
	wantRun(t, r.again(), []string{"down"}, 0, "is down", "")
}

func wantStep(t *testing.T, r *rig, name string, args []string, code int, out, text string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		wantRun(t, r, args, code, out, text)
	})
	if t.Failed() {
		t.FailNow()
	}
}

func TestRealAttach(t *testing.T) {
	ownMachine(t)
	r := realRig(t)
	wantRun(t, r, []string{"up", "--engine", "builtin"}, 0, "", "")
	at := r.again()
	at.inTerminal, at.app.out.terminal = true, true
	at.environ = func() []string { return append(os.Environ(), "TMUX=/tmp/other,1,0", "TMUX_PANE=%0") }
	var argv, env []string
	at.exec = func(_ string, a, e []string) error {
		argv, env = a, e
		return nil
	}
	if code := at.run(t, "attach", "testing_specialist"); code != 0 {
		t.Fatalf("got exit %d, want 0 (%s)", code, at.err)
	}
	if line := strings.Join(argv, " "); !strings.Contains(line, "-L orchestrator-cc") || !strings.Contains(line, "attach-session -t %") {
		t.Errorf("got %q, want an attach to the agent's pane", line)
	}
	if slices.ContainsFunc(env, func(pair string) bool {
		return strings.HasPrefix(pair, "TMUX=") || strings.HasPrefix(pair, "TMUX_PANE=")
	}) {
		t.Error("got TMUX in the environment, want it left out")
	}
	t.Setenv("TMUX", filepath.Join(os.Getenv("TMUX_TMPDIR"), "tmux-0", "orchestrator-cc")+",1,0")
	inside := r.again()
	inside.inTerminal, inside.app.out.terminal = true, true
	wantRun(t, inside, []string{"attach"}, exitFailed, "", "inside the session already")
	wantRun(t, r.again(), []string{"down"}, 0, "is down", "")
}

// TestRealNeighbours gives two projects a server each, and leaves a session of
// somebody else alone.
func TestRealNeighbours(t *testing.T) {
	ownMachine(t)
	one, two := realRig(t), realRig(t)
	wantRun(t, one, []string{"up", "--engine", "builtin"}, 0, "tmux -L orchestrator-cc attach", "")
	wantRun(t, two, []string{"up", "--engine", "builtin"}, 0, "tmux -L orchestrator-cc-"+place{root: two.dir}.hash()+" attach", "")
	wantRun(t, one.again(), []string{"down"}, 0, "is down", "")
	wantRun(t, two.again(), []string{"send", "grand_boss", "/say here"}, 0, "here", "")
	wantRun(t, two.again(), []string{"down"}, 0, "is down", "")
}

// TestRealHubThatCannotStart says why, and leaves nothing running.
func TestRealHubThatCannotStart(t *testing.T) {
	ownMachine(t)
	r := realRig(t)
	write(t, r, "logs", "a file where the journal's folder should be")
	wantRun(t, r, []string{"up", "--engine", "builtin"}, exitFailed, "", "messages.jsonl")
	if servers, _ := filepath.Glob(filepath.Join(os.Getenv("TMUX_TMPDIR"), "tmux-*", "*")); len(servers) > 0 {
		t.Errorf("got %v left, want no server", servers)
	}
	wantRun(t, r.again(), []string{"status"}, exitNoHub, "", "orchestrator-cc up")
	if err := os.Remove(filepath.Join(r.dir, "logs")); err != nil {
		t.Fatal(err)
	}
	wantRun(t, r.again(), []string{"up", "--engine", "builtin"}, 0, "grand_boss", "")
	wantRun(t, r.again(), []string{"down"}, 0, "is down", "")
}

func TestBadStarts(t *testing.T) {
	ownMachine(t)
	tests := []struct {
		name  string
		spoil func(*testing.T, *rig)
		args  []string
		want  string
	}{
		{"broken configuration", func(t *testing.T, r *rig) { write(t, r, "config/cc-cluster.yaml", "cluster:\n  nmae: x\n") }, nil, "cc-cluster.yaml:2:3: cluster.nmae"},
		{"where to mend it", func(t *testing.T, r *rig) { write(t, r, "config/cc-cluster.yaml", "cluster:\n  nmae: x\n") }, nil, "config/cc-cluster.yaml:2, then: orchestrator-cc up"},
		{"no such configuration", nil, []string{"--config", "no.yaml"}, "no.yaml"},
		{"unknown engine", nil, []string{"--engine", "steam"}, `engine "steam" is unknown`},
		{"no tmux", func(t *testing.T, _ *rig) { t.Setenv("PATH", t.TempDir()) }, nil, "tmux is not installed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := realRig(t)
			if tt.spoil != nil {
				tt.spoil(t, r)
			}
			wantRun(t, r, append([]string{"up"}, tt.args...), exitFailed, "", tt.want)
			if _, err := os.Stat(filepath.Join(r.dir, stateFolder)); err == nil {
				t.Error("got a state folder, want nothing half-built")
			}
		})
	}
}
