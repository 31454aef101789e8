package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"

	"orchestrator-cc/protocol"
)

// fillLines is how many entries a reader that is behind decodes at a time:
// enough to make opening the file cheap, few enough to keep memory flat.
const fillLines = 1024

// Reader follows the stream. It belongs to one goroutine.
type Reader struct {
	log   *Log
	life  context.Context // of Follow: it ends the reader wherever it waits
	next  uint64          // the lowest sequence number still wanted
	at    place
	ready []protocol.Entry
}

// place is where a reader stands: behind entry prev, at off in the segment
// that begins with first. The zero place is nowhere yet.
type place struct {
	first uint64
	off   int64
	prev  uint64
}

// Follow returns a reader of every entry above after, until ctx ends. After 0
// means from the first entry there still is; any other number below what Trim
// has left makes Next return ErrTrimmed.
func (l *Log) Follow(ctx context.Context, after uint64) *Reader {
	if after == 0 {
		after = l.First() - 1
	}
	return &Reader{log: l, life: ctx, next: after + 1}
}

// Next returns the next durable entry and waits for one at the end. Damaged
// batches are left out, as Log.Damage says.
func (r *Reader) Next(ctx context.Context) (protocol.Entry, error) {
	for len(r.ready) == 0 {
		if err := cmp.Or(ctx.Err(), r.life.Err()); err != nil {
			return protocol.Entry{}, err
		}
		window, changed, err := r.log.window(r.next, r.at)
		if err != nil {
			return protocol.Entry{}, err
		}
		if window.end > window.at.off {
			if err := r.fill(window); err != nil {
				return protocol.Entry{}, err
			}
			continue
		}
		r.at = window.at
		select {
		case <-changed:
		case <-ctx.Done():
		case <-r.life.Done():
		}
	}
	e := r.ready[0]
	r.ready = r.ready[1:]
	r.next = e.Seq + 1
	return e, nil
}

// window is a readable part of one segment.
type window struct {
	path string
	at   place
	end  int64
}

// window finds what may be read for a reader that wants next and stands at at.
// The channel is closed when there is more.
func (l *Log) window(next uint64, at place) (window, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return window{}, nil, ErrClosed
	}
	if next < l.segments[0].first {
		return window{}, nil, fmt.Errorf("read entry %d: %w; the first is %d", next, ErrTrimmed, l.segments[0].first)
	}
	i := l.find(next)
	if at.first != 0 { // go on where the reader stands, segment by segment
		i = l.find(at.first)
		if s := l.segments[i]; s.first == at.first && at.off >= s.size && i < len(l.segments)-1 {
			i++
		}
	}
	s := l.segments[i]
	if s.first != at.first {
		m := s.seek(next)
		at = place{first: s.first, off: m.off, prev: m.seq - 1}
	}
	return window{path: s.path, at: at, end: s.size}, l.changed, nil
}

// find returns the segment in which seq stands or would stand.
func (l *Log) find(seq uint64) int {
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].first > seq })
	return max(i-1, 0)
}

// fill decodes the next entries of the window.
func (r *Reader) fill(w window) error {
	var batches []rawBatch
	n := 0
	at, err := r.log.scan(w, func(st stretch) bool {
		if st.lines[len(st.lines)-1].seq >= r.next {
			batches = append(batches, copyBatch(st))
			n += len(st.lines)
		}
		return n < fillLines
	})
	r.at = at
	r.log.decodeAll(batches, n)
	for _, b := range batches {
		if b.err != nil {
			r.log.report(finding{file(w.path), b.off, b.err.Error()})
			continue
		}
		for _, e := range b.entries {
			if e.Seq >= r.next {
				r.ready = append(r.ready, e)
			}
		}
	}
	return err
}

// scan hands the batches of a window to each, in order, until it returns
// false; it reports damage and returns where it stopped.
func (l *Log) scan(w window, each func(stretch) bool) (place, error) {
	at := w.at
	f, err := os.Open(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return at, fmt.Errorf("read %s: %w", file(w.path), ErrTrimmed)
	}
	if err != nil {
		return at, fmt.Errorf("read the stream: %w", err)
	}
	defer f.Close()
	s := l.scans.Get().(*scanner)
	defer l.scans.Put(s)
	s.reset(io.NewSectionReader(f, at.off, w.end-at.off), at.off)
	for {
		st, err := s.next()
		if err == io.EOF {
			if at.off < w.end { // the file became shorter than it was
				l.report(finding{file(w.path), at.off, fmt.Sprintf("%d bytes after entry %d are gone", w.end-at.off, at.prev)})
				at.off = w.end
			}
			return at, nil
		}
		if err != nil {
			return at, fmt.Errorf("read %s: %w", file(w.path), err)
		}
		text, usable := judge(st, at.prev)
		if text != "" {
			l.report(finding{file(w.path), st.start, text})
		}
		at.off = st.end
		if !usable {
			continue
		}
		at.prev = st.lines[len(st.lines)-1].seq
		if !each(st) {
			return at, nil
		}
	}
}

// Read returns one durable entry; ErrNotFound says that there is none of that
// number, or that it was damaged or trimmed.
func (l *Log) Read(seq uint64) (protocol.Entry, error) {
	var out protocol.Entry
	w, _, err := l.window(seq, place{})
	if errors.Is(err, ErrClosed) {
		return out, err
	}
	notFound := fmt.Errorf("read entry %d: %w", seq, ErrNotFound)
	if err != nil || seq > l.Last() {
		return out, notFound
	}
	got := notFound
	_, err = l.scan(w, func(st stretch) bool {
		first, last := st.lines[0].seq, st.lines[len(st.lines)-1].seq
		if seq > last {
			return true
		}
		if seq < first {
			return false
		}
		entries, err := decodeBatch(l.dir, st.lines)
		if err != nil {
			l.report(finding{file(w.path), st.start, err.Error()})
			return false
		}
		out, got = entries[seq-first], nil
		return false
	})
	if err != nil && !errors.Is(err, ErrTrimmed) {
		return out, err
	}
	return out, got
}
