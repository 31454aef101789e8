package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Screen is what a pane shows and how it stands, taken at one instant.
type Screen struct {
	Pane, Epoch, Note         string
	Dead                      bool
	ExitStatus, ExitSignal    int
	Alternate, CopyMode       bool
	Width, Height             int
	CursorX, CursorY          int
	HistorySize, HistoryLimit int
	Touched                   int64    // the second in which somebody last pressed a key here, 0 where nobody is at the pane
	Clients                   int      // attached clients with a screen, not control clients
	Lines                     []string // history and screen, wraps joined, trailing blanks cut, oldest first
	Visible                   []string // the rows on the screen as they stand
}

// screenFormat lists the numbers of a Screen; the note comes last because it alone is free text.
const screenFormat = "pane|#{pane_id}|#{@orchestrator_agent}|#{@orch_epoch}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|" +
	"#{alternate_on}|#{pane_in_mode}|#{pane_width}|#{pane_height}|#{cursor_x}|#{cursor_y}|#{history_size}|#{history_limit}|" + touched + "|#{@orch_note}"

const screenFields = 17

// touched is when a client last sent a key to the session, for the pane at which the clients are.
const touched = "#{?#{&&:#{pane_active},#{window_active}},#{session_activity},0}"

// Capture reads the screen and up to history rows above it, in one command and so at one instant. On the alternate
// screen, which has no history, the rows above are those of the main screen. It is a process of its own because a
// capture through the control client leaks in the server, and it always reads a bounded part, because the server does
// nothing else meanwhile.
func (p *Pane) Capture(ctx context.Context, history int) (Screen, error) {
	id := p.info.ID
	var screen Screen
	var name string
	err := p.s.afterDeath(ctx, func() (bool, error) {
		out, err := p.s.run(ctx,
			"list-clients", "-t", "="+p.s.o.Session, "-F", "client|#{client_control_mode}", ";",
			"display-message", "-p", "-t", id, screenFormat, ";",
			"capture-pane", "-p", "-t", id, ";",
			"capture-pane", "-p", "-J", "-S", strconv.Itoa(-max(history, 0)), "-t", id)
		if err != nil {
			return false, err
		}
		var dying bool
		screen, name, dying, err = parseScreen(out)
		return dying, err
	})
	if err == nil && (screen.Pane != id || name != p.info.Name) {
		err = ErrGone // a new server gives the same ids to other panes
	}
	if err != nil {
		return Screen{}, fmt.Errorf("capture pane %s of %s: %w", id, p.info.Name, err)
	}
	return screen, nil
}

// parseScreen reads the clients, the line of numbers, as many rows as the pane is high, and the joined lines. It also
// returns the pane's name, and whether the pane is closed without a word on how its process ended.
func parseScreen(out string) (s Screen, name string, dying bool, err error) {
	rows := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for len(rows) > 0 && strings.HasPrefix(rows[0], "client|") {
		if rows[0] != "client|1" {
			s.Clients++
		}
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return s, "", false, errors.New("tmux printed nothing about it")
	}
	f := strings.SplitN(rows[0], "|", screenFields)
	if len(f) != screenFields || f[0] != "pane" {
		return s, "", false, fmt.Errorf("tmux printed %q", rows[0])
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	s.Pane, name, s.Epoch, s.Note = f[1], f[2], f[3], f[16]
	s.Dead, s.ExitStatus, s.ExitSignal = f[4] == "1", number(f[5]), number(f[6])
	s.Alternate, s.CopyMode = f[7] == "1", number(f[8]) > 0
	s.Width, s.Height, s.CursorX, s.CursorY = number(f[9]), number(f[10]), number(f[11]), number(f[12])
	s.HistorySize, s.HistoryLimit, s.Touched = number(f[13]), number(f[14]), int64(number(f[15]))
	rows = rows[1:]
	if len(rows) < s.Height {
		return s, name, false, fmt.Errorf("tmux printed %d rows of %d", len(rows), s.Height)
	}
	s.Visible = rows[:s.Height:s.Height]
	for _, line := range rows[s.Height:] {
		s.Lines = append(s.Lines, strings.TrimRight(line, " "))
	}
	return s, name, s.Dead && f[5] == "" && f[6] == "", nil
}
