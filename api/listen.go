package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// ErrInUse says that a living hub listens on the socket already.
var ErrInUse = errors.New("another hub listens there")

// Listen opens the unix socket at path, readable for its owner only. A socket
// that a dead hub left behind is removed, once it is sure that nobody answers.
func Listen(path string) (net.Listener, error) {
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = conn.Close() // The question is answered; nothing was sent.
		return nil, fmt.Errorf("listen on %s: %w", path, ErrInUse)
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, syscall.ECONNREFUSED):
		if err := removeSocket(path); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close() // The error that matters is the one above.
		return nil, fmt.Errorf("close the socket to others: %w", err)
	}
	return l, nil
}

// removeSocket removes a dead socket and nothing else.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at the old socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen on %s: there is a file that is not a socket; remove it", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the old socket: %w", err)
	}
	return nil
}
