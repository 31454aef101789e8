package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// These tests hold the driver against tmux 3.3a's defects, each on the real program. Their names say what goes wrong
// without the defence.

func serverPID(t *testing.T, s *tmux.Server) int {
	t.Helper()
	pid, err := s.PID(t.Context())
	if err != nil {
		t.Fatalf("server pid: %v", err)
	}
	return pid
}

func TestPasteIntoADeadPaneDoesNotCrashTheServer(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "sh", "-c", "exit 3")
	if screen := waitDead(t, pane); screen.ExitStatus != 3 {
		t.Errorf("exit status: got %d, want 3", screen.ExitStatus)
	}
	pid := serverPID(t, s)
	for range 3 {
		if err := pane.Paste(t.Context(), "n", []byte("x")); !errors.Is(err, tmux.ErrRefused) {
			t.Errorf("paste: got %v, want ErrRefused", err)
		}
		if err := pane.Press(t.Context(), "Enter"); !errors.Is(err, tmux.ErrRefused) {
			t.Errorf("press: got %v, want ErrRefused", err)
		}
	}
	if got := serverPID(t, s); got != pid {
		t.Errorf("server: got pid %d, want %d still", got, pid)
	}
}

func TestPerWindowSizesDoNotCrashTheServer(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"", tmux.LayoutWindows} {
		t.Run("layout "+layout, func(t *testing.T) {
			t.Parallel()
			o := tmuxtest.Options(t)
			s := tmux.New(o)
			spec := five()
			spec.Layout = layout
			build(t, s, spec)
			pid := serverPID(t, s)
			if got := raw(t, o, "show-options", "-gwv", "window-size"); got == "manual" {
				t.Error("window-size: got manual for all windows, want it only per window")
			}
			for range 5 {
				raw(t, o, "new-window", "-d", "-t", "orch:", "cat")
				raw(t, o, "new-session", "-d", "cat")
			}
			if got := serverPID(t, s); got != pid {
				t.Errorf("server: got pid %d, want %d still", got, pid)
			}
		})
	}
}

func TestCapturesDoNotGrowTheServer(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "sh", "-c", "seq -w 1 20000; exec cat")
	waitText(t, pane, "20000")
	tmuxtest.Run(t, s)
	pid := serverPID(t, s)
	capture := func(times int) {
		for range times {
			if screen, err := pane.Capture(t.Context(), 20000); err != nil || len(screen.Lines) < 20000 {
				t.Fatalf("capture: got %d lines, %v, want 20000", len(screen.Lines), err)
			}
		}
	}
	capture(10) // the allocator's own reserve
	before := memory(t, pid)
	capture(60)
	// Each capture is about 120 KB; leaking them would add 7 MB.
	if after := memory(t, pid); after > before+3000 {
		t.Errorf("server memory: got %d KB after 60 captures, want about the %d KB before", after, before)
	}
}

// memory is the resident size of a process in KB.
func memory(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatalf("memory of %d: %v", pid, err)
	}
	kb, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatalf("memory of %d: %v", pid, err)
	}
	return kb
}

func TestOutputOfTheLastInstantIsKept(t *testing.T) {
	t.Parallel()
	for i := range 5 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			s := tmux.New(tmuxtest.Options(t))
			spec := tmux.SessionSpec{Hub: tmux.PaneSpec{Argv: []string{"sleep", "1000"}}, Agents: []tmux.PaneSpec{{
				Name: "agent", Argv: []string{"sh", "-c", "read go; seq -w 1 4000; exit 7"},
			}}}
			info := build(t, s, spec)[1]
			pane := s.Pane(info)
			tmuxtest.Run(t, s)
			if err := pane.Press(t.Context(), "Enter"); err != nil {
				t.Fatal(err)
			}
			waitDead(t, pane)
			screen, err := pane.Capture(t.Context(), 5000)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(screen.Lines, "\n")
			for _, n := range []int{1, 2000, 3999, 4000} {
				if !strings.Contains(text, fmt.Sprintf("%04d", n)) {
					t.Errorf("line %04d: got none, want all 4000 lines kept", n)
				}
			}
			if screen.ExitStatus != 7 || screen.ExitSignal != 0 {
				t.Errorf("exit: got status %d, signal %d, want 7, 0", screen.ExitStatus, screen.ExitSignal)
			}
		})
	}
}

func TestExitSignalIsSeenThroughTheWrapper(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		script         string
		status, signal int
	}{
		{"killed", "kill -9 $$", 0, 9},
		{"terminated", "kill -TERM $$", 0, 15},
		{"interrupted", "kill -INT $$", 0, 2},
		{"status 255 is no signal", "exit 255", 255, 0},
		{"status 0", "exit 0", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, pane := tmuxtest.Start(t, "sh", "-c", tc.script)
			screen := waitDead(t, pane)
			if screen.ExitStatus != tc.status || screen.ExitSignal != tc.signal {
				t.Errorf("got status %d, signal %d, want %d, %d", screen.ExitStatus, screen.ExitSignal, tc.status, tc.signal)
			}
		})
	}
}

func TestInterruptIsTheProgramsAffair(t *testing.T) {
	t.Parallel()
	_, pane := tmuxtest.Start(t, "sh", "-c", `trap 'echo caught' INT; echo ready; while :; do sleep 0.05; done`)
	waitText(t, pane, "ready")
	if err := pane.Press(t.Context(), "C-c"); err != nil {
		t.Fatal(err)
	}
	waitText(t, pane, "caught")
	if capture(t, pane).Dead {
		t.Error("got a dead pane, want it alive after an interrupt which the program handles")
	}
}

// flood is an agent that never stops printing.
const flood = "while :; do seq 1 2000; done"

func TestShutdownUnderLoadFreesTheSocket(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			s, pane := tmuxtest.Start(t, "sh", "-c", flood)
			tmuxtest.Run(t, s)
			<-pane.Output()
			pid := serverPID(t, s)
			if err := s.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !tmuxtest.Gone(pid) {
				t.Errorf("server %d: got alive, want it gone", pid)
			}
			if _, err := os.Stat(s.SocketPath()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("socket: got %v, want it removed", err)
			}
			if got := s.ClientPID(); got != 0 {
				t.Errorf("event client: got %d, want none", got)
			}
			build(t, s, five())
		})
	}
}

// A driver that died in a bad moment leaves a control client that keeps a dying server from freeing its socket.
func TestStartEndsTheStuckClientOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	spec := five()
	spec.Agents[0].Argv = []string{"sh", "-c", flood}
	build(t, s, spec)
	old := exec.Command("tmux", "-u", "-L", o.Socket, "-f", filepath.Join(o.Dir, "tmux.conf"), "-C", "attach-session", "-f", "ignore-size", "-t", "=orch")
	old.Env = o.Env
	stdin, err := old.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := old.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = old.Process.Kill()
		<-ended
	})
	if _, err := stdout.Read(make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	pid := serverPID(t, s)
	if err := os.WriteFile(filepath.Join(o.Dir, "events.pid"), []byte(strconv.Itoa(old.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = stdin.Close()
	_ = stdout.Close()
	ctx, cancel := context.WithCancel(t.Context())
	kill := exec.CommandContext(ctx, "tmux", "-L", o.Socket, "kill-server")
	kill.Env = o.Env
	if err := kill.Run(); err != nil {
		t.Logf("kill-server: %v", err)
	}
	cancel()
	t.Logf("old server gone: %v", tmuxtest.Gone(pid))
	go func() { _ = old.Wait(); close(ended) }()
	if err := s.Start(t.Context(), spec.Hub, tmux.Size{}); err != nil {
		t.Fatalf("start: got %v, want the stuck client ended and a new server", err)
	}
	if got := serverPID(t, s); got == pid {
		t.Errorf("server: got the old pid %d, want a new one", got)
	}
	if !tmuxtest.Within(tmuxtest.Wait, func() bool { return tmuxtest.Gone(pid) }) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("old server %d: got alive, want it gone", pid)
	}
}

func TestStartDirectlyAfterShutdown(t *testing.T) {
	t.Parallel()
	s := tmux.New(tmuxtest.Options(t))
	for i := range 10 {
		if err := s.Start(t.Context(), tmux.PaneSpec{Argv: []string{"sleep", "1000"}}, tmux.Size{}); err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatalf("shutdown %d: %v", i, err)
		}
	}
}

// Somebody else's kill-server gives no time to wait for the server's end.
func TestStartDirectlyAfterKillServer(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	for i := range 10 {
		if err := s.Start(t.Context(), tmux.PaneSpec{Argv: []string{"sleep", "1000"}}, tmux.Size{}); err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		raw(t, o, "kill-server")
	}
}
