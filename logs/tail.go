package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// doubtful is how much of the journal's end a power cut may have spoiled: the
// pen syncs before it lets more than this, or a single longer line, stand
// unsynced. A start looks at every line of it.
const doubtful = 256 << 10

// examine finds where the journal's whole lines end and which entry the last
// of them is about. What is torn or spoiled at the end is not kept; lines of
// others are, and count as no entry.
func examine(f *os.File) (keep int64, seq uint64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	keep, err = lineStart(f, info.Size())
	if err != nil {
		return 0, 0, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	// The first window may be cut short; those before it were synced, and are
	// only searched for a line that carries a number.
	for at, first := keep, true; at > 0 && seq == 0; first = false {
		from, err := windowStart(f, at)
		if err != nil {
			return 0, 0, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		good, last, err := readWindow(f, from, at)
		if err != nil {
			return 0, 0, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		if first {
			keep = good
		}
		seq, at = last, from
	}
	return keep, seq, nil
}

// windowStart returns the start of a line at least doubtful bytes before the
// last line that ends at end.
func windowStart(f *os.File, end int64) (int64, error) {
	last, err := lineStart(f, end-1)
	if err != nil || last <= doubtful {
		return 0, err
	}
	return lineStart(f, last-doubtful)
}

// lineStart returns the offset behind the last newline before end, 0 when
// there is none.
func lineStart(f *os.File, end int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end > 0 {
		from := max(0, end-int64(len(buf)))
		part := buf[:end-from]
		if _, err := f.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// readWindow reads whole lines and stops before the first that is no JSON.
func readWindow(f *os.File, from, to int64) (good int64, seq uint64, err error) {
	data := make([]byte, to-from)
	if _, err := f.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	good = from
	for line := range bytes.Lines(data) {
		var l struct {
			Seq uint64 `json:"seq"`
		}
		if !json.Valid(line) {
			return good, seq, nil
		}
		if json.Unmarshal(line, &l) == nil && l.Seq > 0 {
			seq = l.Seq
		}
		good += int64(len(line))
	}
	return good, seq, nil
}
