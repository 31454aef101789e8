package tmux_test

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator-cc/tmux/tmuxtest"
)

func TestCaptureJoinsWrapsAndKeepsRows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("日本 MARKER ", 40) + "end"
	_, pane := tmuxtest.Start(t, "sh", "-c", fmt.Sprintf("seq 1 300; echo '%s'; echo 'trailing   '; exec cat", long))
	screen := waitText(t, pane, "trailing")
	if len(screen.Visible) != screen.Height || screen.Width != 160 || screen.Height != 47 {
		t.Errorf("got %d rows of %dx%d, want 47 rows of 160x47", len(screen.Visible), screen.Width, screen.Height)
	}
	text := strings.Join(screen.Lines, "\n")
	if !strings.HasPrefix(text, "1\n2\n3\n") || !strings.Contains(text, "\n300\n"+long+"\ntrailing\n") {
		t.Errorf("lines: got %q, want the numbers, the long line in one and no trailing blanks", text)
	}
	if visible := strings.Join(screen.Visible, "\n"); strings.Contains(visible, long) || !strings.Contains(visible, "MARKER") {
		t.Errorf("visible: got %q, want the long line in several rows", visible)
	}
	if screen.HistorySize == 0 || screen.HistoryLimit != 50000 || screen.Dead || screen.Alternate || screen.Clients != 0 {
		t.Errorf("got %+v, want history of at most 50000 rows, a living pane, the main screen, no client", screen)
	}
	bounded, err := pane.Capture(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(bounded.Lines) > bounded.Height+10 || len(bounded.Lines) < 40 {
		t.Errorf("10 rows of history: got %d lines, want about %d", len(bounded.Lines), bounded.Height+10)
	}
}

func TestCaptureTellsHowThePaneStands(t *testing.T) {
	t.Parallel()
	_, pane := tmuxtest.Start(t, "sh", "-c", `printf '\033[?1049h\033[3;5Hthere'; exec cat`)
	screen := waitText(t, pane, "there")
	if !screen.Alternate || screen.CursorX != 9 || screen.CursorY != 2 {
		t.Errorf("got alternate %v, cursor %d,%d, want true, 9,2", screen.Alternate, screen.CursorX, screen.CursorY)
	}
}

func TestOldDriverSeesNothingOfAnotherPaneWithItsID(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "cat")
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec := five()
	build(t, s, spec)
	if screen, err := pane.Capture(t.Context(), 0); err == nil {
		t.Errorf("got %+v, want an error: the id now belongs to another agent", screen)
	}
}
