package tmux_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// person is a client with a screen, as somebody at a terminal has.
type person struct {
	tty *os.File
	cmd *exec.Cmd
}

func attach(t *testing.T, o tmux.Options, argv []string, size tmux.Size) person {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = o.Env
	tty, err := pty.StartWithSize(cmd, winsize(size))
	if err != nil {
		t.Fatalf("attach: %v", err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, tty) // ends with an error when the client is gone
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
		<-read
	})
	return person{tty: tty, cmd: cmd}
}

func winsize(s tmux.Size) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(s.Width), Rows: uint16(s.Height)}
}

func (p person) resize(t *testing.T, s tmux.Size) {
	t.Helper()
	if err := pty.Setsize(p.tty, winsize(s)); err != nil {
		t.Fatalf("resize: %v", err)
	}
}

// shape describes the agents' window and its panes.
func shape(t *testing.T, o tmux.Options) string {
	t.Helper()
	out := raw(t, o, "list-panes", "-t", "=orch:agents", "-F",
		"#{window_width}x#{window_height} #{@orchestrator_agent} #{pane_left},#{pane_top} #{pane_width}x#{pane_height}")
	size, _, _ := strings.Cut(out, " ")
	return size + "\n" + strings.ReplaceAll(out, size+" ", "")
}

// even is the shape that a window of this size should have: halves, even heights, a row for the label above each.
func even(w, h int) string {
	left := (w - 1) / 2
	right := w - 1 - left
	half, third := (h-2)/2, (h-3)/3
	return fmt.Sprintf("%dx%d\nboss 0,1 %dx%d\nmanager 0,%d %dx%d\ncoder %d,1 %dx%d\nanalyst %d,%d %dx%d\ntester %d,%d %dx%d", w, h,
		left, half, 2+half, left, h-2-half,
		left+1, right, third, left+1, 2+third, right, third, left+1, 3+2*third, right, h-3-2*third)
}

// drag gives the client another size until the window has the wanted shape. A terminal that is dragged tells its size
// many times; one single notice can be lost on a loaded machine.
func (p person) drag(t *testing.T, o tmux.Options, size tmux.Size, want string) bool {
	t.Helper()
	for range 3 {
		p.resize(t, tmux.Size{Width: size.Width + 1, Height: size.Height})
		p.resize(t, size)
		if tmuxtest.Within(tmuxtest.Wait/3, func() bool { return shape(t, o) == want }) {
			return true
		}
	}
	return false
}

func TestWindowFollowsTheClientButStaysLargeEnough(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	build(t, s, five())
	tmuxtest.Run(t, s)
	if got, want := shape(t, o), even(160, 48); got != want {
		t.Fatalf("without a client: got\n%s\nwant\n%s", got, want)
	}
	steps := []struct {
		client tmux.Size
		w, h   int
	}{
		{tmux.Size{Width: 240, Height: 70}, 240, 69},
		{tmux.Size{Width: 120, Height: 40}, 120, 39},
		{tmux.Size{Width: 80, Height: 24}, 120, 39},
		{tmux.Size{Width: 201, Height: 30}, 201, 39},
		{tmux.Size{Width: 300, Height: 90}, 300, 89},
	}
	p := attach(t, o, s.AttachArgv(""), steps[0].client)
	for _, step := range steps {
		if want := even(step.w, step.h); !p.drag(t, o, step.client, want) {
			t.Errorf("client %v: got\n%s\nwant\n%s", step.client, shape(t, o), want)
		}
	}
}

// A control client that came last is the one tmux asks first, but it has no screen to follow.
func TestWindowFollowsTheClientAfterTheEventClientCameBack(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	pane := s.Pane(build(t, s, five())[1])
	p := attach(t, o, s.AttachArgv(""), tmux.Size{Width: 240, Height: 70})
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return capture(t, pane).Clients == 1 })
	tmuxtest.Run(t, s)
	for _, step := range []struct{ w, h, wantW, wantH int }{{200, 60, 200, 59}, {90, 30, 120, 39}, {220, 61, 220, 60}} {
		if want := even(step.wantW, step.wantH); !p.drag(t, o, tmux.Size{Width: step.w, Height: step.h}, want) {
			t.Errorf("client %dx%d: got\n%s\nwant\n%s", step.w, step.h, shape(t, o), want)
		}
	}
}

func TestEachClientSizeAtAttaching(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		client tmux.Size
		w, h   int
	}{
		{tmux.Size{Width: 240, Height: 70}, 240, 69},
		{tmux.Size{Width: 120, Height: 40}, 120, 39},
		{tmux.Size{Width: 80, Height: 24}, 120, 39},
	} {
		t.Run(fmt.Sprintf("%dx%d", tc.client.Width, tc.client.Height), func(t *testing.T) {
			t.Parallel()
			o := tmuxtest.Options(t)
			s := tmux.New(o)
			pane := s.Pane(build(t, s, five())[1])
			attach(t, o, s.AttachArgv(""), tc.client)
			tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return capture(t, pane).Clients == 1 })
			want := even(tc.w, tc.h)
			if !tmuxtest.Within(tmuxtest.Wait, func() bool { return shape(t, o) == want }) {
				t.Errorf("got\n%s\nwant\n%s", shape(t, o), want)
			}
			build(t, s, five())
			if got := shape(t, o); got != want {
				t.Errorf("after another build: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestZoomSurvivesAResizeAndARepair(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	boss := build(t, s, five())[1]
	p := attach(t, o, s.AttachArgv(boss.ID), tmux.Size{Width: 80, Height: 24})
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return capture(t, s.Pane(boss)).Clients == 1 })
	raw(t, o, "resize-pane", "-Z", "-t", boss.ID)
	p.resize(t, tmux.Size{Width: 200, Height: 60})
	zoomed := func() string {
		return raw(t, o, "display-message", "-p", "-t", boss.ID, "#{window_zoomed_flag} #{pane_width}x#{pane_height}")
	}
	if !tmuxtest.Within(tmuxtest.Wait, func() bool { return zoomed() == "1 200x58" }) {
		t.Errorf("after resize: got %q, want the pane zoomed to 200x58", zoomed())
	}
	build(t, s, five())
	if got := zoomed(); got != "1 200x58" {
		t.Errorf("after another build: got %q, want the pane zoomed still", got)
	}
}

func TestTallWindows(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	spec := five()
	spec.Layout = tmux.LayoutWindows
	panes := build(t, s, spec)
	list := func() string {
		return raw(t, o, "list-windows", "-t", "=orch", "-F", "#{window_name} #{window_width}x#{window_height}")
	}
	all := func(w int) string {
		var b strings.Builder
		for _, a := range spec.Agents {
			fmt.Fprintf(&b, "%s %dx300\n", a.Name, w)
		}
		return b.String()
	}
	if got := list(); !strings.HasPrefix(got, all(160)+"hub ") {
		t.Errorf("got\n%s\nwant\n%shub", got, all(160))
	}
	attach(t, o, s.AttachArgv(panes[1].ID), tmux.Size{Width: 200, Height: 50})
	if !tmuxtest.Within(tmuxtest.Wait, func() bool { return strings.HasPrefix(list(), all(200)) }) {
		t.Errorf("attached: got\n%s\nwant\n%s", list(), all(200))
	}
}

func TestManyAgentsFit(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	spec := five()
	for i := range 15 {
		spec.Agents = append(spec.Agents, tmux.PaneSpec{Name: fmt.Sprintf("extra-%d", i), Argv: []string{"cat"}})
	}
	for _, p := range build(t, s, spec)[1:] {
		if screen := capture(t, s.Pane(p)); screen.Height < 8 || screen.Width < 79 {
			t.Errorf("%s: got %dx%d, want at least 79x8", p.Name, screen.Width, screen.Height)
		}
	}
}
