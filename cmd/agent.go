package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"orchestrator-cc/builtin"
	"orchestrator-cc/protocol"
)

// agentOptions is what the hidden verb `agent` is told by the hub.
type agentOptions struct {
	name, role, marker, spool string
	team                      []string // NAME=ROLE of everybody in the company
	code, files               string
	chat                      chatOptions
}

// newAgentCommand runs an agent of the built-in engine in this terminal.
func newAgentCommand() *cobra.Command {
	var o agentOptions
	c := &cobra.Command{
		Use:    "agent",
		Short:  "Run a built-in agent in this pane",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return runAgent(c.Context(), o) },
	}
	c.Flags().StringVar(&o.name, "name", "", "the agent's name")
	c.Flags().StringVar(&o.role, "role", "", "the agent's role")
	c.Flags().StringVar(&o.marker, "marker", "", "what ends each reply")
	c.Flags().StringVar(&o.spool, "spool", os.Getenv(envSpool), "where to report")
	c.Flags().StringSliceVar(&o.team, "team", nil, "everybody in the company, as NAME=ROLE")
	c.Flags().StringVar(&o.code, "code", ".", "the folder that is investigated")
	c.Flags().StringVar(&o.files, "files", "", "the folder for what it keeps")
	o.chat.flags(c)
	return c
}

func runAgent(ctx context.Context, o agentOptions) error {
	brain, about, err := o.brain(os.Getenv)
	if err != nil {
		return err
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return errors.New("start an agent: the input is no terminal; it is started by: orchestrator-cc up")
	}
	before, err := term.MakeRaw(fd)
	if err != nil {
		return fmt.Errorf("start an agent: %w", err)
	}
	defer term.Restore(fd, before)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	err = builtin.Run(ctx, builtin.Options{
		Name: o.name, Role: protocol.Role(o.role), Marker: o.marker, Spool: o.spool,
		Brain: brain, About: about,
		In: os.Stdin, Out: os.Stdout, Width: terminalWidth(int(os.Stdout.Fd())),
	})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// brain is what answers, and what its pane says about it.
func (o agentOptions) brain(getenv func(string) string) (builtin.Brain, string, error) {
	if o.chat.engine != "" {
		chat, err := o.chat.brain(o.marker, getenv)
		if err != nil {
			return nil, "", err
		}
		return chat, aboutChat(chat), nil
	}
	return &builtin.Drill{Else: builtin.Investigator(o.desk()), Shell: shellOf(getenv)}, "built-in engine, no model", nil
}

func (o agentOptions) desk() builtin.Desk {
	d := builtin.Desk{
		Member: builtin.Member{Name: o.name, Role: protocol.Role(o.role)},
		Code:   o.code, Files: o.files,
	}
	for _, pair := range o.team {
		name, role, _ := strings.Cut(pair, "=")
		d.Team = append(d.Team, builtin.Member{Name: name, Role: protocol.Role(role)})
	}
	return d
}

// terminalWidth tells the columns of a terminal each time it is asked.
func terminalWidth(fd int) func() int {
	return func() int {
		width, _, err := term.GetSize(fd)
		if err != nil || width <= 0 {
			return 80
		}
		return width
	}
}
