package bus

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"orchestrator-cc/protocol"
)

// rawBatch is a batch out of the scanner's buffers, and what became of it.
type rawBatch struct {
	off     int64
	lines   []line
	entries []protocol.Entry
	err     error
}

func copyBatch(st stretch) rawBatch {
	b := rawBatch{off: st.start, lines: make([]line, len(st.lines))}
	for i, n := range st.lines {
		n.body = bytes.Clone(n.body)
		b.lines[i] = n
	}
	return b
}

// decodeShare is how many entries make a further processor worth waking.
const decodeShare = 64

// decodeAll decodes batches of n entries in all. Nearly all the time of a
// replay goes into this, so a long chunk is shared among the processors.
func (l *Log) decodeAll(batches []rawBatch, n int) {
	var taken atomic.Int64
	work := func() {
		for i := taken.Add(1) - 1; i < int64(len(batches)); i = taken.Add(1) - 1 {
			b := &batches[i]
			b.entries, b.err = decodeBatch(l.dir, b.lines)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/decodeShare) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// decodeBatch returns the entries of a batch, all or none.
func decodeBatch(dir string, lines []line) ([]protocol.Entry, error) {
	out := make([]protocol.Entry, 0, len(lines))
	for _, n := range lines {
		body, err := bodyOf(dir, n)
		if err != nil {
			return nil, fmt.Errorf("entry %d is skipped: %w", n.seq, err)
		}
		e, err := decode(n.seq, body)
		if err != nil {
			return nil, fmt.Errorf("entry %d is skipped: %w", n.seq, err)
		}
		out = append(out, e)
	}
	return out, nil
}
