package hometest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Some programs leave children that outlive their pane: servers that they put
// into a session of their own, helpers that ignore a hang-up. A home's are
// known by its folders, in which they stand or which their environment names.

// Process is one that runs for a home.
type Process struct {
	pid     int
	command string
}

func (p Process) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.command) }

// processes are those that run for the home. Where there is no /proc none are
// found, and what a terminal's end leaves there stays.
func (h *Home) processes() (found []Process) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil || pid == os.Getpid() {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join(entry, "cwd"))
		environment, _ := os.ReadFile(filepath.Join(entry, "environ"))
		if !slices.ContainsFunc([]string{h.Dir + "/", h.Root + "/"}, func(dir string) bool {
			return strings.HasPrefix(cwd+"/", dir) || bytes.Contains(environment, []byte(dir))
		}) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(entry, "cmdline"))
		found = append(found, Process{pid, strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))})
	}
	return found
}

// endProcesses ends what still runs for the home once its terminals are gone.
// It returns what had to be told, and what is there all the same.
func (h *Home) endProcesses() (told, left []Process) {
	const each = 3 * time.Second
	left = h.remaining(each)
	told = left
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, p := range left {
			syscall.Kill(p.pid, signal) // it may have ended by now
		}
		left = h.remaining(each)
	}
	return told, left
}

// remaining waits until nothing runs for the home any more.
func (h *Home) remaining(limit time.Duration) []Process {
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		if left := h.processes(); len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}
