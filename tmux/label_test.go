package tmux_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// outside attaches to the session from within another tmux, as a person may, and returns what that person sees.
func outside(t *testing.T, o tmux.Options, argv []string, size tmux.Size) func() string {
	t.Helper()
	outer := tmuxtest.Options(t)
	start := []string{"-u", "-L", outer.Socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(size.Width), "-y", fmt.Sprint(size.Height),
		"--", "env", "-u", "TMUX", "TMUX_TMPDIR=" + tmuxtest.TmpDir(o.Env)}
	cmd := exec.CommandContext(t.Context(), "tmux", append(start, argv...)...)
	cmd.Env = outer.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("outer tmux: %v: %s", err, out)
	}
	raw(t, outer, "set-option", "-g", "status", "off")
	return func() string { return raw(t, outer, "capture-pane", "-p") }
}

func sees(t *testing.T, screen func() string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !tmuxtest.Within(tmuxtest.Wait, func() bool { return strings.Contains(screen(), text) }) {
			t.Errorf("got\n%s\nwant %q on it", screen(), text)
		}
	}
}

func TestLabelsAndStatusLineAreShown(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	panes := build(t, s, five())
	busy := tmux.Label{Title: "GRAND BOSS", State: "busy", Task: "50% #[fg=red]x #{pane_id} 日本\nline", Colour: "yellow"}
	if err := s.Label(t.Context(), "boss", busy); err != nil {
		t.Fatal(err)
	}
	if err := s.Label(t.Context(), "coder", tmux.Label{State: "idle", Colour: "#5f8787"}); err != nil {
		t.Fatal(err)
	}
	if err := s.StatusLine(t.Context(), "3 tasks · 1 waits, 50% #[x] #{pane_id}"); err != nil {
		t.Fatal(err)
	}
	screen := outside(t, o, s.AttachArgv(""), tmux.Size{Width: 160, Height: 49})
	sees(t, screen, " GRAND BOSS · busy ", "s · 50% #[fg=red]x #{pane_id} 日本 line ─", " coder · idle ", " analyst ─",
		"3 tasks · 1 waits, 50% #[x] #{pane_id}", " orch ", " agents ", "C-b ? help")
	since := func() string {
		return raw(t, o, "display-message", "-p", "-t", panes[1].ID, "#{@orch_since}#{@orch_state}")
	}
	raw(t, o, "set-option", "-p", "-t", panes[1].ID, "@orch_since", "1")
	if err := s.Label(t.Context(), "boss", busy); err != nil {
		t.Fatal(err)
	}
	if got := since(); got != "1busy" {
		t.Errorf("since: got %q, want it kept while the label is the same", got)
	}
	if err := s.Label(t.Context(), "boss", tmux.Label{State: "idle"}); err != nil {
		t.Fatal(err)
	}
	if got := since(); got == "1idle" || !strings.HasSuffix(got, "idle") {
		t.Errorf("since: got %q, want a new time with the new state", got)
	}
	if err := s.Label(t.Context(), "boss", tmux.Label{State: "x", Colour: "red]#[bold"}); err == nil {
		t.Error("colour with a style in it: got nil, want an error")
	}
}

// Where there is no room for the keys, the status line ends with what it says.
func TestNarrowStatusLineEndsClean(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120} {
		o := tmuxtest.Options(t)
		s := tmux.New(o)
		build(t, s, five())
		if err := s.StatusLine(t.Context(), "0 open · 3 done"); err != nil {
			t.Fatal(err)
		}
		want := "0 open · 3 done"
		if width >= 100 {
			want += " · C-b ? help"
		}
		screen := outside(t, o, s.AttachArgv(""), tmux.Size{Width: width, Height: 24})
		line := func() string {
			for row := range strings.Lines(screen()) {
				if strings.Contains(row, "0 open") {
					return strings.TrimSpace(row)
				}
			}
			return ""
		}
		if !tmuxtest.Within(tmuxtest.Wait, func() bool { return strings.HasSuffix(line(), want) }) {
			t.Errorf("at %d columns: got %q, want it to end with %q", width, line(), want)
		}
	}
}

func TestBellMarksTheHubsWindow(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	build(t, s, five())
	screen := outside(t, o, s.AttachArgv(""), tmux.Size{Width: 160, Height: 49})
	sees(t, screen, " hub ")
	if err := s.Bell(t.Context()); err != nil {
		t.Fatal(err)
	}
	sees(t, screen, " hub!")
}

func TestAttachAtAPane(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	panes := build(t, s, five())
	screen := outside(t, o, s.AttachArgv(panes[4].ID), tmux.Size{Width: 120, Height: 40})
	sees(t, screen, " agents ")
	if got := raw(t, o, "display-message", "-p", "-t", "=orch:", "#{@orchestrator_agent}"); got != "analyst" {
		t.Errorf("active pane: got %q, want analyst", got)
	}
}
