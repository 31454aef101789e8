package hub

import (
	"context"
	"errors"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

// Seat is an agent's place in the company: who sits there, which program, and
// how it is started.
type Seat struct {
	Name        string
	Role        protocol.Role
	Marker      string
	MarkerLoose bool
	EngineName  string
	Brief       string // what each new process in the pane is told first; "" where it gets it otherwise
	Engine      agents.Engine
	Pane        tmux.PaneSpec
	Spool       string
	Meter       *agents.Meter // nil for a program whose tokens come by its spool, or never
	Timeout     time.Duration
	HardLimit   time.Duration
	Forgets     bool // its conversation is cleared between sessions
	// BeginAnew keeps the next start of its program from going on with the
	// conversation it has now; nil where a start always begins anew.
	BeginAnew func() error
	// Version tells which version of the program is installed, and which was
	// tested; nil where there is nothing to tell.
	Version func(context.Context) string
}

// terminal hands a pane to an agent and translates its refusals, so that
// neither room knows the other.
type terminal struct{ *tmux.Pane }

func (t terminal) Paste(ctx context.Context, seen agents.Screen, note string, parts ...[]byte) error {
	pane := t.Pane
	if seen.Pane != "" {
		pane = pane.While(tmux.Screen(seen))
	}
	return translate(pane.Paste(ctx, note, parts...))
}

func (t terminal) Press(ctx context.Context, keys ...string) error {
	return translate(t.Pane.Press(ctx, keys...))
}

func (t terminal) Capture(ctx context.Context, history int) (agents.Screen, error) {
	s, err := t.Pane.Capture(ctx, history)
	return agents.Screen(s), translate(err)
}

func translate(err error) error {
	switch {
	case errors.Is(err, tmux.ErrMoved):
		return errors.Join(agents.ErrMoved, err)
	case errors.Is(err, tmux.ErrRefused):
		return errors.Join(agents.ErrRefused, err)
	case errors.Is(err, tmux.ErrGone):
		return errors.Join(agents.ErrGone, err)
	}
	return err
}
