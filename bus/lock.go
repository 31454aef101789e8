package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const lockName = "lock"

// waitTick is how often a standby looks whether the stream is free. A blocking
// lock could not be given up when the standby is told to stop.
const waitTick = 100 * time.Millisecond

// take locks the stream and leaves the holder's pid for whoever is refused.
func take(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if !ok {
		holder := "pid unknown"
		if pid := readHolder(dir); pid > 0 {
			holder = "pid " + strconv.Itoa(pid)
		}
		return nil, fmt.Errorf("%w (%s); stop it with: orchestrator-cc down", ErrLocked, holder)
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), lock.Unlock())
	}
	return lock, nil
}

// release lets the stream go. The lock file stays: removing it would let two
// processes lock two files of one name.
func release(lock *flock.Flock, dir string) error {
	// A pid that could not be wiped is harmless: nobody trusts it alone.
	_ = os.Truncate(filepath.Join(dir, lockName), 0)
	return lock.Unlock()
}

// Wait blocks until no process holds the stream in dir, or ctx ends. Another
// process may take it before the caller does, so Open has the last word.
func Wait(ctx context.Context, dir string) error {
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	_, err := lock.TryLockContext(ctx, waitTick)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no folder, so no stream and no holder
	}
	if err != nil {
		return fmt.Errorf("wait for stream %s: %w", dir, err)
	}
	return lock.Unlock()
}

// readHolder returns the pid in the lock file, 0 when there is none.
func readHolder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, lockName))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0
	}
	return pid
}

// alive tells whether a process of that pid exists.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
