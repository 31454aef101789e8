package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orchestrator-cc/e2e/hometest"
	"orchestrator-cc/hub"
	"orchestrator-cc/protocol"
)

// The words that stories have beyond those of testscript.

// patience is how long a story waits for what must come.
const patience = 30 * time.Second

// exits runs a command and checks its exact exit status: exits 4 CMD ARG...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("got exit status %d, want %d", got, want)
	}
}

// eventually repeats a command, silently, until its output contains a text;
// with ! until it succeeds without it: eventually TEXT CMD ARG...
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] eventually TEXT COMMAND [ARG...]")
	}
	deadline := time.Now().Add(patience)
	for {
		out, err := quietly(ts, args[1], args[2:]...)
		if (err == nil || !neg) && strings.Contains(out, args[0]) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("output of %v never had %q (negated: %v); last:\n%s", args[1:], args[0], neg, out)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// quietly runs a command as exec would, or session, without a word in the log.
func quietly(ts *testscript.TestScript, program string, args ...string) (string, error) {
	switch program {
	case filepath.Base(hometest.Binary()):
		program = hometest.Binary() // the search path of this process does not have it
	case "session":
		card, err := readCard(ts.MkAbs("."))
		if err != nil {
			return "", err
		}
		program, args = "tmux", append([]string{"-u", "-L", card.TmuxSocket}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), os.Environ()
	for _, name := range homeNames() {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// homeNames are the variables by which a story differs from its test process.
func homeNames() []string {
	names := []string{"PATH"}
	for _, kv := range (&hometest.Home{}).Env() {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}

// inPane runs a command as a program in an agent's pane would, and checks its
// exit status: inpane AGENT STATUS CMD ARG...
func inPane(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: inpane AGENT STATUS COMMAND [ARG...]")
	}
	key, err := os.ReadFile(ts.MkAbs(".orchestrator-cc/run/pane.key"))
	ts.Check(err)
	names := []string{"ORCHESTRATOR_CC_DIR", "ORCHESTRATOR_CC_AGENT", "ORCHESTRATOR_CC_SECRET"}
	values := []string{ts.MkAbs("."), args[0], hub.PaneSecret(key, args[0])}
	for i, name := range names {
		before := ts.Getenv(name)
		defer ts.Setenv(name, before)
		ts.Setenv(name, values[i])
	}
	exits(ts, false, args[1:])
}

// kill9 kills the hub, the tmux server, or the programs of agents, each found
// by the pid it is known by: kill9 hub|server|AGENT...
func kill9(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: kill9 hub|server|AGENT...")
	}
	var pids []int
	for _, who := range args {
		pid, err := pidOf(ts, who)
		if err != nil {
			ts.Fatalf("find %s: %v", who, err)
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		if pid > 1 {
			ts.Check(syscall.Kill(pid, syscall.SIGKILL))
		}
	}
}

func pidOf(ts *testscript.TestScript, who string) (int, error) {
	card, err := readCard(ts.MkAbs("."))
	if err != nil || who == "hub" {
		return card.PID, err
	}
	if who == "server" {
		session(ts, false, []string{"display-message", "-p", "#{pid}"})
		return strconv.Atoi(strings.TrimSpace(ts.ReadFile("stdout")))
	}
	session(ts, false, []string{"list-panes", "-s", "-F", "#{@orchestrator_agent} #{pane_pid}"})
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if name, pid, _ := strings.Cut(strings.TrimSpace(line), " "); name == who {
			return strconv.Atoi(pid)
		}
	}
	return 0, errors.New("no pane is its")
}

// session asks the project's tmux server: session TMUX-COMMAND ARG...
func session(ts *testscript.TestScript, neg bool, args []string) {
	card, err := readCard(ts.MkAbs("."))
	ts.Check(err)
	err = ts.Exec("tmux", append([]string{"-u", "-L", card.TmuxSocket}, args...)...)
	if (err != nil) != neg {
		ts.Fatalf("tmux %v: %v (negated: %v)", args, err, neg)
	}
}

// sound checks what must hold in every story: no attempt was taken twice, no
// journal line is torn, doubled or out of order.
func sound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: sound")
	}
	for req, n := range attemptsTaken(ts.MkAbs(".")) {
		if n > 1 {
			ts.Fatalf("attempt %s was taken %d times", req, n)
		}
	}
	lines, torn, err := readJournal(ts.MkAbs("."))
	ts.Check(err)
	if torn > 0 {
		ts.Fatalf("%d journal lines are torn", torn)
	}
	seen := map[string]bool{}
	for i, l := range lines {
		if seen[l.ID] || i > 0 && l.Seq <= lines[i-1].Seq {
			ts.Fatalf("journal line %d (seq %d) is doubled or out of order", i+1, l.Seq)
		}
		seen[l.ID] = true
	}
}

// stopWriting makes a folder read-only, for root too: stop-writing DIR
func stopWriting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stop-writing DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.Rename(dir, dir+".away"))
	ts.Check(os.WriteFile(dir, nil, 0o400))
}

// goOnWriting undoes stopWriting: go-on-writing DIR
func goOnWriting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: go-on-writing DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.Remove(dir))
	ts.Check(os.Rename(dir+".away", dir))
}

// taken waits until an agent's program has taken a prompt that it has not
// answered: taken AGENT
func taken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: taken AGENT")
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if atWork(filepath.Join(ts.MkAbs("."), stateFolder, "run", args[0]+".spool")) {
			return
		}
	}
	ts.Fatalf("%s took no prompt", args[0])
}

// atWork says that the last word of a pane's program is that it works.
func atWork(spool string) bool {
	said := reports(spool)
	if len(said) == 0 {
		return false
	}
	last := said[len(said)-1].Event
	return last == protocol.ReportAccepted || last == protocol.ReportProgress
}

// noSession checks that no tmux server answers in this script's home.
func noSession(ts *testscript.TestScript, neg bool, _ []string) {
	sockets, _ := filepath.Glob(filepath.Join(ts.Getenv("TMUX_TMPDIR"), "*", "*"))
	alive := slices.ContainsFunc(sockets, func(s string) bool {
		return exec.Command("tmux", "-S", s, "list-sessions").Run() == nil
	})
	if alive == !neg {
		ts.Fatalf("got a tmux server answering: %v, want %v", alive, neg)
	}
}
