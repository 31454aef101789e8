package tmux_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// TestMain also is the program that the tests run in panes: it writes every byte it is given to a file.
func TestMain(m *testing.M) {
	file := os.Getenv("TEST_READER_FILE")
	if file == "" {
		os.Exit(m.Run())
	}
	if err := readRaw(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// readRaw puts the terminal into raw mode, asks for bracketed paste, says so, and copies.
func readRaw(file string) error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	fmt.Print("\x1b[?2004hREADY\r\n")
	buf := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		if _, err := out.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// reader is a pane in which readRaw runs, and what it has read.
type reader struct {
	s    *tmux.Server
	o    tmux.Options
	pane *tmux.Pane
	info tmux.PaneInfo
	file string
}

func startReader(t *testing.T) reader {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := reader{o: tmuxtest.Options(t), file: t.TempDir() + "/read"}
	r.s = tmux.New(r.o)
	panes := build(t, r.s, tmux.SessionSpec{
		Hub:    tmux.PaneSpec{Argv: []string{"sleep", "1000"}},
		Agents: []tmux.PaneSpec{{Name: "agent", Argv: []string{self}, Env: []string{"TEST_READER_FILE=" + r.file}}},
	})
	r.info = panes[1]
	r.pane = r.s.Pane(r.info)
	waitText(t, r.pane, "READY")
	return r
}

// got is what the program has read, once it has read as much as want, or all that came.
func (r reader) got(t *testing.T, want int) string {
	t.Helper()
	var data []byte
	tmuxtest.Within(tmuxtest.Wait, func() bool {
		data, _ = os.ReadFile(r.file)
		return len(data) >= want
	})
	return string(data)
}

// leftovers are the buffers on the server and the files of pastes.
func (r reader) leftovers(t *testing.T) string {
	t.Helper()
	out := raw(t, r.o, "list-buffers", "-F", "#{buffer_name}")
	entries, err := os.ReadDir(r.o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "orch-") {
			out += e.Name()
		}
	}
	return out
}

func capture(t *testing.T, p *tmux.Pane) tmux.Screen {
	t.Helper()
	screen, err := p.Capture(t.Context(), 1000)
	if err != nil {
		t.Fatalf("capture: %v", err)
	}
	return screen
}

func waitText(t *testing.T, p *tmux.Pane, text string) tmux.Screen {
	t.Helper()
	var screen tmux.Screen
	if !tmuxtest.Within(tmuxtest.Wait, func() bool {
		screen = capture(t, p)
		return strings.Contains(strings.Join(screen.Lines, "\n"), text)
	}) {
		t.Fatalf("got screen %q, want %q on it", screen.Lines, text)
	}
	return screen
}

func waitDead(t *testing.T, p *tmux.Pane) tmux.Screen {
	t.Helper()
	var screen tmux.Screen
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
		screen = capture(t, p)
		return screen.Dead
	})
	return screen
}

// within fails the test when do takes longer than limit.
func within(t *testing.T, limit time.Duration, what string, do func() error) {
	t.Helper()
	began := time.Now()
	if err := do(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if took := time.Since(began); took > limit {
		t.Errorf("%s: took %v, want at most %v", what, took, limit)
	}
}
