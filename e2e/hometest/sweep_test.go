package hometest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// What a killed test has left is ended by the next run, and a company that is
// being tested is not.
func TestSweep(t *testing.T) {
	t.Parallel()
	left, held := running(t), running(t)
	server := left.Sockets()[0]
	left.owner.Close() // as the kernel does it for a process that is killed
	// Tests of another room may sweep at the same time.
	for end := time.Now().Add(time.Minute); there(left.Dir) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		sweep()
	}
	if there(left.Dir) || answers(server) {
		t.Errorf("got %s there: %v, its tmux server alive: %v, want neither", left.Dir, there(left.Dir), answers(server))
	}
	if !there(held.Dir) || !answers(held.Sockets()[0]) {
		t.Error("got the company ended that is held, want it to go on")
	}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func answers(socket string) bool {
	return exec.Command("tmux", "-S", socket, "list-sessions").Run() == nil
}

// running is a home in which a company runs.
func running(t *testing.T) *Home {
	t.Helper()
	h, err := New("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	if out, err := h.Command(t.Context(), "up", "--engine", "builtin").CombinedOutput(); err != nil {
		t.Fatalf("up: %v\n%s", err, out)
	}
	return h
}
