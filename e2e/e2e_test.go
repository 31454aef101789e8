// Package e2e runs the real binary in real tmux, as a user would: every script
// in testdata is one story.
package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"orchestrator-cc/e2e/hometest"
)

func TestMain(m *testing.M) { os.Exit(hometest.Run(m)) }

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
	home, err := hometest.New("", env.WorkDir)
	if err != nil {
		return err
	}
	for _, kv := range home.Env() {
		k, v, _ := strings.Cut(kv, "=")
		env.Setenv(k, v)
	}
	env.Setenv("PATH", filepath.Dir(hometest.Binary())+string(os.PathListSeparator)+os.Getenv("PATH"))
	env.Defer(func() { home.Close() })
	return nil
}
