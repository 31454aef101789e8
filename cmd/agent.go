package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"orchestrator-cc/builtin"
	"orchestrator-cc/protocol"
)

// agentOptions is what the hidden verb `agent` is told by the hub.
type agentOptions struct {
	name, role, marker, spool string
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
	c.Flags().StringVar(&o.spool, "spool", os.Getenv("ORCHESTRATOR_CC_SPOOL"), "where to report")
	return c
}

func runAgent(ctx context.Context, o agentOptions) error {
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
		Brain: builtin.Drill{Else: builtin.Echo{}},
		In:    os.Stdin, Out: os.Stdout, Width: terminalWidth(int(os.Stdout.Fd())),
	})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
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
