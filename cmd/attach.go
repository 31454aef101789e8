package cmd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

type attachOptions struct{ agent string }

func newAttachCommand(a *app) *cobra.Command {
	var o attachOptions
	return &cobra.Command{
		Use:               "attach [AGENT]",
		Short:             "Watch the agents at work; leave with Ctrl-b d",
		Example:           "  orchestrator-cc attach middle_manager",
		GroupID:           groupStart,
		Args:              takes(false),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.agent = args[0]
			}
			return runAttach(c.Context(), a, o)
		},
	}
}

// runAttach replaces this process by a tmux client. The session is asked, not
// the hub: a session can be watched while its hub is on its way back.
func runAttach(ctx context.Context, a *app, o attachOptions) error {
	if err := a.here("a session is attached to on the hub's own machine"); err != nil {
		return err
	}
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return err
	}
	card, found, err := p.readHubCard()
	if err != nil {
		return err
	}
	if !found {
		return withHint(errNoHub, "start one with: orchestrator-cc up")
	}
	server := cardServer(p, card)
	there, err := server.Exists(ctx)
	if err != nil {
		return err
	}
	if !there {
		return withHint(fmt.Errorf("%w: the session %s is gone", errNoHub, card.Session), "start it again with: orchestrator-cc up")
	}
	pane, err := paneOf(ctx, server, o.agent)
	if err != nil {
		return err
	}
	if err := a.mayAttach(card); err != nil {
		return err
	}
	return a.become(server.AttachArgv(pane))
}

// cardServer is the tmux server that a hub's card names.
func cardServer(p place, card hubCard) *tmux.Server {
	return tmux.New(tmux.Options{Socket: card.TmuxSocket, Session: card.Session, Project: p.hash(), Dir: p.run(), Log: zerolog.Nop()})
}

// paneOf finds an agent's pane; without a name there is none to find.
func paneOf(ctx context.Context, server *tmux.Server, agent string) (string, error) {
	if agent == "" {
		return "", nil
	}
	panes, err := server.Panes(ctx)
	if err != nil {
		return "", fmt.Errorf("look for the pane of %s: %w", agent, err)
	}
	var names []string
	for _, pane := range panes {
		if pane.Name == agent {
			return pane.ID, nil
		}
		names = append(names, pane.Name)
	}
	fault := protocol.Faultf(protocol.CodeUnknownAgent, "there is no pane of an agent %q", agent)
	if near := protocol.Nearest(agent, names); near != "" {
		return "", fault.Cure("did you mean %s? The panes are %s", near, strings.Join(names, ", "))
	}
	return "", fault.Cure("the panes are %s", strings.Join(names, ", "))
}

// mayAttach refuses where tmux would fail with less to say.
func (a *app) mayAttach(card hubCard) error {
	if !a.inTerminal || !a.out.terminal {
		return usagef("attach needs a terminal; from a script use: orchestrator-cc status --json")
	}
	if name := a.getenv("TERM"); name == "" || name == "dumb" {
		return withHint(fmt.Errorf("attach: TERM is %q, which cannot show a screen", name), "TERM=xterm-256color orchestrator-cc attach")
	}
	socket, _, _ := strings.Cut(a.getenv("TMUX"), ",")
	if socket != "" && filepath.Base(socket) == card.TmuxSocket {
		return withHint(errors.New("attach: this terminal is inside the session already"), "move with the mouse or Ctrl-b and an arrow key; Ctrl-b z enlarges a pane")
	}
	return nil
}

// become replaces this process by another program. TMUX is left out, so that
// it works inside another tmux.
func (a *app) become(argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	env := slices.DeleteFunc(a.environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "TMUX=") || strings.HasPrefix(pair, "TMUX_PANE=")
	})
	if err := a.exec(path, argv, env); err != nil {
		return fmt.Errorf("attach: start %s: %w", path, err)
	}
	return nil
}
