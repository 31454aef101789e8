package bus

import (
	"fmt"
	"os"
	"path/filepath"
)

// Trim drops entries below before, as far as whole segments hold nothing else.
// The segment being written is never dropped. A reader that still needed the
// entries gets ErrTrimmed.
func (l *Log) Trim(before uint64) error {
	l.disk <- struct{}{}
	defer func() { <-l.disk }()
	if l.isClosed() {
		return ErrClosed
	}
	l.mu.Lock()
	n := 0
	for n < len(l.segments)-1 && l.segments[n+1].first <= before {
		n++
	}
	dropped, kept := l.segments[:n:n], l.segments[n:]
	l.segments = kept
	l.mu.Unlock()
	if n == 0 {
		return nil
	}
	// Oldest first, each removal durable before the next: a crash in between
	// leaves a shorter stream, never one with a hole.
	for _, s := range dropped {
		if err := os.Remove(s.path); err != nil {
			return refuse("trim the stream", err)
		}
		if err := l.syncDir(l.dir); err != nil {
			return refuse("trim the stream", err)
		}
	}
	used := blobNames(kept)
	for name := range blobNames(dropped) {
		if used[name] {
			continue
		}
		if err := os.Remove(filepath.Join(l.dir, blobFolder, name)); err != nil && !os.IsNotExist(err) {
			return refuse(fmt.Sprintf("trim the stream: remove large entry %s", name), err)
		}
	}
	return nil
}

func (l *Log) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
