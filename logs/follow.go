package logs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"
)

// Filter chooses lines; the zero value takes all.
type Filter struct {
	Agent string // sender or recipient
	Task  string
	After uint64 // only lines above this sequence number
}

// Match tells whether the filter takes a line.
func (f Filter) Match(l Line) bool {
	return (f.Agent == "" || l.From == f.Agent || l.To == f.Agent) &&
		(f.Task == "" || l.TaskID == f.Task || l.ID == f.Task) &&
		l.Seq > f.After
}

// Read yields the lines of the journal at path, the oldest moved file first.
// A line that cannot be read comes as an error, and the reading goes on.
func Read(path string, f Filter) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		files, err := openAll(path, func(*os.File) bool { return false })
		defer closeAll(files)
		if err != nil {
			yield(Line{}, fmt.Errorf("read journal: %w", err))
			return
		}
		for _, file := range files {
			if !eachLine(file, func(l Line, err error) bool {
				return (err == nil && !f.Match(l)) || yield(l, err)
			}) {
				return
			}
		}
	}
}

// openAll opens the journal and its moved files and returns them oldest first.
// It opens them youngest first, up to one that is enough: a file only ever
// moves to a higher number, so one that moves meanwhile is met twice in a row
// and never missed.
func openAll(path string, enough func(*os.File) bool) ([]*os.File, error) {
	var files []*os.File
	name, missed := path, 0
	for i := 1; missed < 2; i++ { // moving leaves one number free for a moment
		f, err := os.Open(name)
		name = moved(path, i)
		if errors.Is(err, fs.ErrNotExist) {
			missed++
			continue
		}
		if err != nil {
			closeAll(files)
			return nil, err
		}
		missed = 0
		if n := len(files); n > 0 && sameFile(files[n-1], f) {
			_ = f.Close()
			continue
		}
		files = append(files, f)
		if enough(f) {
			break
		}
	}
	slices.Reverse(files)
	return files, nil
}

func sameFile(a, b *os.File) bool {
	x, err1 := a.Stat()
	y, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// eachLine hands over the whole lines of a file until use returns false.
func eachLine(f *os.File, use func(Line, error) bool) bool {
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return true // what has no newline yet is not a line yet
		}
		var l Line
		if err != nil {
			use(l, fmt.Errorf("read journal: %w", err))
			return false
		}
		if err = json.Unmarshal(text, &l); err != nil {
			err = fmt.Errorf("read journal %s: line %d: %w", f.Name(), n, err)
		}
		if !use(l, err) {
			return false
		}
	}
}

// followTick is how often a follower looks for more: well within the time a
// person notices, at a thousandth of a core.
const followTick = 5 * time.Millisecond

// FollowOptions choose what Follow hands over.
type FollowOptions struct {
	Filter
	FromEnd bool // leave out what stands in the journal already
}

// Follow hands each line of the journal at path to fn, once, and waits for
// more until ctx ends, which returns nil, or fn returns an error, which it
// returns. It goes on through moving, deleting, shortening and rebuilding of
// the file, and waits for one that does not exist yet. Lines that are no JSON
// are left out.
func Follow(ctx context.Context, path string, fn func(Line) error, o FollowOptions) error {
	t := &follower{path: path, use: fn, o: o}
	defer t.close()
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	for {
		if err := t.step(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

type follower struct {
	path string
	use  func(Line) error
	o    FollowOptions

	file   *os.File
	in     *bufio.Reader
	off    int64
	part   []byte // of a line whose end is not there yet
	last   Line
	repeat bool // this file may begin with lines that were handed over before
}

// step reads all there is, and changes over to another file when the path
// names one.
func (t *follower) step() error {
	if t.file == nil {
		return t.begin()
	}
	there, err := os.Stat(t.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("follow journal: %w", err)
	}
	if err := t.drain(); err != nil {
		return err
	}
	own, statErr := t.file.Stat()
	if statErr != nil {
		return fmt.Errorf("follow journal: %w", statErr)
	}
	if err != nil || (os.SameFile(own, there) && own.Size() >= t.off) {
		return nil
	}
	return t.change()
}

// begin opens the journal for the first time, as soon as it exists.
func (t *follower) begin() error {
	if !t.o.FromEnd {
		return t.change()
	}
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		t.o.FromEnd = false // what comes into being now is new
		return nil
	}
	if err != nil {
		return fmt.Errorf("follow journal: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		end, err = lineStart(f, end)
	}
	if err == nil {
		end, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("follow journal: %w", err), f.Close())
	}
	t.take(f, end)
	return t.drain()
}

// change goes on in the files there are now, after the line that came last.
// Several may have been filled since the last look, so it searches the moved
// ones too. Where that line is nowhere, the journal may be in the middle of
// being written again from its beginning, and what is known is left out.
func (t *follower) change() error {
	t.repeat = true
	var after int64
	files, err := openAll(t.path, func(f *os.File) bool {
		off, found := behind(f, t.last.ID)
		if found {
			t.repeat, after = false, off
		}
		return found
	})
	if err != nil {
		return fmt.Errorf("follow journal: %w", err)
	}
	for i, f := range files {
		off := int64(0)
		if i == 0 {
			off = after
		}
		if _, err = f.Seek(off, io.SeekStart); err == nil {
			t.take(f, off)
			err = t.drain()
		}
		if err != nil {
			closeAll(files[i:])
			return err
		}
	}
	return nil
}

// behind finds the end of a message's line in a journal file.
func behind(f *os.File, id string) (off int64, found bool) {
	if id == "" {
		return 0, false
	}
	t := follower{in: bufio.NewReader(f)}
	for {
		l, ok, err := t.line()
		if err != nil || !ok {
			return 0, false
		}
		if l.ID == id {
			return t.off, true
		}
	}
}

// take makes f the file being read.
func (t *follower) take(f *os.File, off int64) {
	t.close()
	t.file, t.in, t.off, t.part = f, bufio.NewReader(f), off, nil
}

func (t *follower) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// drain hands over every whole line up to the end of the file.
func (t *follower) drain() error {
	for {
		l, ok, err := t.line()
		if err != nil || !ok {
			return err
		}
		if t.repeat && l.Seq <= t.last.Seq && l.Timestamp <= t.last.Timestamp {
			continue
		}
		t.last = l
		if !t.o.Match(l) {
			continue
		}
		if err := t.use(l); err != nil {
			return err
		}
	}
}

// line returns the next whole line that can be read; it is not ok at the end.
func (t *follower) line() (l Line, ok bool, err error) {
	for {
		text, err := t.in.ReadBytes('\n')
		t.off += int64(len(text))
		t.part = append(t.part, text...)
		if err == io.EOF {
			return l, false, nil
		}
		if err != nil {
			return l, false, fmt.Errorf("follow journal: %w", err)
		}
		var next Line
		bad := json.Unmarshal(t.part, &next)
		t.part = t.part[:0]
		if bad == nil {
			return next, true, nil
		}
	}
}
