package cmd

import (
	"os"

	"golang.org/x/sys/unix"
)

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
