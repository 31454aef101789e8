package apitest

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Server is what Serve runs: the real server of the api room, which this
// package does not import so that the room's own tests can use it.
type Server interface {
	Serve(ctx context.Context, l net.Listener) error
}

// SocketPath is a path short enough for a unix socket, in a folder that is
// removed when the test ends.
func SocketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "api")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "hub.sock")
}

// Serve runs a server on a listener until stop is called or the test ends.
func Serve(t testing.TB, s Server, l net.Listener) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: got %v, want an orderly end", err)
		}
	})
	t.Cleanup(stop)
	return stop
}
