package ledger

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"orchestrator-cc/protocol"
)

// Plan is what the hub is to do now.
type Plan struct {
	// Append holds batches owed to the stream. Once they are applied more may
	// follow from them, so ask again.
	Append [][]protocol.Entry
	// Deliver holds what may be claimed, at most one for each free agent.
	Deliver []Delivery
	// Interrupt holds turns that are to be stopped; each is listed until it ends.
	Interrupt []Delivery
	// Wake is when to ask again though nothing was applied; zero: not at all.
	Wake time.Time
}

// Next tells what is to be done at a moment. It changes nothing.
func (l *Ledger) Next(now time.Time) Plan {
	var plan Plan
	at := nanos(now)
	for _, n := range slices.SortedFunc(maps.Keys(l.dueNodes), bySeq) {
		if batch := l.owed(n, now); len(batch) > 0 {
			plan.Append = append(plan.Append, batch)
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(l.dueNotes), compareNotes) {
		if batch := l.owedFor(p, now); len(batch) > 0 {
			plan.Append = append(plan.Append, batch)
		}
	}
	late, wake := l.passed(at)
	for _, p := range late {
		if p.seat.known {
			plan.Append = append(plan.Append, l.expire(p, now))
		}
	}
	for _, s := range l.order {
		p, later := l.pick(s, at)
		if p != nil {
			plan.Deliver = append(plan.Deliver, p.delivery())
		}
		wake = sooner(wake, later)
		if b := s.busy; b != nil && (b.Overtaken || b.node != nil && b.node.Doom != nil) {
			plan.Interrupt = append(plan.Interrupt, b.delivery())
		}
	}
	plan.Wake = moment(wake)
	return plan
}

func compareNotes(a, b *parcel) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.seat.name, b.seat.name))
}

// owed is the batch a task owes to the stream, if any.
func (l *Ledger) owed(n *node, now time.Time) []protocol.Entry {
	p := n.parcel
	switch {
	case p != nil && p.underWay():
		return nil
	case n.Doom != nil:
		if n.openKids > 0 {
			return nil
		}
		return l.finish(n, n.Doom, now)
	case !n.open():
		return l.fresh(l.lastStep(n, n.Code, n.Reason, now)...)
	case p == nil && n.openKids == 0 && len(n.Results) == 0:
		a := Answer{}
		if n.Recorded != nil {
			a = *n.Recorded
		}
		return l.fresh(l.response(n, a, now))
	case !n.seat.known && p != nil:
		return l.finish(n, strangerTo(n.seat, n.ID), now)
	}
	return nil
}

// finish says the end of a task: a nack where the agent never took the prompt,
// the error to the asker, and the last step of what was queued.
func (l *Ledger) finish(n *node, v *verdict, now time.Time) []protocol.Entry {
	var batch []protocol.Entry
	if p := n.parcel; p != nil && p.isRequest() && p.Attempt > 0 && !p.Taken && v.Code != protocol.CodeCancelled {
		nack := &protocol.NackPayload{ReceivedAt: stamp(now), NackReason: cmp.Or(v.Reason, string(v.Code))}
		batch = append(batch, l.make(now, n, derive("nack", n.ID+v.Cause, n.Claims), nack))
	}
	batch = append(batch, l.failure(n, v, now))
	return l.fresh(append(batch, l.lastStep(n, v.Code, v.Reason, now)...)...)
}

// lastStep takes what is still queued for a task out of the queue.
func (l *Ledger) lastStep(n *node, code protocol.Code, reason string, now time.Time) []protocol.Entry {
	if n.parcel == nil {
		return nil
	}
	return []protocol.Entry{stepEntry(now, n.parcel.drop(code, reason))}
}

func (p *parcel) drop(code protocol.Code, reason string) *protocol.Step {
	s := &protocol.Step{Name: protocol.DeadEnd, Agent: p.seat.name, Messages: slices.Clone(p.Messages), Task: p.root(), Attempt: p.Attempt, Req: p.Req, Code: code, Reason: reason}
	switch code {
	case protocol.CodeCancelled:
		s.Name = protocol.Dropped
	case protocol.CodeExpired:
		s.Name = protocol.Expired
	}
	return s
}

// owedFor is the end of a note that nobody will read.
func (l *Ledger) owedFor(p *parcel, now time.Time) []protocol.Entry {
	v := p.Spent
	if v == nil && !p.seat.known && !p.underWay() {
		v = strangerTo(p.seat, p.id())
	}
	if v == nil {
		return nil
	}
	return l.endNote(p, v, now)
}

// expire ends what waited longer than its time to live.
func (l *Ledger) expire(p *parcel, now time.Time) []protocol.Entry {
	v := &verdict{Code: protocol.CodeExpired, Cause: p.id(), Reason: "not delivered to " + p.seat.name + " within its ttl_seconds"}
	if p.node != nil {
		return l.finish(p.node, v, now)
	}
	return l.endNote(p, v, now)
}

// endNote tells the sender of an event that it did not arrive. The error is
// not typed: nobody waits for an event.
func (l *Ledger) endNote(p *parcel, v *verdict, now time.Time) []protocol.Entry {
	step := stepEntry(now, p.drop(v.Code, v.Reason))
	if p.Kind != protocol.Event || p.From == protocol.Hub {
		return []protocol.Entry{step}
	}
	payload := &protocol.ErrorPayload{ErrorCode: string(v.Code), ErrorType: v.Code.ErrorType(), Message: cmp.Or(v.Reason, string(v.Code))}
	m := protocol.New(protocol.FromHub(), l.party(p.From), payload).About(p.id())
	m.Header.MessageID = derive("undelivered", p.id()+p.seat.name, p.Attempt)
	m.Stamp(now)
	e := protocol.Entry{Time: now, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: p.Task}}
	return l.fresh(e, step)
}

func strangerTo(s *seat, cause string) *verdict {
	return &verdict{Code: protocol.CodeUnknownAgent, Reason: s.name + " is no longer in the configuration", Cause: cause}
}
