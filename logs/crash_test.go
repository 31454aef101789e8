package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/bus"
	"orchestrator-cc/bus/crashtest"
	"orchestrator-cc/protocol"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, crashtest.Parts{
		"write":    writeForEver,
		"limit":    meetTheLimit,
		"readonly": meetReadOnly,
	})
}

// writeForEver appends and writes the journal until it is killed.
func writeForEver(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, err := bus.Open(filepath.Join(dir, "stream"), bus.Options{})
	if err != nil {
		return err
	}
	j, err := Open(filepath.Join(dir, "messages.jsonl"), Options{})
	if err != nil {
		return err
	}
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, _ = l.Append(ctx, say(fmt.Sprint(i, strings.Repeat("x", i%5*3000))), quiet())
		}
	}()
	_ = j.Run(ctx, l.Follow(ctx, j.LastSeq()))
	return errors.New("nobody killed the child")
}

func TestKillNine(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "messages.jsonl")
	for range rounds {
		killWhileWriting(t, dir, path, time.Duration(rnd.IntN(20_000))*time.Microsecond)
		l := stream(t, filepath.Join(dir, "stream"))
		whole := expected(t, l)
		got := read(t, path)
		if end := bytes.LastIndexByte(got, '\n') + 1; !bytes.HasPrefix(whole, got[:end]) {
			t.Fatal("a line was lost or doubled before the restart")
		}
		catchUp(t, l, path, whole)
		if !bytes.Equal(read(t, path), whole) {
			t.Fatal("the journal differs from the stream after the restart")
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("lines:", bytes.Count(read(t, path), []byte{'\n'}))
}

// killWhileWriting lets a child write and kills it a moment after its first line.
func killWhileWriting(t *testing.T, dir, path string, then time.Duration) {
	t.Helper()
	before := int64(0)
	if info, err := os.Stat(path); err == nil {
		before = info.Size()
	}
	cmd := crashtest.Child(bounded(t), "write", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child writes", func() bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > before
	})
	<-time.After(then)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
}

func TestNoRoomHoldsTheLines(t *testing.T) {
	t.Parallel()
	crashtest.Play(bounded(t), t, "limit")
}

func TestReadOnlyFolderHoldsTheLines(t *testing.T) {
	t.Parallel()
	crashtest.Play(bounded(t), t, "readonly")
}

// queue is a source in memory, for children whose disk refuses everything.
type queue chan protocol.Entry

func (q queue) Next(ctx context.Context) (protocol.Entry, error) {
	select {
	case e := <-q:
		return e, nil
	case <-ctx.Done():
		return protocol.Entry{}, ctx.Err()
	}
}

// story hurts and heals the journal's disk while lines keep coming.
type story struct {
	path       string
	hurt, heal func() error
}

func (s story) play() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.hurt(); err != nil {
		return err
	}
	j, err := Open(s.path, Options{})
	if err != nil {
		return err
	}
	q, done := make(queue, 1<<16), make(chan error, 1)
	go func() { done <- j.Run(ctx, q) }()
	var whole []byte
	put := func() error {
		e := say(strings.Repeat("z", 700))
		e.Seq = uint64(bytes.Count(whole, []byte{'\n'}) + 1)
		line, _ := LineOf(e)
		text, err := line.encode()
		if err != nil {
			return err
		}
		whole = append(whole, text...)
		select {
		case q <- e:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for range 4 {
		for ctx.Err() == nil && j.Problem() == nil {
			if err := put(); err != nil {
				return err
			}
		}
		if err := s.heal(); err != nil {
			return err
		}
		if err := waitFor(ctx, func() bool { return j.Problem() == nil }); err != nil {
			return fmt.Errorf("problem stays: %w", j.Problem())
		}
		if err := put(); err != nil {
			return err
		}
		last := uint64(bytes.Count(whole, []byte{'\n'}))
		if err := waitFor(ctx, func() bool { return j.LastSeq() == last }); err != nil {
			return err
		}
		if got, err := os.ReadFile(s.path); err != nil || !bytes.Equal(got, whole) {
			return fmt.Errorf("the journal differs after %d lines: %d bytes, want %d: %w", last, len(got), len(whole), err)
		}
		if err := s.hurt(); err != nil {
			return err
		}
	}
	cancel()
	return errors.Join(<-done, s.heal())
}

func waitFor(ctx context.Context, ok func() bool) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// meetTheLimit lets the system take half a line and refuse the rest.
func meetTheLimit(dir string) error {
	hurt, heal, err := crashtest.LimitFiles(5003)
	if err != nil {
		return err
	}
	return story{path: filepath.Join(dir, "messages.jsonl"), hurt: hurt, heal: heal}.play()
}

// meetReadOnly makes the folder and the file read-only.
func meetReadOnly(dir string) error {
	if err := crashtest.BecomeNobody(dir); err != nil {
		return err
	}
	path := filepath.Join("logs", "messages.jsonl")
	aside := filepath.Join("logs", "aside")
	return story{
		path: path,
		hurt: func() error {
			// The file is taken away, and no other can be made.
			if err := os.MkdirAll("logs", 0o700); err != nil {
				return err
			}
			if err := os.Rename(path, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return os.Chmod("logs", 0o500)
		},
		heal: func() error {
			if err := os.Chmod("logs", 0o700); err != nil {
				return err
			}
			if err := os.Rename(aside, path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		},
	}.play()
}

func seqOf(t testing.TB, line []byte) uint64 {
	t.Helper()
	var l Line
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return l.Seq
}
