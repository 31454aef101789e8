// Package hometest gives tests of the real binary a home of their own, and ends
// whatever was started there.
package hometest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// base is how the folders of homes begin: sockets lie in them, which need a
// short path.
const base = "/tmp/occ"

// binary is the program under test, built once.
var binary string

// Binary is the path of the program under test.
func Binary() string { return binary }

// Run builds the program under test, ends what killed test processes have left,
// and runs the tests.
func Run(m *testing.M) int {
	h, err := New("", "")
	if err == nil {
		defer h.Close()
		binary = filepath.Join(h.Dir, "bin", "orchestrator-cc")
		err = build(binary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	sweep()
	return m.Run()
}

func build(path string) error {
	out, err := exec.Command("go", "build", "-o", path, "orchestrator-cc/cmd/orchestrator-cc").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// Home is where one test lives.
type Home struct {
	Dir     string // has the sockets
	Root    string // has the user's home; Dir, where not elsewhere
	Project string
	owner   *os.File
}

// New makes a home. A root elsewhere is removed with it; project is the folder
// that a company may run in, and "" means one in the root.
func New(root, project string) (*Home, error) {
	dir, err := os.MkdirTemp(filepath.Split(base))
	if err != nil {
		return nil, err
	}
	h := &Home{Dir: dir, Root: root, Project: project}
	if root == "" {
		h.Root = dir
	}
	if project == "" {
		h.Project = filepath.Join(h.Root, "project")
	}
	for _, sub := range []string{filepath.Join(h.Root, "home"), h.Project, filepath.Join(dir, "run"), filepath.Join(dir, "tmux")} {
		err = errors.Join(err, os.MkdirAll(sub, 0o700))
	}
	return h, errors.Join(err, h.claim())
}

// Env is what the environment of a program differs in that lives here.
func (h *Home) Env() []string {
	return []string{
		"HOME=" + filepath.Join(h.Root, "home"),
		"XDG_RUNTIME_DIR=" + filepath.Join(h.Dir, "run"),
		"TMUX_TMPDIR=" + filepath.Join(h.Dir, "tmux"),
		"TMUX=", "TMUX_PANE=", "TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR=1",
	}
}

// Command is a call of the program under test, in the project.
func (h *Home) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = h.Project, append(os.Environ(), h.Env()...)
	return cmd
}

// Sockets are those of the tmux servers that live here.
func (h *Home) Sockets() []string {
	sockets, _ := filepath.Glob(filepath.Join(h.Dir, "tmux", "*", "*"))
	return sockets
}

// Close ends the project's company, every tmux server that lives here and what
// else still runs for it, and removes the home. It returns what had to be ended
// after its terminal, and an error for what could not be.
func (h *Home) Close() (told []Process, err error) {
	defer h.owner.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h.Command(ctx, "down").Run()
	for _, s := range h.Sockets() {
		exec.CommandContext(ctx, "tmux", "-S", s, "kill-server").Run()
	}
	told, left := h.endProcesses()
	if len(left) > 0 {
		err = fmt.Errorf("%v still run", left)
	}
	// What has been ended may still be written to the disk.
	for range 20 {
		if errors.Join(os.RemoveAll(h.Root), os.RemoveAll(h.Dir)) == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return told, err
}
