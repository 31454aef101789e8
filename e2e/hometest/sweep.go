package hometest

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// A test process that is killed leaves its companies running. So each process
// holds a lock on a file in its homes, which ends with the process however that
// ends, and the next run ends what nobody holds any more.

// ownerFile is locked by whoever tests in the home, and tells what goes with it.
const ownerFile = "owner"

// claim makes the home this process's own.
func (h *Home) claim() error {
	f, err := os.OpenFile(filepath.Join(h.Dir, ownerFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	h.owner = f
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return json.NewEncoder(f).Encode(h)
}

// sweep ends the homes of processes that are no longer there.
func sweep() {
	files, _ := filepath.Glob(base + "*/" + ownerFile)
	for _, file := range files {
		if h := abandoned(file); h != nil {
			h.Close()
		}
	}
}

// abandoned is the home that a file belongs to, if it is ours and nobody's any
// more.
func abandoned(file string) *Home {
	f, err := os.OpenFile(file, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	h := &Home{owner: f}
	if !mine(f) || syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || !h.read() || h.Dir != filepath.Dir(file) {
		f.Close()
		return nil
	}
	return h
}

// read learns from the file what goes with the home. A file that is still
// empty belongs to somebody who has not locked it yet.
func (h *Home) read() bool {
	data, err := io.ReadAll(h.owner)
	return err == nil && json.Unmarshal(data, h) == nil
}

func mine(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
