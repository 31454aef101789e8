package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"orchestrator-cc/agents"
	"orchestrator-cc/config"
)

// newLaunchCommand becomes an agent program: it decides at this moment whether
// the program begins or goes on with its conversation, and is then replaced by
// it, so that the program is the pane's own process.
func newLaunchCommand() *cobra.Command {
	var program string
	c := &cobra.Command{
		Use:    "launch",
		Short:  "Become the agent program of this pane",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return runLaunch(c.Context(), program) },
	}
	c.Flags().StringVar(&program, "program", "", "the file that says how it is started")
	return c
}

func runLaunch(ctx context.Context, file string) error {
	p, err := agents.LoadProgram(file)
	if err == nil {
		err = p.Await(ctx, os.Getenv, os.Stderr)
	}
	if err != nil {
		return err
	}
	argv, env, err := p.Start()
	if err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("start %s: %w", p.Engine, err)
	}
	return fmt.Errorf("start %s: %w", p.Engine, syscall.Exec(path, argv, append(os.Environ(), env...)))
}

// paneCommand is an agent's command line: the program with its brief, without
// the variables it must not see. A program of ours is this binary, told who it
// is; one with hooks is launched, so that a restart goes on with its work.
func paneCommand(p place, a config.Agent, e config.Engine, self string, told []string) ([]string, error) {
	folder := folderOf(p, a.Name)
	out := slices.Clone(a.Command)
	if out[0] == config.Self {
		out[0] = self
		out = append(append(out, "--name", a.Name, "--role", string(a.Role), "--marker", a.Marker, "--memory", conversationIn(folder)), told...)
	}
	brief, err := agents.BriefArgs(e, a.Personality, folder)
	if err != nil {
		return nil, fmt.Errorf("brief of %s: %w", a.Name, err)
	}
	if e.Hooks == config.HooksNone {
		return hiding(e.Unset, append(out, brief...)), nil
	}
	file, err := agents.Program{
		Agent: a.Name, Engine: e.Name, Skill: e.Hooks, Command: out, Args: brief, Brief: a.Personality,
		Marker: a.Marker, Spool: spoolOf(p, a.Name), Folder: folder, Self: self, TrustHooks: e.TrustHooks,
	}.Save()
	if err != nil {
		return nil, err
	}
	return hiding(e.Unset, []string{self, "launch", "--program", file}), nil
}

// conversationIn is where a program of ours keeps its conversation.
func conversationIn(folder string) string { return filepath.Join(folder, "conversation.json") }

// beginAnew keeps a program from going on, at its next start, with the
// conversation it has now.
func beginAnew(folder string) error {
	err := os.Remove(conversationIn(folder))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, agents.BeginAnew(folder))
}

// hiding runs a command without some variables.
func hiding(unset, argv []string) []string {
	if len(unset) == 0 {
		return argv
	}
	hidden := []string{"env"}
	for _, name := range unset {
		hidden = append(hidden, "-u", name)
	}
	return append(hidden, argv...)
}

// folderOf is where a program keeps its files.
func folderOf(p place, agent string) string { return filepath.Join(p.run(), agent) }

func spoolOf(p place, agent string) string { return filepath.Join(p.run(), agent+".spool") }

// pastedBrief is the brief of a program that gets it as its first prompt.
func pastedBrief(a config.Agent, e config.Engine) string {
	if e.Personality != config.ByPaste {
		return ""
	}
	return a.Personality
}
