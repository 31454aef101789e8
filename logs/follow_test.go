package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tail follows the journal beside the test and collects sequence numbers.
type tail struct {
	mu   sync.Mutex
	seen []uint64
}

func (w *tail) got() []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

func watch(t *testing.T, path string, o FollowOptions) *tail {
	t.Helper()
	w := &tail{}
	ctx, cancel := context.WithCancel(bounded(t))
	done := make(chan error, 1)
	go func() {
		done <- Follow(ctx, path, func(l Line) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, l.Seq)
			return nil
		}, o)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *tail) wants(t *testing.T, want []uint64) {
	t.Helper()
	eventually(t, fmt.Sprint("follower sees ", len(want), " lines"), func() bool { return len(w.got()) >= len(want) })
	if diff := cmp.Diff(want, w.got()); diff != "" {
		t.Errorf("followed (-want +got):\n%s", diff)
	}
}

// TestMovedUnderWay renames the file again and again while it is written.
func TestMovedUnderWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	path := filepath.Join(dir, "messages.jsonl")
	j, _ := follow(t, l, path, Options{})
	const n = 300
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range n {
			_, _ = l.Append(bounded(t), say("x"))
		}
	}()
	var asides []string
	for j.LastSeq() < n {
		aside := fmt.Sprintf("%s-%03d", path, len(asides))
		if os.Rename(path, aside) == nil {
			asides = append(asides, aside)
		}
	}
	<-done
	var all []byte
	for _, name := range append(asides, path) {
		if b, err := os.ReadFile(name); err == nil {
			all = append(all, b...)
		}
	}
	same(t, fmt.Sprint("joined ", len(asides), " files"), all, expected(t, l))
}

// TestDeletedUnderWay deletes the file again and again. A handle kept on each
// file shows what was in it when it went.
func TestDeletedUnderWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	path := filepath.Join(dir, "logs", "messages.jsonl")
	j, _ := follow(t, l, path, Options{})
	const n = 300
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range n {
			_, _ = l.Append(bounded(t), say("x"))
		}
	}()
	gone := map[uint64]bool{}
	for round := 0; j.LastSeq() < n; round++ {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		before, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		kept := make([]byte, before.Size())
		if _, err := f.ReadAt(kept, 0); err != nil {
			kept = nil // it was empty
		}
		// It may fail on a new file that came into the folder meanwhile; the
		// old one is gone then all the same.
		_ = os.RemoveAll(filepath.Dir(path))
		// What came between the look and the removal was deleted with it.
		rest, err := os.ReadFile(fmt.Sprintf("/dev/fd/%d", f.Fd()))
		if err == nil && len(rest) > len(kept) {
			kept = rest
		}
		for line := range bytes.Lines(kept) {
			gone[seqOf(t, line)] = true
		}
		_ = f.Close()
	}
	<-done
	for _, seq := range lines(t, path) {
		gone[seq] = true
	}
	for seq := uint64(1); seq <= n; seq++ {
		if !gone[seq] {
			t.Errorf("line %d was in no file", seq)
		}
	}
}

func TestFollowThroughEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	path := filepath.Join(dir, "messages.jsonl")
	w := watch(t, path, FollowOptions{}) // perhaps before there is a file
	j, stop := follow(t, l, path, Options{MaxBytes: 1500, Keep: 50})
	put := func(n int) {
		t.Helper()
		for range n {
			add(t, l, say("x"))
		}
		eventually(t, "journal", func() bool { return j.LastSeq() == l.Last() })
	}
	put(40) // through about 10 files
	w.wants(t, upTo(40))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	put(10)
	w.wants(t, upTo(50))
	stop()
	// Lost and written again from the beginning while nobody ran.
	for _, name := range append(older(path), path) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	catchUp(t, l, path, expected(t, l))
	j, _ = follow(t, l, path, Options{})
	put(5)
	w.wants(t, upTo(55))
	late := watch(t, path, FollowOptions{FromEnd: true})
	after := watch(t, path, FollowOptions{Filter: Filter{After: 50}})
	after.wants(t, []uint64{51, 52, 53, 54, 55})
	eventually(t, "late follower sees only new lines", func() bool {
		put(1)
		return len(late.got()) > 0
	})
	if got := late.got()[0]; got <= 55 {
		t.Errorf("from the end: got %d, want above 55", got)
	}
}

func TestFollowEndsWithItsUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	add(t, l, say("x"))
	path := filepath.Join(dir, "messages.jsonl")
	catchUp(t, l, path, expected(t, l))
	enough := errors.New("enough")
	if err := Follow(bounded(t), path, func(Line) error { return enough }, FollowOptions{}); !errors.Is(err, enough) {
		t.Errorf("got %v, want the user's error", err)
	}
}

func TestReadFiltersAndReportsBadLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "messages.jsonl")
	for range Read(path, Filter{}) {
		t.Error("a journal that does not exist has a line")
	}
	text := `{"id":"1","from":"a","to":"b","seq":1,"task_id":"t1"}
not json
{"id":"t2","from":"b","to":"c","seq":2}
{"id":"3","from":"c","to":"a","seq":3,"task_id":"t2"}
{"id":"4","from":"a"`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		filter Filter
		want   []uint64
	}{
		{"all", Filter{}, []uint64{1, 2, 3}},
		{"agent", Filter{Agent: "a"}, []uint64{1, 3}},
		{"task", Filter{Task: "t2"}, []uint64{2, 3}},
		{"after", Filter{After: 2}, []uint64{3}},
		{"none", Filter{Agent: "a", Task: "t9"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []uint64
			bad := 0
			for l, err := range Read(path, c.filter) {
				if err != nil {
					bad++
					continue
				}
				got = append(got, l.Seq)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || bad != 1 {
				t.Errorf("got %d bad lines, want 1; lines (-want +got):\n%s", bad, diff)
			}
		})
	}
}
