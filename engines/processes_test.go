package engines

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Some programs leave children that outlive their pane: servers that they put
// into a session of their own, helpers that ignore a hang-up. A company's are
// known by its folder, in which they stand or which their environment names.

// process is one that runs for a company.
type process struct {
	pid     int
	command string
}

func (p process) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.command) }

// processesOf are those that run for a folder's company. Where there is no
// /proc none are found, and what a terminal's end leaves there stays.
func processesOf(dir string) (found []process) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil || pid == os.Getpid() {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join(entry, "cwd"))
		environment, _ := os.ReadFile(filepath.Join(entry, "environ"))
		if !strings.HasPrefix(cwd+"/", dir+"/") && !bytes.Contains(environment, []byte(dir+"/")) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(entry, "cmdline"))
		found = append(found, process{pid, strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))})
	}
	return found
}

// endProcesses ends what still runs for the company once its terminals are
// gone. It returns what had to be told, and what is there all the same.
func (c *company) endProcesses() (told, left []process) {
	const each = 3 * time.Second
	left = c.remaining(each)
	told = left
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, p := range left {
			syscall.Kill(p.pid, signal) // it may have ended by now
		}
		left = c.remaining(each)
	}
	return told, left
}

// remaining waits until nothing runs for the company any more.
func (c *company) remaining(limit time.Duration) []process {
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		if left := processesOf(c.dir); len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// Whatever a program has started ends with its company, also what has left the
// terminal and ignores that it is told to end.
func TestEndLeavesNoProcess(t *testing.T) {
	t.Parallel()
	c := &company{t: t}
	c.makeFolders(t.TempDir())
	c.env = c.environment("")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var started []*exec.Cmd
	for _, dir := range []string{c.project, "/"} {
		stubborn := exec.CommandContext(ctx, "sh", "-c", "trap '' TERM HUP; echo begun; while :; do sleep 0.1; done")
		stubborn.Dir, stubborn.Env, stubborn.SysProcAttr = dir, c.env, &syscall.SysProcAttr{Setsid: true}
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
	if got := processesOf(c.dir); len(got) < 2 {
		t.Fatalf("got %v, want the two that were started", got)
	}
	if left := c.end(); len(left) > 0 {
		t.Errorf("got %v left, want nothing", left)
	}
	if got := processesOf(c.dir); len(got) > 0 {
		t.Errorf("got %v, want nothing that runs", got)
	}
	for _, s := range started {
		s.Wait()
	}
}
