package ledger

import (
	"container/heap"
	"time"

	"orchestrator-cc/protocol"
)

// The times in the stream are the machine's, which a person or a time server
// may set. Forward is simply time that passed: a machine that slept looks the
// same. Back would make everything timed wait for the clock to come round
// again, so the hub says by how much it was set back, and the timers follow.

// outOfOrder is how far the times of entries may lie out of order though nobody
// touched the clock: many writers stamp theirs before they are appended.
const outOfOrder = time.Second

// Clock is the newest time in the stream.
func (l *Ledger) Clock() time.Time { return moment(l.clock) }

// tell reads the time off an entry.
func (l *Ledger) tell(e protocol.Entry) {
	at := nanos(e.Time)
	if l.turned == 0 && at != 0 && at < l.clock-int64(outOfOrder) {
		l.turned = e.Seq
	}
	l.clock = max(l.clock, at)
}

// setBack moves what is timed by the old clock to the new one, so that it has
// the time left that it had. What came in after the clock was set has the new
// time already.
func (l *Ledger) setBack(by time.Duration, now time.Time) {
	from := l.turned
	if from == 0 {
		from = l.seq
	}
	move := func(p *parcel) {
		if p.NotBefore != 0 {
			p.NotBefore -= int64(by) // too early an attempt harms nobody
		}
		if p.Expires != 0 && p.Order < from {
			p.Expires -= int64(by)
		}
	}
	for _, n := range l.nodes {
		if n.Seq < from {
			n.Since -= int64(by)
		}
		if n.parcel != nil {
			move(n.parcel)
		}
	}
	for _, s := range l.order {
		for _, p := range s.notes {
			move(p)
		}
	}
	heap.Init(&l.timers)
	l.clock, l.turned = nanos(now), 0
	for i := range l.shelf.trees {
		l.shelf.trees[i].at = min(l.shelf.trees[i].at, l.clock)
	}
}
