package hometest

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Whatever a program has started ends with its home, also what has left the
// terminal and ignores that it is told to end.
func TestCloseLeavesNoProcess(t *testing.T) {
	t.Parallel()
	h, err := New(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var started []*exec.Cmd
	for _, dir := range []string{h.Project, "/"} {
		stubborn := exec.CommandContext(ctx, "sh", "-c", "trap '' TERM HUP; echo begun; while :; do sleep 0.1; done")
		stubborn.Dir, stubborn.Env, stubborn.SysProcAttr = dir, h.Env(), &syscall.SysProcAttr{Setsid: true}
		out, err := stubborn.StdoutPipe()
		if err == nil {
			err = stubborn.Start()
		}
		if err == nil {
			_, err = out.Read(make([]byte, 8))
		}
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, stubborn)
	}
	told, err := h.Close()
	if len(told) < 2 || err != nil {
		t.Errorf("got %v told to end and %v, want the two that were started, and nothing left", told, err)
	}
	if got := h.processes(); len(got) > 0 {
		t.Errorf("got %v, want nothing that runs", got)
	}
	for _, s := range started {
		s.Wait()
	}
}
