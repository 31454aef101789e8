package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// recover reads the whole stream once, decides what the tail is worth, and
// leaves the log ready for appending. It runs before anybody shares the log.
func (l *Log) recover() error {
	segments, err := listSegments(l.dir)
	if err != nil {
		return err
	}
	snapshot, _, found := readSnapshot(l.dir)
	for _, f := range found {
		l.report(f)
	}
	if len(segments) > 0 {
		l.last = segments[0].first - 1
	}
	l.next = l.last + 1
	for i, s := range segments {
		if err := l.recoverSegment(s, i == len(segments)-1); err != nil {
			return err
		}
	}
	l.segments = segments
	if snapshot >= l.next {
		l.report(finding{snapshotName, 0, missing(l.last, snapshot+1) + ", though the snapshot knows them"})
		l.next, l.last = snapshot+1, snapshot
	}
	if err := l.openActive(); err != nil {
		return err
	}
	return l.sweep()
}

// recoverSegment examines a segment and, where it is the last, cuts its tail.
func (l *Log) recoverSegment(s *segment, last bool) error {
	x, err := s.examine(l.next - 1)
	if err != nil {
		return err
	}
	for _, f := range x.found {
		l.report(f)
	}
	l.last = max(l.last, s.last)
	l.next = l.last + 1
	t := x.tail
	if t.count == 0 {
		s.size = max(s.size, sizeOf(s.path))
		return nil
	}
	if !last || t.damaged > 0 {
		text, _ := judge(t, l.next-1)
		l.report(finding{file(s.path), t.start, text})
	}
	if !last {
		s.size = t.end
		return nil
	}
	if t.damaged > 0 {
		// Complete lines at the end may have been acknowledged before they
		// were damaged. Their numbers are not given away a second time, and
		// how many there were is known only by how many have room.
		l.next += uint64((t.end-t.start)/minLine + 1)
	}
	l.diary.Info().Str("file", file(s.path)).Int64("bytes", t.end-t.start).Msg("an unfinished write was cut from the end of the stream")
	s.size = t.start
	return l.cut(s.path, t.start)
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// cut shortens a segment durably.
func (l *Log) cut(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("cut the tail: %w", err)
	}
	err = f.Truncate(size)
	if err == nil {
		err = l.sync(f)
	}
	return errors.Join(err, f.Close())
}

// openActive opens the last segment for appending, or begins the first one.
// What stands in it is made durable: a hub that was killed between its write
// and its fsync leaves entries that this one has read and is about to publish.
func (l *Log) openActive() error {
	if len(l.segments) == 0 {
		return l.begin()
	}
	s := l.segments[len(l.segments)-1]
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the last segment: %w", err)
	}
	if err := l.sync(f); err != nil {
		return errors.Join(fmt.Errorf("sync the last segment: %w", err), f.Close())
	}
	l.active = f
	return nil
}

// begin starts a new segment with the next entry. Its name is durable before
// anything is written into it.
func (l *Log) begin() error {
	s := &segment{path: segmentPath(l.dir, l.next), first: l.next, last: l.next - 1}
	// An earlier try may have left the empty file behind.
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("begin a segment: %w", err)
	}
	if err := l.syncDir(l.dir); err != nil {
		return errors.Join(fmt.Errorf("begin a segment: %w", err), f.Close())
	}
	if l.active != nil {
		// Its content is durable already, so that nothing depends on this.
		_ = l.active.Close()
	}
	l.active = f
	l.mu.Lock()
	l.segments = append(l.segments, s)
	l.mu.Unlock()
	return nil
}

// makeDir makes a folder with its parents, each durable in the one above it.
func (l *Log) makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if err := l.makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return l.syncDir(parent)
}

func (l *Log) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(l.sync(d), d.Close())
}
