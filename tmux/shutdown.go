package tmux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// deathLimit is how long a server may take to go after kill-server.
const deathLimit = 2 * time.Second

// Shutdown ends the session and, unless it is the user's own, the server, and sees to it that nothing of them is left:
// no process of an agent, no server, no socket. The event client goes first, because kill-server under a client that
// no longer reads leaves a server that neither lives nor frees its socket. The hub's own process only gets the hang-up;
// it may be the caller.
func (s *Server) Shutdown(ctx context.Context) error {
	s.build.Lock()
	defer s.build.Unlock()
	s.dismiss()
	id, err := s.find(ctx)
	if errors.Is(err, ErrGone) {
		return s.clear()
	}
	if err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	panes, err := s.Panes(ctx)
	if err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	alone, err := s.alone(ctx)
	if err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	if s.private() && alone {
		err = s.endServer(ctx)
	} else {
		_, err = s.run(ctx, "kill-session", "-t", id)
	}
	if err != nil {
		return fmt.Errorf("shut down session %s: %w", s.o.Session, err)
	}
	for _, p := range panes {
		if p.Name != HubPane && !p.Dead {
			endGroup(ctx, p.PID)
		}
	}
	poke(s.changes)
	return s.clear()
}

// alone says whether no other project has a session on the server.
func (s *Server) alone(ctx context.Context) (bool, error) {
	out, err := s.run(ctx, "list-sessions", "-F", "#{@orchestrator_project}")
	for project := range strings.FieldsSeq(out) {
		if project != s.o.Project {
			return false, err
		}
	}
	return true, err
}

// dismiss ends the event client and keeps Run from making another until the next Start.
func (s *Server) dismiss() {
	s.events.mu.Lock()
	s.events.down = true
	c := s.events.current
	s.events.mu.Unlock()
	if c == nil {
		return
	}
	c.stop()
	<-c.done
}

// endServer kills the server and waits until its process is gone.
func (s *Server) endServer(ctx context.Context) error {
	pid, err := s.PID(ctx)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, "kill-server")
	if err != nil && !errors.Is(err, ErrGone) {
		return err
	}
	gone := func() bool { return extinct(ctx, pid) }
	if until(ctx, deathLimit, gone) {
		return nil
	}
	s.o.Log.Warn().Int("pid", pid).Msg("tmux server does not go, killing it")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill tmux server %d: %w", pid, err)
	}
	if !until(ctx, deathLimit, gone) {
		return fmt.Errorf("tmux server %d is still there; end it with `kill -9 %d`", pid, pid)
	}
	return nil
}

// clear removes our files, and the socket when nobody listens on it.
func (s *Server) clear() error {
	if s.private() {
		conn, err := net.Dial("unix", s.socketPath())
		switch {
		case err == nil:
			_ = conn.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			if err := os.Remove(s.socketPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove tmux socket: %w", err)
			}
		}
	}
	for _, path := range []string{s.confPath(), s.pidPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove tmux file: %w", err)
		}
	}
	return nil
}
