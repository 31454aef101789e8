package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"orchestrator-cc/e2e/hometest"
)

// TestDocs runs every command that the README and the documents show in a code
// block, against a live company. A command that does not do what a reader
// would expect of it fails.
func TestDocs(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.run("send", "grand_boss", "/say documented")
	var commands []string
	for _, pattern := range []string{"../README*.md", "../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			commands = append(commands, shownCommands(t, file)...)
		}
	}
	commands = slices.DeleteFunc(commands, withModel)
	slices.SortStableFunc(commands, func(a, b string) int { return stage(a) - stage(b) })
	commands = slices.Compact(commands)
	if len(commands) < 8 {
		t.Fatalf("got only %d commands in the documents: %q", len(commands), commands)
	}
	for _, command := range commands {
		t.Log(command)
		c.tryCommand(command)
	}
}

// withModel says that a command needs an agent program; engines/docs_test.go
// runs it with one.
func withModel(command string) bool {
	return strings.Contains(command, "--engine claude") || strings.HasPrefix(command, "orchestrator-cc approve")
}

// stage brings commands into an order in which a person would type them.
func stage(command string) int {
	for i, verb := range []string{"init", "up"} {
		if strings.HasPrefix(command, "orchestrator-cc "+verb) {
			return i
		}
	}
	if strings.HasPrefix(command, "orchestrator-cc down") {
		return 9
	}
	return 5
}

var (
	shown   = regexp.MustCompile(`^(?:    |\$ |)((?:[a-z ]+\| )?orchestrator-cc [a-z].*)$`)
	comment = regexp.MustCompile(`\s+#.*$`)
)

// shownCommands are the commands in a document's code blocks, fenced or
// indented.
func shownCommands(t *testing.T, file string) (commands []string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		if m := shown.FindStringSubmatch(comment.ReplaceAllString(line, "")); m != nil {
			commands = append(commands, m[1])
		}
	}
	return commands
}

// tryCommand types a command into a terminal, with something sensible where the
// document has a placeholder. One that runs until it is stopped is stopped
// once it has shown something.
func (c *company) tryCommand(command string) {
	c.t.Helper()
	tasks := strings.Fields(c.run("tasks")) // six words of a header, then the newest task's id
	filled := strings.NewReplacer(`"..."`, `"/say hello"`, `TASK`, tasks[6], "AGENT", "grand_boss", "TEXT", "/say hello").Replace(command)
	cmd := exec.Command("sh", "-c", "exec "+filled)
	cmd.Dir, cmd.Env = c.project, append(os.Environ(), c.home.Env()...)
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(hometest.Binary())+":"+os.Getenv("PATH"))
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 170})
	if err != nil {
		c.t.Fatal(err)
	}
	defer tty.Close()
	screen := &screen{}
	var reading sync.WaitGroup
	reading.Go(func() { screen.fill(tty) })
	c.leave(filled, cmd, tty, screen)
	timeout := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	err = cmd.Wait()
	timeout.Stop()
	tty.Close()
	reading.Wait()
	if err != nil {
		c.t.Errorf("%s (typed as %s): %v\n%s", command, filled, err, screen.text())
	}
}

// leave ends a command that does not end by itself, once it shows something.
func (c *company) leave(command string, cmd *exec.Cmd, tty *os.File, s *screen) {
	until(c.t, patience, func(context.Context) (bool, string) {
		return s.text() != "" || !endless(command), "nothing shown by " + command
	})
	switch {
	case strings.Contains(command, " attach"):
		tty.WriteString("\x02d")
	case endless(command):
		cmd.Process.Signal(syscall.SIGINT)
	}
}

func endless(command string) bool {
	return slices.ContainsFunc([]string{" attach", " --watch", " -f", " serve"}, func(s string) bool { return strings.Contains(command+" ", s+" ") })
}

// screen is what a terminal has shown.
type screen struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (s *screen) fill(tty *os.File) {
	buffer := make([]byte, 4096)
	for {
		n, err := tty.Read(buffer)
		s.mu.Lock()
		s.data.Write(buffer[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.String()
}

// TestRunScript runs what `make run` runs: it asks one question and leaves the
// session running.
func TestRunScript(t *testing.T) {
	t.Parallel()
	c := newProject(t, "")
	if err := os.Symlink(hometest.Binary(), filepath.Join(c.project, "occ")); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../scripts/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script, "occ")
	cmd.Dir, cmd.Env = c.project, append(os.Environ(), c.home.Env()...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run.sh: %v\n%s", err, out)
	}
	for _, want := range []string{"GRAND BOSS OK", "attach", "down"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("got output without %q:\n%s", want, out)
		}
	}
	c.run("status")
}
