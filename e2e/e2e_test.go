// Package e2e runs the real binary in real tmux, as a user would: every script
// in testdata is one story.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "occ-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "orchestrator-cc")
	build := exec.Command("go", "build", "-o", binary, "orchestrator-cc/cmd/orchestrator-cc")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"eventually": eventually,
			"inpane":     inPane,
			"kill9":      kill9,
			"nosession":  noSession,
			"session":    session,
			"sound":      sound,
			"taken":      taken,

			"stop-writing":  stopWriting,
			"go-on-writing": goOnWriting,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setup gives a script its own home, runtime folder and tmux servers, and ends
// whatever it started.
func setup(env *testscript.Env) error {
	home, err := newHome()
	if err != nil {
		return err
	}
	for _, kv := range home.env() {
		k, v, _ := strings.Cut(kv, "=")
		env.Setenv(k, v)
	}
	env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	env.Defer(func() { home.close(env.WorkDir) })
	return nil
}

// home is where one test lives. Its path is short, because sockets in it must
// be.
type home struct{ dir string }

func newHome() (home, error) {
	dir, err := os.MkdirTemp("/tmp", "occ")
	if err != nil {
		return home{}, err
	}
	for _, sub := range []string{"home", "run", "tmux"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return home{}, err
		}
	}
	return home{dir}, nil
}

func (h home) env() []string {
	return []string{
		"HOME=" + filepath.Join(h.dir, "home"),
		"XDG_RUNTIME_DIR=" + filepath.Join(h.dir, "run"),
		"TMUX_TMPDIR=" + filepath.Join(h.dir, "tmux"),
		"TMUX=", "TMUX_PANE=", "TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR=1",
	}
}

// close ends the project's hub and every tmux server that lives in this home,
// each found by its socket or by the pid in its own files.
func (h home) close(project string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	down := exec.CommandContext(ctx, binary, "down")
	down.Dir, down.Env = project, append(os.Environ(), h.env()...)
	down.Run()
	sockets, _ := filepath.Glob(filepath.Join(h.dir, "tmux", "*", "*"))
	for _, s := range sockets {
		exec.CommandContext(ctx, "tmux", "-S", s, "kill-server").Run()
	}
	os.RemoveAll(h.dir)
}
