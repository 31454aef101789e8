// Package tmuxtest gives tests a tmux server of their own: a private socket in a private folder, surely ended and
// removed when the test is over. It is for tests only.
package tmuxtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/tmux"
)

// Wait is long enough for anything a healthy tmux does on a busy machine.
const Wait = 15 * time.Second

// Socket names a server nobody else uses and returns the environment in which to use it: its own TMUX_TMPDIR and HOME,
// and nothing of the tmux or the agent that the tests may be running in. The server of that name is ended by its
// process id in the test's cleanup, whatever it is doing.
func Socket(t testing.TB) (socket string, env []string) {
	t.Helper()
	// The path of a unix socket holds about 100 bytes, which a t.TempDir may exceed.
	dir, err := os.MkdirTemp("/tmp", "tt")
	if err != nil {
		t.Fatalf("make folder for sockets: %v", err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatalf("make home: %v", err)
	}
	env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMUX_TMPDIR=" + dir, "LANG=C.UTF-8", "TERM=xterm-256color"}
	t.Cleanup(func() {
		endServers(t, dir, env)
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove %s: %v", dir, err)
		}
	})
	return "t" + filepath.Base(dir), env
}

// Options are those of a server on such a socket.
func Options(t testing.TB) tmux.Options {
	t.Helper()
	socket, env := Socket(t)
	return tmux.Options{
		Socket: socket, Session: "orch", Project: "project-1", Env: env,
		Dir: filepath.Join(TmpDir(env), "dir"), Log: zerolog.New(zerolog.NewTestWriter(t)),
	}
}

// TmpDir is the folder of an environment made by Socket.
func TmpDir(env []string) string {
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, "TMUX_TMPDIR="); ok {
			return dir
		}
	}
	return ""
}

// Start builds a session in which one agent, named "agent", runs argv, and returns its pane.
func Start(t testing.TB, argv ...string) (*tmux.Server, *tmux.Pane) {
	t.Helper()
	s := tmux.New(Options(t))
	panes, err := s.Build(t.Context(), tmux.SessionSpec{
		Hub:    tmux.PaneSpec{Argv: []string{"sleep", "1000"}},
		Agents: []tmux.PaneSpec{{Name: "agent", Argv: argv}},
	})
	if err != nil {
		t.Fatalf("build session: %v", err)
	}
	return s, s.Pane(panes[1])
}

// Run keeps the event client going until the test's end and returns when it is attached.
func Run(t testing.TB, s *tmux.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	Eventually(t, Wait, s.Connected)
}

// Eventually waits until cond holds and fails the test when it does not within the limit.
func Eventually(t testing.TB, limit time.Duration, cond func() bool) {
	t.Helper()
	if !Within(limit, cond) {
		t.Fatalf("got nothing within %v, want the condition to hold", limit)
	}
}

// Within waits until cond holds, for at most limit, and says whether it came to hold.
func Within(limit time.Duration, cond func() bool) bool {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-end.C:
			return cond()
		case <-tick.C:
		}
	}
	return true
}

// endServers ends every server with a socket below dir.
func endServers(t testing.TB, dir string, env []string) {
	sockets, err := filepath.Glob(filepath.Join(dir, "tmux-*", "*"))
	if err != nil {
		t.Errorf("list sockets: %v", err)
	}
	for _, socket := range sockets {
		pid := ask(env, socket, "list-sessions", "-F", "#{pid}")
		panes := ask(env, socket, "list-panes", "-a", "-F", "#{pane_pid}")
		born := map[int]string{}
		for _, text := range append(strings.Fields(pid), strings.Fields(panes)...) {
			if n, err := strconv.Atoi(text); err == nil {
				born[n] = birth(n)
			}
		}
		ask(env, socket, "kill-server")
		for pid, at := range born {
			end(t, pid, at)
		}
	}
}

// birth is when a process began. Tests that start thousands of processes use up
// the ids: one that is gone may soon be another test's tmux server.
func birth(pid int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	began, _ := exec.CommandContext(ctx, "ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	return string(began)
}

// ask runs one tmux command; a server that is already gone has no answer.
func ask(env []string, socket string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", socket}, args...)...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// end waits for a process that was told to go and kills it when it stays.
func end(t testing.TB, pid int, born string) {
	if Within(2*time.Second, func() bool { return Gone(pid) || birth(pid) != born }) {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("kill process %d: %v", pid, err)
	}
}

// Gone says whether a process has ended, collected by its parent or not.
func Gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	stat, err := exec.CommandContext(ctx, "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(string(stat), "Z")
}
