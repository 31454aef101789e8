package bus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// The snapshot is one file: the SHA-256 of what follows its first space, the
// sequence number, a newline, the data.
const snapshotName = "snapshot"

// SaveSnapshot keeps data as the fold of all entries up to seq, in the place
// of the snapshot before it. A crash leaves one of the two.
func (l *Log) SaveSnapshot(seq uint64, data []byte) error {
	l.disk <- struct{}{}
	defer func() { <-l.disk }()
	if l.isClosed() {
		return ErrClosed
	}
	if last := l.Last(); seq > last {
		return fmt.Errorf("save snapshot: entry %d is not in the stream yet; its last is %d", seq, last)
	}
	rest := append(strconv.AppendUint(nil, seq, 10), '\n')
	rest = append(rest, data...)
	sum := sha256.Sum256(rest)
	file := append(hex.AppendEncode(nil, sum[:]), ' ')
	if err := l.replace(l.dir, filepath.Join(l.dir, snapshotName), append(file, rest...)); err != nil {
		return refuse("save snapshot", err)
	}
	return nil
}

// Snapshot returns the last snapshot and the sequence number it holds up to.
// A damaged one is reported and counts as none.
func (l *Log) Snapshot() (seq uint64, data []byte, ok bool) {
	l.disk <- struct{}{}
	defer func() { <-l.disk }()
	seq, data, found := readSnapshot(l.dir)
	for _, f := range found {
		l.report(f)
	}
	return seq, data, data != nil
}

// readSnapshot returns nil data where there is no usable snapshot.
func readSnapshot(dir string) (uint64, []byte, []finding) {
	file, err := os.ReadFile(filepath.Join(dir, snapshotName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, []finding{{snapshotName, 0, err.Error()}}
	}
	want, rest, _ := bytes.Cut(file, []byte{' '})
	sum := sha256.Sum256(rest)
	number, data, ok := bytes.Cut(rest, []byte{'\n'})
	seq, err := strconv.ParseUint(string(number), 10, 64)
	if !ok || err != nil || hex.EncodeToString(sum[:]) != string(want) {
		return 0, nil, []finding{{snapshotName, 0, "the snapshot is damaged and ignored; the stream is replayed instead"}}
	}
	return seq, data[:len(data):len(data)], nil
}
