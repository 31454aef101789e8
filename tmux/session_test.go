package tmux_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// five is a company as the product builds it, of programs that only wait.
func five() tmux.SessionSpec {
	spec := tmux.SessionSpec{Hub: tmux.PaneSpec{Argv: []string{"sleep", "1000"}}}
	for _, name := range []string{"boss", "manager", "coder", "analyst", "tester"} {
		spec.Agents = append(spec.Agents, tmux.PaneSpec{Name: name, Argv: []string{"cat"}})
	}
	return spec
}

func names(panes []tmux.PaneInfo) []string {
	var out []string
	for _, p := range panes {
		out = append(out, p.Name)
	}
	return out
}

// raw runs a tmux command as a person would.
func raw(t testing.TB, o tmux.Options, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "tmux", append([]string{"-u", "-L", o.Socket}, args...)...)
	cmd.Env = o.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func build(t *testing.T, s *tmux.Server, spec tmux.SessionSpec) []tmux.PaneInfo {
	t.Helper()
	panes, err := s.Build(t.Context(), spec)
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return panes
}

func TestBuildMakesTheCompanyAndIsIdempotent(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	if there, err := s.Exists(t.Context()); there || err != nil {
		t.Fatalf("before: got %v, %v, want false, nil", there, err)
	}
	first := build(t, s, five())
	if diff := cmp.Diff([]string{"hub", "boss", "manager", "coder", "analyst", "tester"}, names(first)); diff != "" {
		t.Errorf("panes (-want +got):\n%s", diff)
	}
	if there, err := s.Exists(t.Context()); !there || err != nil {
		t.Fatalf("after: got %v, %v, want true, nil", there, err)
	}
	layout := raw(t, o, "list-windows", "-t", "orch", "-F", "#{window_index} #{window_name} #{window_active} #{window_layout}")
	second := build(t, tmux.New(o), five())
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("second build changed panes (-first +second):\n%s", diff)
	}
	again := raw(t, o, "list-windows", "-t", "orch", "-F", "#{window_index} #{window_name} #{window_active} #{window_layout}")
	if layout != again {
		t.Errorf("second build: got\n%s\nwant\n%s", again, layout)
	}
	want := "0 agents 1 "
	if !strings.HasPrefix(layout, want) || !strings.Contains(layout, "\n1 hub 0 ") {
		t.Errorf("windows: got %q, want agents first and active, then hub", layout)
	}
}

func TestForeignSessionIsNeverTouched(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	o.Socket = "default"
	raw(t, o, "-f", "/dev/null", "new-session", "-d", "-s", "orch", "-x", "90", "-y", "30", "cat")
	before := raw(t, o, "list-panes", "-a", "-F", "#{session_name} #{pane_id} #{pane_pid} #{window_layout} #{pane_dead}")
	s := tmux.New(o)
	_, existsErr := s.Exists(t.Context())
	_, buildErr := s.Build(t.Context(), five())
	_, panesErr := s.Panes(t.Context())
	_, respawnErr := s.Respawn(t.Context(), five().Agents[0])
	for what, err := range map[string]error{
		"exists": existsErr, "build": buildErr, "panes": panesErr, "respawn": respawnErr,
		"start":  s.Start(t.Context(), tmux.PaneSpec{Argv: []string{"cat"}}, tmux.Size{}),
		"label":  s.Label(t.Context(), "boss", tmux.Label{}),
		"status": s.StatusLine(t.Context(), "x"), "shutdown": s.Shutdown(t.Context()),
	} {
		if !errors.Is(err, tmux.ErrForeign) {
			t.Errorf("%s: got %v, want ErrForeign", what, err)
		}
	}
	after := raw(t, o, "list-panes", "-a", "-F", "#{session_name} #{pane_id} #{pane_pid} #{window_layout} #{pane_dead}")
	if before != after {
		t.Errorf("foreign session: got %q, want it untouched: %q", after, before)
	}
}
