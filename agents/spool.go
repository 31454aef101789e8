package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"orchestrator-cc/protocol"
)

// A spool is the file to which the program in a pane, or a hook of it, appends
// what it has to tell: one report a line, each line by one write. What was
// written while nobody read stays there.

// SpoolVariable names the environment variable that tells a pane its spool.
const SpoolVariable = "ORCHESTRATOR_CC_SPOOL"

// Append writes one report to a spool. Lines of several writers do not mix.
func Append(path string, r protocol.Report) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("report %s: %w", r.Event, err)
	}
	_, err = f.Write(r.Line())
	return errors.Join(err, f.Close())
}

// spool reads a file that grows. It survives a line that is still being
// written, a line that is no report, and a file that is replaced or cut.
type spool struct {
	path   string
	offset int64
	before []byte // what stands before the offset; a new file has something else there
}

// maxReport bounds one line, and with it what a broken writer can cost us.
const maxReport = 16 << 20

// news returns the reports that were added since the last call.
func (s *spool) news() (out []protocol.Report, err error) {
	lines, err := s.lines()
	for _, line := range lines {
		var r protocol.Report
		if json.Unmarshal(line, &r) == nil && r.Event != "" {
			out = append(out, r)
		}
	}
	return out, err
}

// lines returns what was added since the last call, whole lines only.
func (s *spool) lines() ([][]byte, error) {
	if s.path == "" {
		return nil, nil
	}
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.offset, s.before = 0, nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	if info.Size() < s.offset || !bytes.Equal(ahead(f, s.offset), s.before) {
		s.offset = 0
	}
	if info.Size() == s.offset {
		return nil, nil
	}
	lines, err := s.read(f, info.Size())
	s.before = ahead(f, s.offset)
	return lines, err
}

// ahead reads the end of what stands before an offset: enough of a line, with
// its time, to tell one file from another.
func ahead(f *os.File, offset int64) []byte {
	data := make([]byte, min(offset, 64))
	n, err := f.ReadAt(data, offset-int64(len(data)))
	if err != nil && n < len(data) {
		return nil
	}
	return data
}

func (s *spool) read(f *os.File, size int64) (out [][]byte, err error) {
	data := make([]byte, min(size-s.offset, 4*maxReport))
	n, err := f.ReadAt(data, s.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	data = data[:n]
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			if len(line) > maxReport {
				s.offset += int64(len(line)) // nobody writes such a line; its rest will not decode either
			}
			return out, nil
		}
		s.offset += int64(len(line)) + 1
		data = rest
		out = append(out, line)
	}
}

// skip forgets what the spool holds now: it was written by a process that is
// no longer there.
func (s *spool) skip() {
	s.offset, s.before = 0, nil
	f, err := os.Open(s.path)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		s.offset, s.before = info.Size(), ahead(f, info.Size())
	}
}
