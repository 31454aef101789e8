package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

func TestRespawnBeginsAnew(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "sh", "-c", "seq 1 500; exec cat")
	waitText(t, pane, "500")
	if err := pane.Paste(t.Context(), "old note", []byte("old text")); err != nil {
		t.Fatal(err)
	}
	before := capture(t, pane)
	dir := t.TempDir()
	info, err := s.Respawn(t.Context(), tmux.PaneSpec{
		Name: "agent", Argv: []string{"sh", "-c", `echo "$A"; pwd; exec cat`}, Env: []string{"A=it's #{x} $y; \"日本\"\nsecond"}, Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	if info.ID != before.Pane || info.Epoch == before.Epoch || info.Note != "" || info.Dead {
		t.Errorf("got %+v, want pane %s alive with a new epoch and no note", info, before.Pane)
	}
	screen := waitText(t, s.Pane(info), dir)
	text := strings.Join(screen.Lines, "\n")
	if !strings.Contains(text, "it's #{x} $y; \"日本\"\nsecond\n"+dir) || strings.Contains(text, "\n499\n") {
		t.Errorf("screen: got %q, want the environment as given and nothing old", text)
	}
	if err := pane.Paste(t.Context(), "n", []byte("late")); !errors.Is(err, tmux.ErrRefused) {
		t.Errorf("old pane: got %v, want ErrRefused", err)
	}
}

func TestRespawnMakesAKilledPaneAgainInItsPlace(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	spec := five()
	panes := build(t, s, spec)
	places := func() string {
		return raw(t, o, "list-panes", "-t", panes[1].Window, "-F", "#{@orchestrator_agent} #{pane_left},#{pane_top} #{pane_width}x#{pane_height}")
	}
	want := places()
	for _, i := range []int{2, 4, 1} {
		raw(t, o, "kill-pane", "-t", panes[i].ID)
		info, err := s.Respawn(t.Context(), spec.Agents[i-1])
		if err != nil {
			t.Fatal(err)
		}
		if got := places(); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", info.Name, got, want)
		}
	}
}

func TestBuildRepairs(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"", tmux.LayoutWindows} {
		t.Run("layout "+layout, func(t *testing.T) {
			t.Parallel()
			o := tmuxtest.Options(t)
			s := tmux.New(o)
			spec := five()
			spec.Layout = layout
			first := build(t, s, spec)
			if err := syscall.Kill(-first[3].PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			waitDead(t, s.Pane(first[3]))
			raw(t, o, "kill-pane", "-t", first[5].ID)
			raw(t, o, "kill-pane", "-t", first[0].ID)
			second := build(t, s, spec)
			for i, p := range second {
				kept := i == 1 || i == 2 || i == 4
				if p.Dead || (p.PID == first[i].PID) != kept || (p.Epoch == first[i].Epoch) != kept {
					t.Errorf("%s: got %+v, want alive and kept=%v of %+v", p.Name, p, kept, first[i])
				}
			}
		})
	}
}

func TestAgentThatIgnoresTheHangUpIsEnded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	stubborn := tmux.PaneSpec{Name: "agent", Argv: []string{"sh", "-c", fmt.Sprintf(`trap "" HUP; echo $$ >%s.tmp; mv %s.tmp %s; while :; do sleep 0.1; done`, file, file, file)}}
	read := func() int {
		t.Helper()
		var pid int
		tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
			data, _ := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
			return pid > 0
		})
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	s := tmux.New(tmuxtest.Options(t))
	build(t, s, tmux.SessionSpec{Hub: tmux.PaneSpec{Argv: []string{"sleep", "1000"}}, Agents: []tmux.PaneSpec{stubborn}})
	first := read()
	if _, err := s.Respawn(t.Context(), stubborn); err != nil {
		t.Fatal(err)
	}
	second := read()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, pid := range map[string]int{"respawned": first, "shut down": second} {
		if !tmuxtest.Within(tmuxtest.Wait, func() bool { return tmuxtest.Gone(pid) }) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("%s agent: got alive, want it ended", what)
		}
	}
}

func TestTmuxStartsADeadHubAgain(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	spec := five()
	dir := t.TempDir()
	spec.Hub = tmux.PaneSpec{Argv: []string{"sh", "-c", `echo "$SECRET $(pwd)"; exec sleep 1000`}, Env: []string{"SECRET=a b;'#{c}\""}, Dir: dir}
	hub := build(t, s, spec)[0]
	for i := range 3 {
		old := find(mustPanes(t, s), "hub").PID
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var now tmux.PaneInfo
		tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
			now = find(mustPanes(t, s), "hub")
			return now.PID != old && !now.Dead
		})
		if now.ID != hub.ID {
			t.Errorf("death %d: got pane %s, want %s", i, now.ID, hub.ID)
		}
		waitText(t, s.Pane(now), `a b;'#{c}" `+dir)
	}
	if got := find(mustPanes(t, s), "boss"); got.Dead {
		t.Errorf("boss: got %+v, want it untouched", got)
	}
}

func TestHubThatCannotStartIsNotStartedInAHurry(t *testing.T) {
	t.Parallel()
	s := tmux.New(tmuxtest.Options(t))
	count := filepath.Join(t.TempDir(), "count")
	if err := s.Start(t.Context(), tmux.PaneSpec{Argv: []string{"sh", "-c", "echo x >>" + count + "; exit 1"}}, tmux.Size{}); err != nil {
		t.Fatal(err)
	}
	lines := func() int {
		data, _ := os.ReadFile(count)
		return len(data) / 2
	}
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return lines() >= 3 })
	before := lines()
	tmuxtest.Within(1e9, func() bool { return lines() > before+3 })
	if got := lines(); got > before+3 {
		t.Errorf("starts within a second: got %d, want at most 3", got-before)
	}
}

func mustPanes(t *testing.T, s *tmux.Server) []tmux.PaneInfo {
	t.Helper()
	panes, err := s.Panes(t.Context())
	if err != nil {
		t.Fatalf("panes: %v", err)
	}
	return panes
}
