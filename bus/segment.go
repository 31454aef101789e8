package bus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// segment is one file of the stream: <first>.log. What is in memory of it is a
// sparse index and the names of the large bodies it refers to.
type segment struct {
	path  string
	first uint64 // no entry in it is lower
	last  uint64 // its last entry; first-1 while it holds none
	size  int64  // the durable bytes; always the end of a batch
	marks []mark
	blobs []string
}

// mark says where the batch that begins with seq stands.
type mark struct {
	seq uint64
	off int64
}

// markEvery is the distance between marks: what reading one entry scans at
// most, against 16 bytes of memory.
const markEvery = 64 << 10

const segmentSuffix = ".log"

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentSuffix))
}

// add notes a durable batch.
func (s *segment) add(start, end int64, lines []line) {
	if n := len(s.marks); n == 0 || start-s.marks[n-1].off >= markEvery {
		s.marks = append(s.marks, mark{lines[0].seq, start})
	}
	for _, n := range lines {
		if name, ok := blobOf(n.body); ok {
			s.blobs = append(s.blobs, name)
		}
	}
	s.last, s.size = lines[len(lines)-1].seq, end
}

// seek returns where to begin scanning for seq.
func (s *segment) seek(seq uint64) mark {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].seq > seq })
	if i == 0 {
		return mark{s.first, 0}
	}
	return s.marks[i-1]
}

// finding is something wrong at a place of a file.
type finding struct {
	file string
	off  int64
	text string
}

func (f finding) key() string    { return f.file + ":" + strconv.FormatInt(f.off, 10) }
func (f finding) String() string { return fmt.Sprintf("%s at byte %d: %s", f.file, f.off, f.text) }

func file(path string) string { return filepath.Base(path) }

// listSegments returns the segments of dir by their names, in order.
func listSegments(dir string) ([]*segment, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*segment
	for _, f := range files {
		stem, ok := strings.CutSuffix(f.Name(), segmentSuffix)
		first, err := strconv.ParseUint(stem, 10, 64)
		if !ok || err != nil || first == 0 || !f.Type().IsRegular() {
			continue
		}
		out = append(out, &segment{path: filepath.Join(dir, f.Name()), first: first, last: first - 1})
	}
	slices.SortFunc(out, func(a, b *segment) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	return out, nil
}

// examination is what was found in a segment.
type examination struct {
	found   []finding
	tail    stretch // what stands behind the last batch; empty when nothing does
	entries int
}

// examine scans a segment and fills its index. prev is the last entry before
// it, so that entries missing in between are noticed.
func (s *segment) examine(prev uint64) (examination, error) {
	var x examination
	f, err := os.Open(s.path)
	if err != nil {
		return x, err
	}
	defer f.Close()
	name := file(s.path)
	if s.first > prev+1 {
		x.found = append(x.found, finding{name, 0, missing(prev, s.first)})
		prev = s.first - 1
	}
	scan := newScanner()
	scan.reset(f, 0)
	for {
		st, err := scan.next()
		if errors.Is(err, io.EOF) {
			return x, nil
		}
		if err != nil {
			return x, fmt.Errorf("read %s: %w", s.path, err)
		}
		if st.kind == tail {
			x.tail = st
			return x, nil
		}
		if text, usable := judge(st, prev); text != "" {
			x.found = append(x.found, finding{name, st.start, text})
			if !usable {
				continue
			}
		}
		x.entries += len(st.lines)
		s.add(st.start, st.end, st.lines)
		prev = s.last
	}
}

// judge says what is wrong with a stretch that follows the entry prev, and
// whether its batch is to be read all the same. A tail is judged as damage:
// whoever may cut one does so before.
func judge(st stretch, prev uint64) (text string, usable bool) {
	if st.kind != whole {
		return fmt.Sprintf("%d bytes (%d lines) after entry %d are damaged and skipped", st.end-st.start, st.count, prev), false
	}
	first := st.lines[0].seq
	switch {
	case first <= prev:
		return fmt.Sprintf("entry %d stands after entry %d and is skipped", first, prev), false
	case first > prev+1:
		return missing(prev, first), true
	}
	return "", true
}

// missing words a gap. It claims no more than is known: after damage at the
// end of the stream numbers are left out that no entry ever had.
func missing(prev, next uint64) string {
	return fmt.Sprintf("nothing can be read between entry %d and entry %d", prev, next)
}
