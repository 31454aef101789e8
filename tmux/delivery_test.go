package tmux_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// awkward is text of n bytes with everything that has ever been lost on the way into a pane.
func awkward(n int) []byte {
	var all bytes.Buffer
	all.WriteString("-e --; \\; \\ #{pane_id} $HOME ~ 'q' \"d\" `b` {x} %if 日本語 🙂\ttab\r\nnext\n\x00\xff\xfe")
	for c := range 256 {
		if c != 0x1b {
			all.WriteByte(byte(c))
		}
	}
	text := bytes.Repeat(all.Bytes(), n/all.Len()+1)[:n-1]
	return append(text, ';')
}

func brackets(parts ...[]byte) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("\x1b[200~" + string(p) + "\x1b[201~")
	}
	return b.String()
}

func TestPasteIsExact(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		parts [][]byte
	}{
		{"1 KB", [][]byte{awkward(1 << 10)}},
		{"100 KB", [][]byte{awkward(100 << 10)}},
		{"1 MB", [][]byte{awkward(1 << 20)}},
		{"tag, body, request", [][]byte{[]byte("req-1 "), awkward(20 << 10), []byte("end with your marker")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := startReader(t)
			want := brackets(tc.parts...)
			began := time.Now()
			if err := r.pane.Paste(t.Context(), "attempt 1: it's #{x} 50% \\ $A;", tc.parts...); err != nil {
				t.Fatal(err)
			}
			if got := r.got(t, len(want)); got != want {
				t.Fatalf("got %d bytes, want these %d exactly", len(got), len(want))
			}
			t.Logf("%s read after %v", tc.name, time.Since(began))
			if got, want := capture(t, r.pane).Note, "attempt 1: it's #{x} 50% \\ $A;"; got != want {
				t.Errorf("note: got %q, want %q", got, want)
			}
			if got := r.leftovers(t); got != "" {
				t.Errorf("left behind: %q, want nothing", got)
			}
		})
	}
}

func TestPasteAndPressLeaveCopyMode(t *testing.T) {
	t.Parallel()
	r := startReader(t)
	raw(t, r.o, "copy-mode", "-t", r.info.ID)
	if !capture(t, r.pane).CopyMode {
		t.Fatal("got no copy mode, want it on")
	}
	if err := r.pane.Paste(t.Context(), "n", []byte("two\nlines")); err != nil {
		t.Fatal(err)
	}
	raw(t, r.o, "copy-mode", "-t", r.info.ID)
	if err := r.pane.Press(t.Context(), "Enter", "C-c", "-"); err != nil {
		t.Fatal(err)
	}
	want := brackets([]byte("two\nlines")) + "\r\x03-"
	if got := r.got(t, len(want)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if capture(t, r.pane).CopyMode {
		t.Error("got copy mode, want it left")
	}
}

func TestPressRefusesWhatWouldBeTypedAsText(t *testing.T) {
	t.Parallel()
	r := startReader(t)
	if err := r.pane.Press(t.Context(), "Entr"); err == nil {
		t.Error("got nil, want an error for an unknown key")
	}
	if err := r.pane.Press(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if got := r.got(t, 1); got != "x" {
		t.Errorf("got %q, want %q", got, "x")
	}
}

// refused checks that the pane takes neither text nor keys, for the reason given, and that nothing is left behind.
func (r reader) refused(t *testing.T, why error) {
	t.Helper()
	before := r.got(t, 0)
	if err := r.pane.Paste(t.Context(), "late", []byte("one"), []byte("two")); !errors.Is(err, why) {
		t.Errorf("paste: got %v, want %v", err, why)
	}
	if err := r.pane.Press(t.Context(), "Enter"); !errors.Is(err, why) {
		t.Errorf("press: got %v, want %v", err, why)
	}
	if after := r.got(t, 0); after != before {
		t.Errorf("typed: got %q, want nothing", strings.TrimPrefix(after, before))
	}
	if got := r.leftovers(t); got != "" {
		t.Errorf("left behind: %q, want nothing", got)
	}
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		make func(*testing.T, reader)
		want error
	}{
		{"renewed epoch", func(t *testing.T, r reader) {
			if _, err := r.s.Renew(t.Context(), "agent"); err != nil {
				t.Fatal(err)
			}
		}, tmux.ErrRefused},
		{"input off", func(t *testing.T, r reader) { raw(t, r.o, "select-pane", "-d", "-t", r.info.ID) }, tmux.ErrRefused},
		{"pane of another", func(t *testing.T, r reader) {
			raw(t, r.o, "set-option", "-p", "-t", r.info.ID, "@orchestrator_agent", "other")
		}, tmux.ErrRefused},
		{"killed pane", func(t *testing.T, r reader) { raw(t, r.o, "kill-pane", "-t", r.info.ID) }, tmux.ErrGone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := startReader(t)
			tc.make(t, r)
			r.refused(t, tc.want)
		})
	}
}

func TestPasteToADeadServerIsGone(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "cat")
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := pane.Paste(t.Context(), "n", []byte("x")); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("paste: got %v, want ErrGone", err)
	}
	if _, err := pane.Capture(t.Context(), 0); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("capture: got %v, want ErrGone", err)
	}
	if _, err := s.Panes(t.Context()); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("panes: got %v, want ErrGone", err)
	}
}

func TestRenewedPaneTakesText(t *testing.T) {
	t.Parallel()
	r := startReader(t)
	info, err := r.s.Renew(t.Context(), "agent")
	if err != nil {
		t.Fatal(err)
	}
	if info.Epoch == r.info.Epoch || info.PID != r.info.PID {
		t.Errorf("renew: got %+v, want a new epoch and the same process as %+v", info, r.info)
	}
	if err := r.s.Pane(info).Paste(t.Context(), "", []byte("now")); err != nil {
		t.Fatal(err)
	}
	want := brackets([]byte("now"))
	if got := r.got(t, len(want)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKeysStayInTheirPaneUnderSynchronizePanes(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	panes := build(t, s, five())
	raw(t, o, "set-option", "-w", "-t", panes[1].Window, "synchronize-panes", "on")
	boss, manager := s.Pane(panes[1]), s.Pane(panes[2])
	if err := boss.Press(t.Context(), "h", "e", "y", "Enter"); err != nil {
		t.Fatal(err)
	}
	waitText(t, boss, "hey")
	if got := strings.Join(capture(t, manager).Lines, ""); got != "" {
		t.Errorf("neighbour: got %q, want nothing", got)
	}
}

func TestNoteIsReadBackAsWritten(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "cat")
	rapid.Check(t, func(rt *rapid.T) {
		note := rapid.StringMatching(`[ -~ -ÿ日本🙂]{0,40}`).Draw(rt, "note")
		if err := pane.Paste(t.Context(), note); err != nil {
			if strings.ContainsFunc(note, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
				return
			}
			rt.Fatal(err)
		}
		panes, err := s.Panes(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		i := slices.IndexFunc(panes, func(p tmux.PaneInfo) bool { return p.Name == "agent" })
		if got := panes[i].Note; got != note {
			rt.Fatalf("got %q, want %q", got, note)
		}
	})
	if err := pane.Paste(t.Context(), "two\nlines"); err == nil {
		t.Error("note of two lines: got nil, want an error")
	}
}

// What is typed for a pane as it was seen is refused once it is another.
func TestPasteOnlyWhileAsSeen(t *testing.T) {
	t.Parallel()
	r := startReader(t)
	seen, err := r.pane.Capture(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		name string
		seen func(tmux.Screen) tmux.Screen
	}{
		{"cursor", func(s tmux.Screen) tmux.Screen { s.CursorX++; return s }},
		{"row", func(s tmux.Screen) tmux.Screen { s.CursorY++; return s }},
		{"mode", func(s tmux.Screen) tmux.Screen { s.CopyMode = !s.CopyMode; return s }},
		{"key", func(s tmux.Screen) tmux.Screen { s.Touched--; return s }},
	} {
		if err := r.pane.While(change.seen(seen)).Paste(t.Context(), "moved", []byte("one"), []byte("two")); !errors.Is(err, tmux.ErrMoved) {
			t.Errorf("%s: got %v, want ErrMoved", change.name, err)
		}
	}
	if err := r.pane.While(seen).Paste(t.Context(), "still", []byte("three")); err != nil {
		t.Fatal(err)
	}
	want := brackets([]byte("three"))
	if got := r.got(t, len(want)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s, err := r.pane.Capture(t.Context(), 0); err != nil || s.Note != "still" {
		t.Errorf("got note %q, %v, want that of the paste which was made", s.Note, err)
	}
}
