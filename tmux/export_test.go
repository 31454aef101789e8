package tmux

import (
	"context"
	"time"
)

// SetPing makes the watch over the event client quick enough for a test.
func (s *Server) SetPing(every, limit time.Duration) {
	s.events.pingEvery, s.events.pingLimit = every, limit
}

// SetGreet gives the event client as long to introduce itself as a test needs.
func (s *Server) SetGreet(limit time.Duration) { s.events.greet = limit }

// ClientPID is the process of the event client, 0 when there is none.
func (s *Server) ClientPID() int {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	if s.events.current == nil {
		return 0
	}
	return s.events.current.cmd.Process.Pid
}

// SocketPath is where the server's socket is.
func (s *Server) SocketPath() string { return s.socketPath() }

// Command runs one command as the driver itself does.
func (s *Server) Command(ctx context.Context, args ...string) error {
	_, err := s.run(ctx, args...)
	return err
}
