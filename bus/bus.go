// Package bus owns the stream: a durable, ordered, append-only log of entries.
//
//	Append -> encode -> share one write and one fsync with whoever else waits -> publish
//	                                                                              |
//	Open -> scan, cut the torn tail, report damage            Reader.Next  <------+
//
// What is promised: an entry whose Append returned is on disk and comes back
// after any crash; a batch is there as a whole or not at all; sequence numbers
// rise and are never given to two entries that anybody could have seen; a
// reader gets every entry once, in order, and only durable ones. A slow reader
// holds nothing up: it reads the files at its own pace. Damage is skipped
// batch by batch, said in the diary and kept in Damage, never silent. A full
// disk refuses appends and ends by itself once there is room again.
package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"
)

// The errors a caller branches on. ErrStorage is in storage.go.
var (
	// ErrLocked says that another process holds the stream.
	ErrLocked = errors.New("the stream is held by another hub")
	// ErrClosed says that this log was closed.
	ErrClosed = errors.New("the stream is closed")
	// ErrNotFound says that no readable entry has the sequence number.
	ErrNotFound = errors.New("no such entry in the stream")
	// ErrTrimmed says that entries a reader still needed were dropped.
	ErrTrimmed = errors.New("the entries were trimmed from the stream")
)

// defaultSegmentBytes bounds what Trim has to keep too long and what a damaged
// file can take with it, at a handful of files for a month of work.
const defaultSegmentBytes = 16 << 20

// Options tune a log; the zero value is what the hub uses.
type Options struct {
	SegmentBytes int64 // a new segment begins once this is reached; 16 MiB when 0
	Log          zerolog.Logger

	sync func(*os.File) error // tests record or refuse the fsyncs of files and folders
}

// Log is one open stream. Its methods may be called by many goroutines.
type Log struct {
	dir   string
	limit int64
	diary zerolog.Logger
	sync  func(*os.File) error
	lock  *flock.Flock
	scans sync.Pool // of *scanner, whose buffers only a reader at work needs

	// disk is the token of whoever changes files; it guards the fields up to mu.
	disk   chan struct{}
	active *os.File
	dirty  bool // a refused write may have left bytes behind the active segment's end
	buf    []byte

	mu       sync.Mutex
	waiting  []*request
	segments []*segment // at least one, in order; the last is the active one
	last     uint64     // the last durable entry
	next     uint64     // the number of the entry to come
	changed  chan struct{}
	closed   bool
	health   error
	damage   []string
	reported map[string]bool
}

// Open takes the stream in dir for this process and recovers it: a torn tail
// and an incomplete last batch are cut, damage in the middle is reported. It
// refuses with ErrLocked while another process holds the stream.
func Open(dir string, o Options) (*Log, error) {
	l := &Log{
		dir:      dir,
		limit:    o.SegmentBytes,
		diary:    o.Log,
		sync:     o.sync,
		disk:     make(chan struct{}, 1),
		changed:  make(chan struct{}),
		reported: map[string]bool{},
	}
	l.scans.New = func() any { return newScanner() }
	if l.limit <= 0 {
		l.limit = defaultSegmentBytes
	}
	if l.sync == nil {
		l.sync = (*os.File).Sync
	}
	if err := l.makeDir(filepath.Join(dir, blobFolder)); err != nil {
		return nil, fmt.Errorf("open stream: make folder: %w", err)
	}
	lock, err := take(dir)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", dir, err)
	}
	l.lock = lock
	if err := l.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("open stream %s: %w", dir, err), release(lock, dir))
	}
	return l, nil
}

// First is the lowest sequence number that may still be read. It is above Last
// when the stream holds nothing.
func (l *Log) First() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segments[0].first
}

// Last is the sequence number of the last durable entry, 0 before the first.
func (l *Log) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Damage lists what was found damaged and skipped since Open, for a person.
func (l *Log) Damage() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.damage)
}

// Health is nil, or why the last append was refused.
func (l *Log) Health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.health
}

// Close ends the readers, waits for the append under way and lets the stream
// go. It may be called twice.
func (l *Log) Close() error {
	l.disk <- struct{}{}
	defer func() { <-l.disk }()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.changed)
	l.mu.Unlock()
	return errors.Join(l.active.Close(), release(l.lock, l.dir))
}

// report keeps a finding once, however many readers come across it.
func (l *Log) report(f finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reported[f.key()] {
		return
	}
	l.reported[f.key()] = true
	l.damage = append(l.damage, f.String())
	l.diary.Error().Str("file", f.file).Int64("offset", f.off).Str("found", f.text).Msg("the stream is damaged")
}
