// Package logs owns the journal, logs/messages.jsonl: one JSON object a line
// for every message the house accepted.
//
//	stream -> Source.Next -> LineOf -> one write a line -> tail -f, Follow, Read
//
// The journal is a projection of the stream, and each line carries its
// sequence number. So a journal that was killed reads its own last line and
// goes on from there: no line is lost, doubled or torn. While the disk is full
// or the folder read-only the journal says so in Problem and holds the line
// until there is room; nobody but the journal waits for it. A file that was
// moved or deleted is begun anew with the line that comes next.
package logs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/rs/zerolog"

	"orchestrator-cc/protocol"
)

// Source is what the journal follows: every entry once, in order.
type Source interface {
	Next(ctx context.Context) (protocol.Entry, error)
}

// defaultKeep is how many full files stay beside the journal.
const defaultKeep = 5

// Options tune a journal; the zero value never rotates.
type Options struct {
	MaxBytes int64 // the file is moved to <path>.1 before it grows beyond; 0 means never
	Keep     int   // how many moved files stay; 5 when 0
	Log      zerolog.Logger
}

// Journal writes the lines. Run has the file to itself; the other methods may
// be called at any time.
type Journal struct {
	path  string
	limit int64
	keep  int
	diary zerolog.Logger
	pen   pen

	mu      sync.Mutex
	last    uint64
	problem error
}

// Open finds out how far the journal at path has come. A folder or file that
// cannot be written is not an error here but a Problem, which Run waits out; a
// journal that cannot be read is an error, because going on could double lines.
func Open(path string, o Options) (*Journal, error) {
	j := &Journal{path: path, limit: o.MaxBytes, keep: o.Keep, diary: o.Log, pen: pen{path: path}}
	if j.keep <= 0 {
		j.keep = defaultKeep
	}
	// The journal was moved and not begun again: its last line is in the moved file.
	for _, name := range []string{path, moved(path, 1)} {
		last, err := lastSeq(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open journal: %w", err)
		}
		if last > 0 {
			j.last = last
			break
		}
	}
	j.setProblem(j.pen.attach())
	return j, nil
}

func lastSeq(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	_, seq, err := examine(f)
	return seq, err
}

// LastSeq is the sequence number of the last line: the journal wants to follow
// the stream after it.
func (j *Journal) LastSeq() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Rewind makes the journal go on after seq. It is for a stream that was begun
// anew below an older journal, whose numbers would otherwise be skipped.
func (j *Journal) Rewind(seq uint64) { j.setLast(seq) }

func (j *Journal) setLast(seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = seq
}

// Problem is nil, or why lines are held back.
func (j *Journal) Problem() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.problem
}

func (j *Journal) setProblem(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if (err == nil) != (j.problem == nil) {
		j.diary.Warn().Err(err).Str("path", j.path).Bool("held", err != nil).Msg("the journal's state changed")
	}
	if err != nil {
		err = fmt.Errorf("write journal %s: %w; make room or make it writable, the lines follow by themselves", j.path, err)
	}
	j.problem = err
}

// Run writes a line for each accepted message of src until ctx ends, which
// returns nil, or src does, which returns its error. It runs once.
func (j *Journal) Run(ctx context.Context, src Source) error {
	defer j.pen.close()
	if j.Problem() != nil && !j.write(ctx, nil) { // wait until the file can be opened
		return nil
	}
	for {
		e, err := src.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow the stream for the journal: %w", err)
		}
		l, ok := LineOf(e)
		if !ok || e.Seq <= j.LastSeq() {
			continue
		}
		text, err := l.encode()
		if err != nil {
			return fmt.Errorf("write journal line of entry %d: %w", e.Seq, err)
		}
		if !j.write(ctx, text) {
			return nil
		}
		j.setLast(e.Seq)
	}
}
