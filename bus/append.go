package bus

import (
	"context"
	"fmt"
	"slices"

	"orchestrator-cc/protocol"
)

// request is one batch on its way to the disk.
type request struct {
	bodies [][]byte
	done   chan struct{}
	last   uint64
	err    error
}

// Append gives the entries the next sequence numbers, in order and without a
// gap, and returns the last of them once all are durable. The batch is kept as
// a whole or not at all. When ctx ends before the batch was taken up nothing
// is kept; afterwards Append waits for the outcome, so that it is always known.
//
// Whoever finds the disk free writes for everybody who waits: one write and
// one fsync, however many appenders there are.
func (l *Log) Append(ctx context.Context, batch ...protocol.Entry) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(batch) == 0 {
		return l.Last(), nil
	}
	req := &request{done: make(chan struct{}), bodies: make([][]byte, len(batch))}
	for i, e := range batch {
		body, err := encode(e)
		if err != nil {
			return 0, fmt.Errorf("append to the stream: encode entry %d of %d: %w", i+1, len(batch), err)
		}
		req.bodies[i] = body
	}
	l.mu.Lock()
	l.waiting = append(l.waiting, req)
	l.mu.Unlock()
	select {
	case <-req.done:
	case l.disk <- struct{}{}:
		l.commitWaiting()
		<-l.disk
		<-req.done
	case <-ctx.Done():
		if l.withdraw(req) {
			return 0, ctx.Err()
		}
		<-req.done
	}
	return req.last, req.err
}

// withdraw takes back a request that nobody has taken up.
func (l *Log) withdraw(req *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, req)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}

// commitWaiting writes what waits. The caller has the disk token.
func (l *Log) commitWaiting() {
	l.mu.Lock()
	reqs, closed := l.waiting, l.closed
	l.waiting = nil
	l.mu.Unlock()
	if len(reqs) == 0 {
		return
	}
	if closed {
		finish(reqs, ErrClosed)
		return
	}
	if err := l.prepare(); err != nil {
		l.refuseAll(reqs, err)
		return
	}
	reqs = l.keepLarge(reqs)
	if len(reqs) == 0 {
		return
	}
	commit := l.lay(reqs)
	s := l.segments[len(l.segments)-1]
	_, err := l.active.WriteAt(l.buf, s.size)
	if err == nil {
		err = l.sync(l.active)
	}
	if err != nil {
		// Cut at once what was written; where even that is refused, prepare
		// does it before the next write.
		l.dirty = true
		_ = l.mend()
		l.refuseAll(reqs, refuse("append to the stream", err))
		return
	}
	l.publish(commit)
	finish(reqs, nil)
}

// prepare makes the active segment ready for a write at its end.
func (l *Log) prepare() error {
	if err := l.mend(); err != nil {
		return refuse("append to the stream: cut an earlier refused write", err)
	}
	if l.segments[len(l.segments)-1].size < l.limit {
		return nil
	}
	if err := l.begin(); err != nil {
		return refuse("append to the stream", err)
	}
	return nil
}

// mend cuts what a refused write left behind the durable end. The fsync makes
// sure that no crash brings it back.
func (l *Log) mend() error {
	if !l.dirty {
		return nil
	}
	if err := l.active.Truncate(l.segments[len(l.segments)-1].size); err != nil {
		return err
	}
	if err := l.sync(l.active); err != nil {
		return err
	}
	l.dirty = false
	return nil
}

// keepLarge moves large bodies into files of their own and returns the
// requests for which that worked.
func (l *Log) keepLarge(reqs []*request) []*request {
	kept := reqs[:0:0]
	for _, req := range reqs {
		if err := l.keepBodies(req.bodies); err != nil {
			l.refuseAll([]*request{req}, refuse("append to the stream: keep a large entry", err))
			continue
		}
		kept = append(kept, req)
	}
	return kept
}

// placed is where one batch comes to stand in the write.
type placed struct {
	start, end int64
	lines      []line
}

// lay fills the write buffer and numbers the entries.
func (l *Log) lay(reqs []*request) []placed {
	l.buf = l.buf[:0]
	base := l.segments[len(l.segments)-1].size
	seq := l.next
	out := make([]placed, 0, len(reqs))
	for _, req := range reqs {
		p := placed{start: base + int64(len(l.buf))}
		for i, body := range req.bodies {
			n := line{seq: seq, part: i + 1, of: len(req.bodies), body: body}
			l.buf = appendLine(l.buf, n)
			p.lines = append(p.lines, n)
			seq++
		}
		p.end = base + int64(len(l.buf))
		req.last = seq - 1
		out = append(out, p)
	}
	return out
}

// publish shows durable batches to the readers.
func (l *Log) publish(commit []placed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.segments[len(l.segments)-1]
	for _, p := range commit {
		s.add(p.start, p.end, p.lines)
	}
	l.last, l.next, l.health = s.last, s.last+1, nil
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Log) refuseAll(reqs []*request, err error) {
	l.mu.Lock()
	l.health = err
	l.mu.Unlock()
	for _, req := range reqs {
		req.last = 0
	}
	finish(reqs, err)
}

func finish(reqs []*request, err error) {
	for _, req := range reqs {
		req.err = err
		close(req.done)
	}
}
