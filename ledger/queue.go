package ledger

import (
	"cmp"
	"container/heap"
	"slices"

	"orchestrator-cc/protocol"
)

// seat is an agent's place: what it works on and what waits for it.
type seat struct {
	name   string
	role   protocol.Role
	marker string
	known  bool // configured now, not only once

	current *node   // the task it holds, from the first claim to the result
	asides  []*node // tasks that a person began at the pane meanwhile; they come next
	busy    *parcel // the delivery under way
	lanes   []*lane
	notes   map[string]*parcel // queued or under way, by message id
	open    int                // tasks that are not over
	paused  bool
	stopped bool
	wall    wall
	mind    mind

	tokens  int64           // what it may take; 0: no limit
	used    protocol.Tokens // what it took, ever
	granted int64           // what it had taken when a person last let it go on
	usedAt  int64           // when it last took any
}

func (s *seat) belongsTo(group string) bool {
	return group == protocol.All ||
		group == protocol.RolePrefix+string(s.role.Rank()) ||
		group == protocol.RolePrefix+string(s.role)
}

// lane holds what one sender sent with one priority. Only its head may be
// delivered: that is the promise of order.
type lane struct {
	from    string
	weight  int
	parcels []*parcel
}

// parcel is what is typed into one pane as one prompt: a request, an event, or
// all results of a turn. One that belongs to no task is a note. The exported
// fields are what a snapshot keeps.
type parcel struct {
	seat *seat
	node *node // nil for a note
	slot int   // its place among the timers

	Kind     protocol.Type `json:"kind"`
	Messages []string      `json:"messages"`
	From     string        `json:"from"`
	Weight   int           `json:"weight"`
	Order    uint64        `json:"order,omitempty"`   // its place in the lane
	After    string        `json:"after,omitempty"`   // the message that must be delivered before
	Text     string        `json:"text,omitempty"`    // of an event
	Task     string        `json:"task,omitempty"`    // of a note: the root it speaks about
	Session  string        `json:"session,omitempty"` // of a note
	First    bool          `json:"first,omitempty"`   // of a note: before everything else
	Anew     bool          `json:"anew,omitempty"`    // of a note: it begins its session's conversation
	Results  []result      `json:"results,omitempty"`

	Expires   int64 `json:"expires,omitempty"`
	NotBefore int64 `json:"not_before,omitempty"` // the retry timer

	Step      protocol.StepName `json:"step"`              // queued, under way, or failed for good
	Attempt   int               `json:"attempt,omitempty"` // the number of the last one
	Used      int               `json:"used,omitempty"`    // attempts since the last fresh start
	Req       string            `json:"req,omitempty"`
	Taken     bool              `json:"taken,omitempty"`     // some attempt was accepted by the agent
	Released  bool              `json:"released,omitempty"`  // nobody waits for its delivery any more
	Overtaken bool              `json:"overtaken,omitempty"` // a critical order wants the running turn stopped
	Spent     *verdict          `json:"spent,omitempty"`     // why a note gets no further attempt
}

func (p *parcel) id() string      { return p.Messages[0] }
func (p *parcel) underWay() bool  { return stage(p.Step) > 0 }
func (p *parcel) isRequest() bool { return p.Kind == protocol.Request }

// begun says that the agent works on it already, because a person typed it
// into the pane. Another attempt is an ordinary one.
func (p *parcel) begun() bool {
	if !p.isRequest() || p.node == nil || p.node.Typed == "" {
		return false
	}
	return p.Attempt == 0 || p.underWay() && p.Req == p.node.Typed
}

// waits says that the parcel may be delivered once its turn comes.
func (p *parcel) waits() bool {
	return p.Step == protocol.Queued && (p.node == nil || p.node.open() && p.node.Doom == nil)
}

// late says that the parcel's time to live is over.
func (p *parcel) late(now int64) bool { return p.Expires != 0 && p.Expires <= now }

func (s *seat) lane(from string, weight int) *lane {
	for _, n := range s.lanes {
		if n.from == from && n.weight == weight {
			return n
		}
	}
	return nil
}

// enqueue puts a parcel into its lane, at the place its acceptance gave it.
func (s *seat) enqueue(p *parcel) {
	n := s.lane(p.From, p.Weight)
	if n == nil {
		n = &lane{from: p.From, weight: p.Weight}
		s.lanes = append(s.lanes, n)
	}
	at, _ := slices.BinarySearchFunc(n.parcels, p, byOrder)
	n.parcels = slices.Insert(n.parcels, at, p)
}

// dequeue takes a parcel out of its lane, if it is in one.
func (s *seat) dequeue(p *parcel) {
	n := s.lane(p.From, p.Weight)
	if n == nil {
		return
	}
	at, found := slices.BinarySearchFunc(n.parcels, p, byOrder)
	switch {
	case !found:
	case at == 0:
		n.parcels[0] = nil
		n.parcels = n.parcels[1:]
	default:
		n.parcels = slices.Delete(n.parcels, at, at+1)
	}
	if len(n.parcels) == 0 {
		s.lanes = slices.DeleteFunc(s.lanes, func(x *lane) bool { return x == n })
	}
}

func byOrder(a, b *parcel) int { return cmp.Compare(a.Order, b.Order) }

// pick chooses what the agent is given next, and when to look again where the
// answer is "nothing yet".
//
// An agent that holds a task gets what belongs to it, and notes only while its
// delegates work. A free one gets the heaviest head of its lanes; among equals
// the one accepted first. A tree that has used its tokens stands aside, and
// lets others pass.
func (l *Ledger) pick(s *seat, now int64) (best *parcel, wake int64) {
	if s.busy != nil || !s.known {
		return nil, 0
	}
	if p := s.begun(); p != nil {
		return p, 0
	}
	if s.paused || s.stopped || s.over() {
		return nil, 0
	}
	if s.wall.Until > now {
		return nil, s.wall.Until
	}
	if l.overDay(now) {
		return nil, midnightAfter(now)
	}
	if p := s.first(); p != nil {
		if p.NotBefore > now {
			return nil, p.NotBefore
		}
		return p, 0
	}
	if c := s.current; c != nil && !l.overTask(c) {
		if p := c.parcel; p != nil && p.waits() {
			switch {
			case p.late(now):
				return nil, 0
			case p.NotBefore > now:
				return nil, p.NotBefore
			}
			return p, 0
		}
	}
	for _, n := range s.lanes {
		p := l.head(n)
		if p == nil || !p.waits() || p.late(now) || l.heldBack(p) || s.current != nil && (p.node != nil || p.distracts(s.current)) {
			continue
		}
		if p.NotBefore > now {
			wake = sooner(wake, p.NotBefore)
			continue
		}
		if best == nil || p.Weight > best.Weight || p.Weight == best.Weight && p.Order < best.Order {
			best = p
		}
	}
	return best, wake
}

// head is the first in a lane that no limit of its tree holds.
func (l *Ledger) head(n *lane) *parcel {
	for _, p := range n.parcels {
		if p.node == nil || !l.overTask(p.node) {
			return p
		}
	}
	return nil
}

// begun is what a person typed into the pane and nobody follows yet. It runs
// whatever else waits, also where deliveries are held.
func (s *seat) begun() *parcel {
	for _, n := range s.lanes {
		if n.from != protocol.User {
			continue
		}
		for _, p := range n.parcels {
			if p.begun() && p.waits() {
				return p
			}
		}
	}
	return nil
}

// first is a note that everything else waits for.
func (s *seat) first() *parcel {
	for _, p := range s.notes {
		if p.First && p.waits() {
			return p
		}
	}
	return nil
}

// task is what the agent is at: the turn that runs, or the task it holds.
func (s *seat) task() *node {
	if s.busy != nil && s.busy.node != nil {
		return s.busy.node
	}
	return s.current
}

// letGo ends the hold of a task on its agent; one that was begun comes next.
func (s *seat) letGo(n *node) {
	s.asides = slices.DeleteFunc(s.asides, func(a *node) bool { return a == n })
	if s.current != n {
		return
	}
	s.current = nil
	if len(s.asides) > 0 {
		s.current, s.asides = s.asides[0], s.asides[1:]
	}
}

// sooner is the earlier of two moments, of which zero is none.
func sooner(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// await counts a parcel among those that others may have to wait for.
func (l *Ledger) await(p *parcel) {
	l.undelivered[p.id()]++
	l.arm(p)
}

// release notes that a pane took the parcel, or that none ever will.
func (l *Ledger) release(p *parcel) {
	if p.Released || p.Kind == protocol.Response {
		return
	}
	p.Released = true
	if l.undelivered[p.id()]--; l.undelivered[p.id()] <= 0 {
		delete(l.undelivered, p.id())
	}
}

// heldBack says that the message a parcel refers to has yet to be delivered.
//
// What an agent sends waits only for what the same agent sent to the same
// recipient. Waiting for more it could hold up a delegation which the others,
// or the agents that are to read them, depend on: then nobody would ever move.
// What the user and the hub send may wait for anything, since no task of an
// agent depends on it.
func (l *Ledger) heldBack(p *parcel) bool {
	if p.After == "" || l.undelivered[p.After] == 0 {
		return false
	}
	if l.seats[p.From] == nil {
		return true
	}
	other := p.seat.notes[p.After]
	if n := l.nodes[p.After]; n != nil && n.seat == p.seat {
		other = n.parcel
	}
	return other != nil && other.From == p.From && !other.Released
}

// referred is the message that a new one may have to wait for.
func (l *Ledger) referred(m protocol.Message) string {
	if id := m.Header.CorrelationID; l.undelivered[id] > 0 {
		return id
	}
	return ""
}

// expiries is a heap of parcels by the moment their time to live ends.
type expiries []*parcel

func (h expiries) Len() int           { return len(h) }
func (h expiries) Less(i, j int) bool { return h[i].Expires < h[j].Expires }
func (h expiries) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i, j
}

func (h *expiries) Push(x any) {
	p := x.(*parcel)
	p.slot = len(*h)
	*h = append(*h, p)
}

func (h *expiries) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}

// arm sets the clock for a parcel's time to live, disarm stops it.
func (l *Ledger) arm(p *parcel) {
	if p.Expires != 0 {
		heap.Push(&l.timers, p)
	}
}

func (l *Ledger) disarm(p *parcel) {
	if p.Expires != 0 {
		heap.Remove(&l.timers, p.slot)
	}
}

// passed lists the queued parcels whose time is over, the first to expire
// first, and the moment the next one's will be. Of what does not wait there
// are never more than a few, so that looking past them is cheap.
func (l *Ledger) passed(now int64) (out []*parcel, wake int64) {
	var visit func(i int)
	visit = func(i int) {
		if i >= len(l.timers) {
			return
		}
		p := l.timers[i]
		if p.waits() && p.Expires > now {
			wake = sooner(wake, p.Expires)
			return
		}
		if p.waits() {
			out = append(out, p)
		}
		visit(2*i + 1)
		visit(2*i + 2)
	}
	visit(0)
	slices.SortFunc(out, func(a, b *parcel) int {
		return cmp.Or(cmp.Compare(a.Expires, b.Expires), cmp.Compare(a.Order, b.Order), cmp.Compare(a.seat.name, b.seat.name))
	})
	return out, wake
}
