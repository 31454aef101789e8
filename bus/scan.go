package bus

import (
	"bufio"
	"errors"
	"io"
)

// A segment is read stretch by stretch:
//
//	line 1/1                              -> whole: a batch
//	line 1/2, line 2/2                    -> whole: a batch
//	broken bytes ... up to a line 1/n     -> broken: damage in the middle
//	broken or unfinished up to the end    -> tail: the writer decides by its place
type stretchKind int

const (
	whole stretchKind = iota
	broken
	tail
)

type stretch struct {
	kind       stretchKind
	start, end int64
	lines      []line // of a whole batch; valid until the next call
	count      int    // lines, for broken and tail
	damaged    int    // of these: complete lines whose checksum is wrong
}

// scanBuffer holds the longest line twice.
const scanBuffer = 2*inlineLimit + 4096

type scanner struct {
	r     *bufio.Reader
	off   int64
	held  *line // read already, but it begins the next stretch
	heldN int64
	arena []byte // the bodies of the batch being collected
	lines []line
}

func newScanner() *scanner { return &scanner{r: bufio.NewReaderSize(nil, scanBuffer)} }

// reset makes the scanner read src, whose first byte is at off in its segment.
func (s *scanner) reset(src io.Reader, off int64) {
	s.r.Reset(src)
	s.off, s.held = off, nil
}

// next returns the next stretch, and io.EOF behind the last one.
func (s *scanner) next() (stretch, error) {
	s.arena, s.lines = s.arena[:0], s.lines[:0]
	st := stretch{start: s.off}
	lost := false // this stretch can no longer become a batch
	for {
		n, size, state, err := s.line()
		switch {
		case err == io.EOF && st.count == 0:
			return st, io.EOF
		case err == io.EOF:
			st.kind, st.end = tail, s.off
			return st, nil
		case err != nil:
			return st, err
		case state == lineGood && n.part == 1 && st.count > 0:
			s.hold(n, size)
			st.kind, st.end = broken, s.off
			return st, nil
		}
		s.off += size
		st.count++
		if state == lineBad {
			st.damaged++
		}
		if lost = lost || state != lineGood || !s.continues(n); lost {
			continue
		}
		s.arena = append(s.arena, n.body...)
		s.lines = append(s.lines, n)
		if n.part == n.of {
			st.kind, st.end, st.lines = whole, s.off, s.settle()
			return st, nil
		}
	}
}

// continues tells whether n is the line the batch being collected waits for.
func (s *scanner) continues(n line) bool {
	if len(s.lines) == 0 {
		return n.part == 1
	}
	prev := s.lines[len(s.lines)-1]
	return prev.of == n.of && prev.part+1 == n.part && prev.seq+1 == n.seq
}

// settle points the lines at their copies: the read buffer they were parsed
// in has been used again, and the arena moved while it grew.
func (s *scanner) settle() []line {
	from := 0
	for i, n := range s.lines {
		to := from + len(n.body)
		s.lines[i].body = s.arena[from:to:to]
		from = to
	}
	return s.lines
}

func (s *scanner) hold(n line, size int64) {
	n.body = append([]byte(nil), n.body...)
	s.held, s.heldN = &n, size
}

type lineState int

const (
	lineGood lineState = iota
	lineBad            // complete, and wrong
	lineTorn           // the file ends within it
)

// line reads one line; its body is valid until the next call.
func (s *scanner) line() (n line, size int64, state lineState, err error) {
	if s.held != nil {
		n, s.held = *s.held, nil
		return n, s.heldN, lineGood, nil
	}
	b, err := s.r.ReadSlice('\n')
	size = int64(len(b))
	for errors.Is(err, bufio.ErrBufferFull) { // no line of ours is that long
		state = lineBad
		b, err = s.r.ReadSlice('\n')
		size += int64(len(b))
	}
	if err == io.EOF && size > 0 {
		// A complete line whose newline was hit looks like a torn one.
		if _, ok := parseLine(b[:max(len(b)-1, 0)]); ok {
			return n, size, lineBad, nil
		}
		return n, size, lineTorn, nil
	}
	if err != nil {
		return n, size, lineTorn, err
	}
	if state == lineBad {
		return n, size, lineBad, nil
	}
	n, ok := parseLine(b[:len(b)-1])
	if !ok {
		return n, size, lineBad, nil
	}
	return n, size, lineGood, nil
}
