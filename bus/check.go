package bus

import (
	"fmt"
)

// Report is what Check found.
type Report struct {
	First, Last uint64 // Last is 0 when there is no entry
	Entries     int
	Segments    int
	Bytes       int64
	Large       int      // entries kept in files of their own
	Snapshot    uint64   // the entry the snapshot holds up to; 0 without one
	Unfinished  int64    // bytes of a write at the end that was cut short or is under way
	Holder      int      // pid of the process that holds the stream, 0 when none does
	Damage      []string // each says where and what
}

// Check examines the stream in dir without changing it or taking its lock, so
// that it may run beside a hub.
func Check(dir string) (Report, error) {
	segments, err := listSegments(dir)
	if err != nil {
		return Report{}, fmt.Errorf("check stream %s: %w", dir, err)
	}
	r := Report{Segments: len(segments), First: 1}
	if pid := readHolder(dir); alive(pid) {
		r.Holder = pid
	}
	var found []finding
	if len(segments) > 0 {
		r.First = segments[0].first
	}
	prev := r.First - 1
	for i, s := range segments {
		x, err := s.examine(prev)
		if err != nil {
			return Report{}, fmt.Errorf("check stream %s: %w", dir, err)
		}
		found = append(found, x.found...)
		found = append(found, checkBodies(dir, s)...)
		if t := x.tail; t.count > 0 && (i < len(segments)-1 || t.damaged > 0) {
			text, _ := judge(t, max(prev, s.last))
			found = append(found, finding{file(s.path), t.start, text})
		} else {
			r.Unfinished = t.end - t.start
		}
		prev = max(prev, s.last)
		r.Entries += x.entries
		r.Bytes += sizeOf(s.path)
		r.Large += len(s.blobs)
	}
	if r.Entries > 0 {
		r.Last = prev
	}
	snapshot, _, bad := readSnapshot(dir)
	r.Snapshot = snapshot
	for _, f := range append(found, bad...) {
		r.Damage = append(r.Damage, f.String())
	}
	return r, nil
}

// checkBodies looks at the large entries a segment refers to.
func checkBodies(dir string, s *segment) []finding {
	var out []finding
	for _, name := range s.blobs {
		if _, err := bodyOf(dir, line{body: append([]byte{blobMark}, name...)}); err != nil {
			out = append(out, finding{file(s.path), 0, "a large entry cannot be read: " + err.Error()})
		}
	}
	return out
}
