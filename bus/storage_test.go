package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"orchestrator-cc/bus/crashtest"
	"orchestrator-cc/protocol"
)

func TestRefusedSyncLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	dir := t.TempDir()
	l := open(t, dir, Options{sync: func(f *os.File) error {
		if broken.Load() {
			return &os.PathError{Op: "sync", Path: f.Name(), Err: syscall.EIO}
		}
		return f.Sync()
	}})
	add(t, l, "kept")
	size := sizeOf(segmentPath(dir, 1))
	broken.Store(true)
	for range 3 {
		_, err := l.Append(bounded(t), say("refused"), say(strings.Repeat("r", 500)))
		if !errors.Is(err, ErrStorage) || !errors.Is(err, syscall.EIO) || protocol.CodeOf(err) != protocol.CodeStorage {
			t.Fatalf("got %v, want ErrStorage with EIO", err)
		}
	}
	if _, err := l.Append(bounded(t), say(strings.Repeat("x", inlineLimit))); !errors.Is(err, ErrStorage) {
		t.Errorf("large: got %v, want ErrStorage", err)
	}
	if err := l.SaveSnapshot(1, []byte("s")); !errors.Is(err, ErrStorage) {
		t.Errorf("snapshot: got %v, want ErrStorage", err)
	}
	want(t, "size", sizeOf(segmentPath(dir, 1)), size)
	want(t, "readable", texts(all(t, l, 0)), []string{"1 kept"})
	if l.Health() == nil {
		t.Error("health: got nil, want the refusal")
	}
	broken.Store(false)
	want(t, "next", add(t, l, "again"), uint64(2))
	if err := l.Health(); err != nil {
		t.Errorf("health: got %v, want nil", err)
	}
	closeLog(t, l)
	l = open(t, dir, Options{})
	want(t, "texts", texts(all(t, l, 0)), []string{"1 kept", "2 again"})
	want(t, "damage", l.Damage(), []string(nil))
	want(t, "blobs", blobCount(t, dir), 0)
}

func TestFileSizeLimitRefusesCleanly(t *testing.T) {
	t.Parallel()
	crashtest.Play(bounded(t), t, "limit")
}

func TestReadOnlyFolderRefusesCleanly(t *testing.T) {
	t.Parallel()
	crashtest.Play(bounded(t), t, "readonly")
}

// story drives a log into a refusal and out of it again.
type story struct {
	dir     string
	options Options
	hurt    func() error // from now on the disk refuses
	heal    func() error
}

func (s story) play() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, err := Open(s.dir, s.options)
	if err != nil {
		return err
	}
	var kept []string
	write := func(n int) error {
		for i := range n {
			text := fmt.Sprint(len(kept), "-", i, strings.Repeat("y", 300+i%700))
			if _, err := l.Append(ctx, say(text+"a"), say(text+"b")); err != nil {
				return err
			}
			kept = append(kept, text+"a", text+"b")
		}
		return nil
	}
	for round := range 3 {
		if err := write(5); err != nil {
			return fmt.Errorf("round %d, before: %w", round, err)
		}
		if err := s.hurt(); err != nil {
			return err
		}
		if err := write(5000); !errors.Is(err, ErrStorage) || l.Health() == nil {
			return fmt.Errorf("round %d: got %v and health %v, want ErrStorage", round, err, l.Health())
		}
		if err := s.heal(); err != nil {
			return err
		}
	}
	if err := write(5); err != nil || l.Health() != nil {
		return fmt.Errorf("after: %w, health %v", err, l.Health())
	}
	if err := l.Close(); err != nil {
		return err
	}
	return s.compare(ctx, kept)
}

func (s story) compare(ctx context.Context, kept []string) error {
	l, err := Open(s.dir, s.options)
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Follow(ctx, 0)
	for i, text := range kept {
		e, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if e.Seq != uint64(i+1) || e.Message.Message.Text() != text {
			return fmt.Errorf("entry %d: got %d %.20q, want %.20q", i+1, e.Seq, e.Message.Message.Text(), text)
		}
	}
	if l.Last() != uint64(len(kept)) || len(l.Damage()) > 0 {
		return fmt.Errorf("got last %d and damage %v, want %d and none", l.Last(), l.Damage(), len(kept))
	}
	return nil
}

// meetTheLimit lets the system refuse bytes in the middle of a line.
func meetTheLimit(dir string) error {
	hurt, heal, err := crashtest.LimitFiles(20_011)
	if err != nil {
		return err
	}
	return story{dir: dir, hurt: hurt, heal: heal}.play()
}

// meetReadOnly takes the right to make files away.
func meetReadOnly(dir string) error {
	if err := crashtest.BecomeNobody(dir); err != nil {
		return err
	}
	const stream = "stream"
	s := story{
		dir:     stream,
		options: Options{SegmentBytes: 4096},
		hurt:    func() error { return os.Chmod(stream, 0o500) },
		heal:    func() error { return os.Chmod(stream, 0o700) },
	}
	if err := s.play(); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(filepath.Join(stream, lockName)), s.hurt()); err != nil {
		return err
	}
	if _, err := Open(stream, Options{}); !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("open: got %v, want permission denied", err)
	}
	return s.heal()
}

// fill takes all the room there is below dir; the returned function gives it back.
func fillUp(dir string) (free func() error, err error) {
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chunk := make([]byte, 4096)
	for range 1 << 12 { // 16 MiB, far more than the disk holds
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return func() error { return os.Remove(path) }, nil
		}
	}
	return nil, errors.New("the disk did not fill up")
}

// meetFullDisk runs on a file system that is full now and then.
func meetFullDisk(dir string) error {
	var free func() error
	return story{
		dir: filepath.Join(dir, "stream"),
		hurt: func() (err error) {
			free, err = fillUp(dir)
			return err
		},
		heal: func() error { return free() },
	}.play()
}
