package tmux

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// HubPane is the name under which the hub's pane is known.
const HubPane = "hub"

// PaneSpec is one pane to be: its program, what the program gets to see, and the name it is known by.
type PaneSpec struct {
	Name string
	Argv []string
	Env  []string // "K=V", added to the server's environment
	Dir  string
}

// PaneInfo is one pane of ours as tmux knows it.
type PaneInfo struct {
	Name, ID, Window, Epoch, Note string
	PID                           int
	Process                       string // tells the pane's process from every other, also of another server
	Dead                          bool
	ExitStatus, ExitSignal        int
}

// tmux turns ':' and '.' in session names into '_' and reads others as targets, so such names are refused. The length
// is checked beside it: a bounded repeat of these classes would take milliseconds to compile at every start.
var sessionForm = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_ -]*$`)

// check refuses options and names which tmux would read as something else.
func (s *Server) check(specs ...PaneSpec) error {
	if !sessionForm.MatchString(s.o.Session) || utf8.RuneCountInString(s.o.Session) > 64 {
		return fmt.Errorf("session name %q: only letters, digits, '_', '-' and blanks can be used, at most 64", s.o.Session)
	}
	for what, name := range map[string]string{"project": s.o.Project, "socket": s.o.Socket} {
		if !nameForm.MatchString(name) {
			return fmt.Errorf("tmux %s %q: only letters, digits, '_', '-' and '.' can be used", what, name)
		}
	}
	seen := map[string]bool{}
	for _, p := range specs {
		if !nameForm.MatchString(p.Name) {
			return fmt.Errorf("pane name %q: only letters, digits, '_', '-' and '.' can be used", p.Name)
		}
		if seen[p.Name] {
			return fmt.Errorf("pane name %q: used twice", p.Name)
		}
		if len(p.Argv) == 0 || p.Argv[0] == "" {
			return fmt.Errorf("pane %s: no command", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// Exists says whether our session is there; ErrForeign when another one has its name.
func (s *Server) Exists(ctx context.Context) (bool, error) {
	_, err := s.find(ctx)
	if errors.Is(err, ErrGone) {
		return false, nil
	}
	return err == nil, err
}

// find returns the id of our session, which stays the same when somebody renames it a moment later.
func (s *Server) find(ctx context.Context) (string, error) {
	out, err := s.run(ctx, "list-sessions", "-F", "#{@orchestrator_project}|#{session_id}|#{session_name}")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 3)
		if len(f) != 3 || f[2] != s.o.Session {
			continue
		}
		if f[0] != s.o.Project {
			return "", fmt.Errorf("session %s on tmux server %s: %w; choose another session_name in the configuration", s.o.Session, s.o.Socket, ErrForeign)
		}
		return f[1], nil
	}
	return "", fmt.Errorf("session %s: %w", s.o.Session, ErrGone)
}

// PID is the server's process id.
func (s *Server) PID(ctx context.Context) (int, error) {
	out, err := s.run(ctx, "list-sessions", "-F", "#{pid}")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(out, "\n")
	return strconv.Atoi(first)
}

// Start makes the server and the session with the hub's window; what is there already is kept, a dead hub is started
// again.
func (s *Server) Start(ctx context.Context, hub PaneSpec, size Size) error {
	hub.Name = HubPane
	if err := s.check(hub); err != nil {
		return err
	}
	s.build.Lock()
	defer s.build.Unlock()
	s.events.resume()
	return s.start(ctx, hub, size)
}

func (s *Server) start(ctx context.Context, hub PaneSpec, size Size) error {
	if err := s.prepare(); err != nil {
		return err
	}
	err := s.settle(ctx, func() error { return s.startOnce(ctx, hub, size) })
	if errors.Is(err, errDying) && s.killStuckClient(ctx) {
		err = s.settle(ctx, func() error { return s.startOnce(ctx, hub, size) })
	}
	if err != nil {
		return fmt.Errorf("start tmux session %s: %w", s.o.Session, err)
	}
	poke(s.changes)
	return nil
}

func (s *Server) startOnce(ctx context.Context, hub PaneSpec, size Size) error {
	id, err := s.find(ctx)
	switch {
	case errors.Is(err, ErrGone):
		return s.createSession(ctx, hub, size)
	case err != nil:
		return err
	}
	// Another process may have made the session this moment and be about to adopt the hub's pane.
	var there PaneInfo
	found := until(ctx, startWindow, func() bool {
		there, err = s.byName(ctx, HubPane)
		return err == nil
	})
	if found {
		return s.reviveHub(ctx, there, hub)
	}
	return s.createWindow(ctx, []string{"-t", id + ":"}, HubPane, hub)
}

// createSession makes the session with its mark in one command line, so that it is never ours without saying so.
func (s *Server) createSession(ctx context.Context, hub PaneSpec, size Size) error {
	size = s.unseen().cover(size)
	create := append([]string{"new-session", "-d", "-s", s.o.Session, "-n", HubPane, "-P", "-F", "#{pane_id}",
		"-x", strconv.Itoa(size.Width), "-y", strconv.Itoa(size.Height)}, inert()...)
	line := []string{command(create...), command("set-option", "-t", s.target(), "@orchestrator_project", s.o.Project)}
	line = append(line, sessionLook(s.target())...)
	out, err := s.exec(ctx, sequence(line...)+"\n", []string{"start-server", ";", "source-file", "-"})
	if errors.Is(err, errDuplicate) {
		return s.confirm(ctx)
	}
	if err != nil {
		return err
	}
	return s.adopt(ctx, strings.TrimSpace(out), hub, HubPane)
}

// confirm checks that the session somebody else made first is one of ours.
func (s *Server) confirm(ctx context.Context) error {
	_, err := s.find(ctx)
	return err
}

// paneFormat lists what PaneInfo holds; the note comes last because it alone is free text.
const paneFormat = "#{@orchestrator_project}|#{@orchestrator_agent}|#{pane_id}|#{window_id}|#{@orch_epoch}|#{pane_pid}|#{start_time}|" +
	"#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{@orch_note}"

// Panes lists our panes: the hub's and the agents', not those a person has opened in the session.
func (s *Server) Panes(ctx context.Context) ([]PaneInfo, error) {
	var panes []PaneInfo
	err := s.afterDeath(ctx, func() (bool, error) {
		out, err := s.run(ctx, "list-panes", "-s", "-t", s.target(), "-F", paneFormat)
		if err != nil {
			return false, err
		}
		var dying bool
		panes, dying, err = s.parsePanes(out)
		return dying, err
	})
	if err != nil {
		return nil, fmt.Errorf("list panes of %s: %w", s.o.Session, err)
	}
	return panes, nil
}

func (s *Server) parsePanes(out string) (panes []PaneInfo, dying bool, err error) {
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 11)
		if len(f) != 11 {
			return nil, false, fmt.Errorf("tmux printed %q", line)
		}
		if f[0] != s.o.Project {
			return nil, false, ErrForeign
		}
		if f[1] == "" {
			continue
		}
		p := PaneInfo{Name: f[1], ID: f[2], Window: f[3], Epoch: f[4], Dead: f[7] == "1", Note: f[10]}
		p.PID, _ = strconv.Atoi(f[5])
		p.ExitStatus, _ = strconv.Atoi(f[8])
		p.ExitSignal, _ = strconv.Atoi(f[9])
		p.Process = f[6] + " " + f[2] + " " + f[5]
		dying = dying || p.Dead && f[8] == "" && f[9] == ""
		panes = append(panes, p)
	}
	return panes, dying, nil
}

// afterDeath repeats a look that found a pane closed but not yet how its process ended. Usually tmux learns that a
// moment later; now and then it misses the signal and would never know, so it gets a child of its own to bury, which
// makes it look for all. The repetition ends soon: tmux 3.2 never says which signal it was.
func (s *Server) afterDeath(ctx context.Context, look func() (dying bool, err error)) error {
	for i := range 10 {
		dying, err := look()
		if err != nil || !dying || !pause(ctx, 5*time.Millisecond) {
			return err
		}
		if i%3 == 1 {
			if _, err := s.run(ctx, "run-shell", "-b", "true"); err != nil {
				return err
			}
		}
	}
	return nil
}

// byName finds one of our panes.
func (s *Server) byName(ctx context.Context, name string) (PaneInfo, error) {
	panes, err := s.Panes(ctx)
	if err != nil {
		return PaneInfo{}, err
	}
	for _, p := range panes {
		if p.Name == name {
			return p, nil
		}
	}
	return PaneInfo{}, fmt.Errorf("pane of %s: %w", name, ErrGone)
}
