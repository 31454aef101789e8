package bus

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"orchestrator-cc/protocol"
)

// build writes batches of the given sizes and returns the only segment's bytes
// with the offsets behind each batch.
func build(t *testing.T, sizes ...int) (data []byte, ends []int) {
	t.Helper()
	dir := t.TempDir()
	l := open(t, dir, Options{})
	n := 0
	for _, size := range sizes {
		var batch []protocol.Entry
		for range size { // short, because the tests try every byte
			n++
			batch = append(batch, protocol.Entry{Kind: protocol.KindHub, Hub: &protocol.HubChange{PID: n}})
		}
		if _, err := l.Append(bounded(t), batch...); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(l.segments[0].size))
	}
	closeLog(t, l)
	data, err := os.ReadFile(segmentPath(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	return data, ends
}

// openWith opens a stream whose only segment holds data.
func openWith(t *testing.T, data []byte) *Log {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(segmentPath(dir, 1), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, dir, Options{sync: func(*os.File) error { return nil }})
}

func seqs(entries []protocol.Entry) []uint64 {
	out := []uint64{}
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func TestTornTailAtEveryByte(t *testing.T) {
	t.Parallel()
	data, ends := build(t, 1, 2, 3)
	for cut := ends[1]; cut <= ends[2]; cut++ {
		for _, garbage := range []string{"", "\x00\x00\x00\x00"} {
			torn := append(slices.Clone(data[:cut]), garbage...)
			if cut == ends[2]-1 && garbage != "" {
				// The newline alone is wrong: the batch may have been
				// acknowledged, so its damage must be said.
				torn = torn[:ends[2]]
			}
			l := openWith(t, torn)
			whole := cut == ends[2]
			expect := []uint64{1, 2, 3}
			if whole {
				expect = append(expect, 4, 5, 6)
			}
			want(t, fmt.Sprint("cut at ", cut), seqs(all(t, l, 0)), expect)
			next := add(t, l, "next")
			said := len(l.Damage()) > 0
			if said != (cut == ends[2]-1 && garbage != "") {
				t.Errorf("cut at %d, garbage %q: got damage %v", cut, garbage, l.Damage())
			}
			if !said && next != expect[len(expect)-1]+1 {
				t.Errorf("cut at %d: got next %d", cut, next)
			}
			want(t, "goes on", seqs(all(t, l, 3)), append(expect[3:], next))
			closeLog(t, l)
		}
	}
}

func TestFlippedByteAnywhereIsReportedAndSkipped(t *testing.T) {
	t.Parallel()
	data, ends := build(t, 1, 2, 1, 1)
	batchOf := func(i int) int { return slices.IndexFunc(ends, func(end int) bool { return i < end }) }
	members := [][]uint64{{1}, {2, 3}, {4}, {5}}
	for i := range data {
		for _, bit := range []byte{0x20, '\n' ^ data[i]} {
			if bit == 0 {
				continue
			}
			bad := slices.Clone(data)
			bad[i] ^= bit
			l := openWith(t, bad)
			got := seqs(all(t, l, 0))
			lost := []int{batchOf(i)}
			if data[i] == '\n' && i == ends[lost[0]]-1 {
				lost = append(lost, lost[0]+1) // two lines became one
			}
			var expect []uint64
			for b, m := range members {
				if !slices.Contains(lost, b) {
					expect = append(expect, m...)
				}
			}
			if !slices.Equal(got, expect) {
				t.Fatalf("byte %d ^ %#x: got %v, want %v", i, bit, got, expect)
			}
			if len(l.Damage()) == 0 {
				t.Fatalf("byte %d ^ %#x: damage is silent", i, bit)
			}
			if next := add(t, l, "next"); next <= 5 {
				t.Fatalf("byte %d ^ %#x: number %d was given twice", i, bit, next)
			}
			closeLog(t, l)
		}
	}
}

func TestDamageWhileOpenIsReportedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{})
	add(t, l, "one")
	from := l.segments[0].size
	add(t, l, "two")
	add(t, l, "three")
	path := segmentPath(dir, 1)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[from+20] ^= 4
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		want(t, "texts", texts(all(t, l, 0)), []string{"1 one", "3 three"})
	}
	if _, err := l.Read(2); err == nil {
		t.Error("a damaged entry was read")
	}
	// The lost bytes and the number missing after them are two findings.
	want(t, "damage", len(l.Damage()), 2)
}

func TestLostSegmentsAreReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 1})
	for i := range 5 {
		add(t, l, fmt.Sprint(i))
	}
	if err := l.SaveSnapshot(5, []byte("s")); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if err := os.Remove(segmentPath(dir, 3)); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, Options{SegmentBytes: 1})
	want(t, "seqs", seqs(all(t, l, 0)), []uint64{1, 2, 4, 5})
	want(t, "damage", l.Damage(), []string{file(segmentPath(dir, 4)) + " at byte 0: nothing can be read between entry 2 and entry 4"})
	closeLog(t, l)
	for _, first := range []uint64{4, 5} {
		if err := os.Remove(segmentPath(dir, first)); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, dir, Options{SegmentBytes: 1})
	if len(l.Damage()) != 1 || !strings.Contains(l.Damage()[0], "nothing can be read between entry 2 and entry 6") {
		t.Errorf("got %v, want the loss of 3 to 5 reported", l.Damage())
	}
	want(t, "next", add(t, l, "x"), uint64(6))
	want(t, "seqs", seqs(all(t, l, 0)), []uint64{1, 2, 6})
}

// disk remembers what fsync has made durable: the names in each folder and the
// size of each file at the time.
type disk struct {
	mu    sync.Mutex
	names map[string][]string
	sizes map[string]int64
}

func (d *disk) sync(f *os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		d.sizes[f.Name()] = info.Size()
		return nil
	}
	files, err := os.ReadDir(f.Name())
	if err != nil {
		return err
	}
	d.names[f.Name()] = nil
	for _, e := range files {
		d.names[f.Name()] = append(d.names[f.Name()], e.Name())
	}
	return nil
}

// renamed moves the size along: a synced file keeps its content under a new name.
func (d *disk) size(path string) (int64, bool) {
	if size, ok := d.sizes[path]; ok {
		return size, true
	}
	if strings.Contains(path, blobFolder) || strings.HasSuffix(path, snapshotName) {
		info, err := os.Stat(path) // replace syncs before it renames
		return info.Size(), err == nil
	}
	return 0, false
}

// cut drops what was never synced and leaves random rubbish of it.
func (d *disk) cut(t *testing.T, dir string, rnd *rand.Rand) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == lockName {
			return err
		}
		if !slices.Contains(d.names[filepath.Dir(path)], e.Name()) {
			return os.Remove(path)
		}
		size, ok := d.size(path)
		if !ok {
			size = 0
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lost := data[min(size, int64(len(data))):]
		rest := lost[:rnd.IntN(len(lost)+1)]
		if len(rest) > 0 && rnd.IntN(2) == 0 { // pages that never came are zeros
			from := rnd.IntN(len(rest))
			copy(rest[from:], bytes.Repeat([]byte{0}, rnd.IntN(len(rest)-from)+1))
		}
		return os.WriteFile(path, append(data[:size:size], rest...), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPowerCut copies the files at a random moment while writers are at work,
// drops what was not synced at that moment, and opens what is left.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for round := range 12 {
		d := &disk{names: map[string][]string{}, sizes: map[string]int64{}}
		dir := filepath.Join(t.TempDir(), "a", "stream")
		l := open(t, dir, Options{SegmentBytes: 4 << 10, sync: d.sync})
		var mu sync.Mutex
		acked := map[uint64]string{}
		ctx, stop := context.WithCancel(bounded(t))
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					s := fmt.Sprint("w", w, " ", i)
					if i%7 == 6 {
						s += strings.Repeat("x", inlineLimit)
					}
					last, err := l.Append(ctx, say(s+"a"), say(s+"b"))
					if err != nil {
						return
					}
					mu.Lock()
					acked[last] = s
					enough := len(acked) > 20+round
					mu.Unlock()
					if enough {
						stop()
					}
				}
			})
		}
		wg.Wait()
		stop()
		// A write that was never synced: the bytes are there, the sync is not.
		l.disk <- struct{}{}
		half := l.lay([]*request{{bodies: [][]byte{[]byte(`{"kind":"hub"}`), []byte(`{"kind":"hub"}`)}}})
		if _, err := l.active.WriteAt(l.buf, half[0].start); err != nil {
			t.Fatal(err)
		}
		<-l.disk
		closeLog(t, l)
		d.cut(t, dir, rnd)
		l = open(t, dir, Options{})
		checkAcked(t, all(t, l, 0), acked)
		closeLog(t, l)
	}
}

// checkAcked wants every acknowledged pair, in order and unbroken.
func checkAcked(t *testing.T, entries []protocol.Entry, acked map[uint64]string) {
	t.Helper()
	bySeq := map[uint64]string{}
	var prev uint64
	for _, e := range entries {
		if e.Seq <= prev {
			t.Fatalf("got %d after %d", e.Seq, prev)
		}
		prev = e.Seq
		bySeq[e.Seq] = text(e)
	}
	for last, s := range acked {
		if bySeq[last] != s+"b" || bySeq[last-1] != s+"a" {
			t.Errorf("acknowledged batch ending at %d is lost: got %.20q and %.20q", last, bySeq[last-1], bySeq[last])
		}
	}
}

// TestRandomDamageNeverBreaksABatch opens streams with random bytes changed,
// removed or put in: no batch comes back in part, nothing is out of order, and
// what is missing before the end was said.
func TestRandomDamageNeverBreaksABatch(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 3, 2, 1, 4, 1, 2}
	data, _ := build(t, sizes...)
	rapid.Check(t, func(rt *rapid.T) {
		bad := slices.Clone(data)
		for range rapid.IntRange(1, 4).Draw(rt, "hits") {
			i := rapid.IntRange(0, len(bad)-1).Draw(rt, "at")
			n := min(rapid.IntRange(1, 300).Draw(rt, "length"), len(bad)-i)
			switch rapid.IntRange(0, 2).Draw(rt, "how") {
			case 0:
				copy(bad[i:], rapid.SliceOfN(rapid.Byte(), n, n).Draw(rt, "bytes"))
			case 1:
				bad = slices.Delete(bad, i, min(i+n, len(bad)-1))
			case 2:
				bad = slices.Insert(bad, i, rapid.SliceOfN(rapid.Byte(), n, n).Draw(rt, "more")...)
			}
		}
		dir, err := os.MkdirTemp("", "bus-damage-")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.WriteFile(segmentPath(dir, 1), bad, 0o600); err != nil {
			rt.Fatal(err)
		}
		l, err := Open(dir, Options{sync: func(*os.File) error { return nil }})
		if err != nil {
			rt.Fatal(err)
		}
		defer l.Close()
		got := seqs(all(t, l, 0))
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			rt.Fatalf("out of order: %v", got)
		}
		if n := len(got); n > 0 && got[n-1] != uint64(n) && len(l.Damage()) == 0 {
			rt.Fatalf("got %v, and no word about what is missing", got)
		}
		first := uint64(1)
		for _, size := range sizes {
			n := 0
			for i := range uint64(size) {
				if slices.Contains(got, first+i) {
					n++
				}
			}
			if n != 0 && n != size {
				rt.Fatalf("batch at %d: got %d of %d entries", first, n, size)
			}
			first += uint64(size)
		}
	})
}

// TestBatchWithALineCutOut takes whole lines away, so that no byte is damaged
// and only a line's place in its batch shows that one is missing.
func TestBatchWithALineCutOut(t *testing.T) {
	t.Parallel()
	data, _ := build(t, 1, 3, 1)
	lines := slices.Collect(bytes.Lines(data))
	for gone := 1; gone <= 3; gone++ {
		l := openWith(t, bytes.Join(slices.Delete(slices.Clone(lines), gone, gone+1), nil))
		want(t, fmt.Sprint("without line ", gone+1), seqs(all(t, l, 0)), []uint64{1, 5})
		if len(l.Damage()) == 0 {
			t.Errorf("without line %d: damage is silent", gone+1)
		}
	}
}
