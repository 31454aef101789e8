package tmux_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, says   string
		major, minor int
		want         error
	}{
		{"release", "tmux 3.3a", 3, 3, nil},
		{"oldest", "tmux 3.2", 3, 2, nil},
		{"next", "tmux next-3.6", 3, 6, nil},
		{"candidate", "tmux 3.5-rc2", 3, 5, nil},
		{"newer", "tmux 4.0", 4, 0, nil},
		{"main branch", "tmux master", 99, 0, nil},
		{"openbsd", "tmux openbsd-7.4", 99, 0, nil},
		{"too old", "tmux 3.1c", 3, 1, tmux.ErrTooOld},
		{"ancient", "tmux 1.8", 1, 8, tmux.ErrTooOld},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bin := filepath.Join(t.TempDir(), "tmux")
			program(t, bin, "#!/bin/sh\necho '"+tc.says+"'\n")
			v, err := tmux.Probe(t.Context(), bin)
			if !errors.Is(err, tc.want) || v.Major != tc.major || v.Minor != tc.minor || v.Raw != tc.says {
				t.Errorf("got %+v, %v, want %d.%d, %v", v, err, tc.major, tc.minor, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), "apt install tmux") {
				t.Errorf("got %q, want the command to install it", err)
			}
		})
	}
	if _, err := tmux.Probe(t.Context(), ""); err != nil {
		t.Errorf("tmux here: got %v, want nil", err)
	}
	_, err := tmux.Probe(t.Context(), filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, tmux.ErrMissing) || !strings.Contains(err.Error(), "brew install tmux") {
		t.Errorf("no program: got %v, want ErrMissing and the command to install it", err)
	}
}

// nasty is a configuration that has broken other programs.
const nasty = `
set -g base-index 1
setw -g pane-base-index 1
set -g history-limit 50
set -g default-command 'echo broken'
set -g remain-on-exit off
setw -g synchronize-panes on
setw -g aggressive-resize on
setw -g pane-border-status off
set-hook -g after-new-session 'split-window ; rename-window broken'
set-hook -g after-new-window 'split-window'
`

func TestUsersConfigurationCannotBreakTheSession(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		socket     string
		userConfig bool
	}{
		{"private server", "", false},
		{"private server with the user's configuration", "", true},
		{"user's own server", "default", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := tmuxtest.Options(t)
			if tc.socket != "" {
				o.Socket = tc.socket
			}
			o.UserConfig = tc.userConfig
			home := filepath.Join(tmuxtest.TmpDir(o.Env), "home")
			if err := os.WriteFile(filepath.Join(home, ".tmux.conf"), []byte(nasty), 0o600); err != nil {
				t.Fatal(err)
			}
			s := tmux.New(o)
			for _, p := range build(t, s, five())[1:] {
				pane := s.Pane(p)
				if err := pane.Paste(t.Context(), "n", []byte("hello "+p.Name+"\n")); err != nil {
					t.Fatal(err)
				}
				if screen := waitText(t, pane, "hello "+p.Name); screen.HistoryLimit != 50000 {
					t.Errorf("%s: got history limit %d, want 50000", p.Name, screen.HistoryLimit)
				}
			}
			build(t, s, five())
			if err := s.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestShutdownLeavesTheUsersServerAlone(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	o.Socket = "default"
	raw(t, o, "-f", "/dev/null", "new-session", "-d", "-s", "mine", "cat")
	s := tmux.New(o)
	panes := build(t, s, five())
	for range 2 { // the second time there is nothing left to do
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := raw(t, o, "list-sessions", "-F", "#{session_name}"); got != "mine" {
		t.Errorf("sessions: got %q, want mine alone", got)
	}
	for _, p := range panes {
		tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return tmuxtest.Gone(p.PID) })
	}
}

func TestPlainLocaleAndNoTerminal(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	home := filepath.Join(tmuxtest.TmpDir(o.Env), "home")
	o.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMUX_TMPDIR=" + tmuxtest.TmpDir(o.Env), "LC_ALL=C", "LANG=C",
		"TMUX=/tmp/other,1,0", "TMUX_PANE=%7", "STY=screen", "ORCHESTRATOR_CC_PANE=x", "KEPT=yes"}
	s := tmux.New(o)
	spec := five()
	spec.Agents[0].Argv = []string{"sh", "-c", `echo "日本語 🙂 [$STY$ORCHESTRATOR_CC_PANE] $KEPT $LC_ALL $LC_CTYPE $TMUX_PANE"; exec cat`}
	info := build(t, s, spec)[1]
	pane := s.Pane(info)
	waitText(t, pane, "日本語 🙂 [] yes  C.UTF-8 "+info.ID)
	if err := pane.Paste(t.Context(), "注", []byte("貼り付け\n")); err != nil {
		t.Fatal(err)
	}
	if got := waitText(t, pane, "貼り付け").Note; got != "注" {
		t.Errorf("note: got %q, want 注", got)
	}
}

func TestSeveralStartsAtOnceMakeOneSession(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := tmux.New(o).Start(t.Context(), tmux.PaneSpec{Argv: []string{"sleep", "1000"}}, tmux.Size{}); err != nil {
				t.Errorf("start: %v", err)
			}
		})
	}
	all.Wait()
	if got := raw(t, o, "list-panes", "-a", "-F", "#{session_name} #{@orchestrator_agent}"); got != "orch hub" {
		t.Errorf("got %q, want one session with the hub", got)
	}
}

func TestBadNamesAreRefusedBeforeAnythingIsBuilt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*tmux.Options, *tmux.SessionSpec)
	}{
		{"session with a colon", func(o *tmux.Options, _ *tmux.SessionSpec) { o.Session = "a:b" }},
		{"session with a dot", func(o *tmux.Options, _ *tmux.SessionSpec) { o.Session = "a.b" }},
		{"session like a pane id", func(o *tmux.Options, _ *tmux.SessionSpec) { o.Session = "%1" }},
		{"no session", func(o *tmux.Options, _ *tmux.SessionSpec) { o.Session = "" }},
		{"no project", func(o *tmux.Options, _ *tmux.SessionSpec) { o.Project = "" }},
		{"pane with a blank", func(_ *tmux.Options, s *tmux.SessionSpec) { s.Agents[0].Name = "a b" }},
		{"two of a name", func(_ *tmux.Options, s *tmux.SessionSpec) { s.Agents[1].Name = "boss" }},
		{"agent named hub", func(_ *tmux.Options, s *tmux.SessionSpec) { s.Agents[1].Name = "hub" }},
		{"no command", func(_ *tmux.Options, s *tmux.SessionSpec) { s.Agents[1].Argv = nil }},
		{"layout", func(_ *tmux.Options, s *tmux.SessionSpec) { s.Layout = "round" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o, spec := tmuxtest.Options(t), five()
			tc.change(&o, &spec)
			s := tmux.New(o)
			if _, err := s.Build(t.Context(), spec); err == nil {
				t.Error("got nil, want an error")
			}
			if _, err := os.Stat(s.SocketPath()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("socket: got %v, want no server", err)
			}
		})
	}
}

func TestBuildSweepsWhatADeadDriverLeft(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	build(t, s, five())
	raw(t, o, "set-buffer", "-b", "orch-project-1-0123456789ab-x-0", "secret")
	raw(t, o, "set-buffer", "-b", "mine", "kept")
	file := filepath.Join(o.Dir, "orch-project-1-0123456789ab-x-0")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	build(t, tmux.New(o), five())
	if got := raw(t, o, "list-buffers", "-F", "#{buffer_name}"); got != "mine" {
		t.Errorf("buffers: got %q, want mine alone", got)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("file: got %v, want it removed", err)
	}
}
