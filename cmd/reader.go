package cmd

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watchTick is how often a view that goes on looks for news, and for its reader.
const watchTick = 500 * time.Millisecond

// whileRead is a context that ends when nobody reads any more what is written
// here. Its looking ends with stop.
func (v voice) whileRead(ctx context.Context) (reading context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		ticker := time.NewTicker(watchTick)
		defer ticker.Stop()
		for !v.deserted() {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		cancel()
	})
	return ctx, func() { cancel(); looking.Wait() }
}

// deserted says that whoever read what is written here has gone away. A write
// would tell, but while nothing happens there is nothing to write. Linux shows
// it as an error and macOS as a hang-up, which it looks for only where room to
// write is asked for too.
func (v voice) deserted() bool {
	f, ok := v.w.(*os.File)
	if !ok || v.terminal {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
