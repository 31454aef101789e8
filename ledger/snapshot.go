package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"orchestrator-cc/protocol"
)

// snapshotVersion changes when an older hub's snapshot can no longer be read.
const snapshotVersion = 1

// saved is the ledger on disk. What can be worked out again is left out.
type saved struct {
	Version   int           `json:"version"`
	Seq       uint64        `json:"seq"`
	Clock     int64         `json:"clock"`
	Turned    uint64        `json:"turned,omitempty"`
	Anomalies int           `json:"anomalies,omitempty"`
	Seats     []savedSeat   `json:"seats"`
	Nodes     []savedNode   `json:"nodes"`
	Notes     []savedParcel `json:"notes"`
	Shelf     savedShelf    `json:"shelf"`
	Tally     tally         `json:"tally"`
	Seen      []byte        `json:"seen"` // sixteen bytes an id, sorted
	Purse     savedPurse    `json:"purse,omitzero"`
	// Approvals is absent from snapshots of hubs that did not keep them.
	Approvals protocol.Approvals `json:"approvals,omitzero"`
}

type savedSeat struct {
	Name    string   `json:"name"`
	Current string   `json:"current,omitempty"`
	Asides  []string `json:"asides,omitempty"`
	Paused  bool     `json:"paused,omitempty"`
	Stopped bool     `json:"stopped,omitempty"`
	Wall    wall     `json:"wall,omitzero"`
	Mind    mind     `json:"mind,omitzero"`

	Used    protocol.Tokens `json:"used,omitzero"`
	Granted int64           `json:"granted,omitempty"`
	UsedAt  int64           `json:"used_at,omitempty"`
}

type savedNode struct {
	Agent  string  `json:"agent"`
	Parent string  `json:"parent,omitempty"`
	Node   *node   `json:"node"`
	Parcel *parcel `json:"parcel,omitempty"`
}

type savedParcel struct {
	Agent  string  `json:"agent"`
	Parcel *parcel `json:"parcel"`
}

type savedShelf struct {
	Trees []savedTree `json:"trees"`
	Whole int         `json:"whole"`
	Bytes int         `json:"bytes"`
}

type savedTree struct {
	Root string `json:"root"`
	Seq  uint64 `json:"seq"`
	At   int64  `json:"at"`
	Size int    `json:"size"`
}

// Snapshot writes the whole ledger as JSON. The same ledger always gives the
// same bytes.
func (l *Ledger) Snapshot() ([]byte, error) {
	s := saved{Version: snapshotVersion, Seq: l.seq, Clock: l.clock, Turned: l.turned, Anomalies: l.anomalies, Tally: l.tally,
		Seen: l.packSeen(), Shelf: l.shelf.save(), Purse: l.purse.save(), Approvals: l.approvals}
	for _, t := range l.order {
		one := savedSeat{Name: t.name, Paused: t.paused, Stopped: t.stopped, Wall: t.wall, Mind: t.mind, Used: t.used, Granted: t.granted, UsedAt: t.usedAt}
		if t.current != nil {
			one.Current = t.current.ID
		}
		for _, n := range t.asides {
			one.Asides = append(one.Asides, n.ID)
		}
		s.Seats = append(s.Seats, one)
		for _, p := range slices.SortedFunc(maps.Values(t.notes), byOrder) {
			s.Notes = append(s.Notes, savedParcel{Agent: t.name, Parcel: p})
		}
	}
	for _, n := range slices.SortedFunc(maps.Values(l.nodes), bySeq) {
		one := savedNode{Agent: n.seat.name, Node: n, Parcel: n.parcel}
		if n.parent != nil {
			one.Parent = n.parent.ID
		}
		s.Nodes = append(s.Nodes, one)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write snapshot at %d: %w", l.seq, err)
	}
	return data, nil
}

func bySeq(a, b *node) int { return cmp.Compare(a.Seq, b.Seq) }

func (l *Ledger) packSeen() []byte {
	keys := slices.SortedFunc(maps.Keys(l.seen), func(a, b key) int { return bytes.Compare(a[:], b[:]) })
	out := make([]byte, 0, len(keys)*len(key{}))
	for _, k := range keys {
		out = append(out, k[:]...)
	}
	return out
}

func (s shelf) save() savedShelf {
	out := savedShelf{Whole: s.whole, Bytes: s.bytes}
	for _, t := range s.trees {
		out.Trees = append(out.Trees, savedTree{Root: t.id, Seq: t.seq, At: t.at, Size: t.size})
	}
	return out
}

// Restore makes the ledger what it was when the snapshot was written, under
// the rules it has now. A snapshot that cannot be read changes nothing.
func (l *Ledger) Restore(data []byte) error {
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	fresh := New(l.rules)
	fresh.seq, fresh.clock, fresh.turned, fresh.anomalies = s.Seq, s.Clock, s.Turned, s.Anomalies
	fresh.tally.restore(s.Tally)
	fresh.purse.restore(s.Purse)
	fresh.approvals = s.Approvals
	for at := 0; at < len(s.Seen); at += len(key{}) {
		fresh.seen[key(s.Seen[at:])] = struct{}{}
	}
	for _, t := range s.Seats {
		seat := fresh.seat(t.Name)
		seat.paused, seat.stopped, seat.wall, seat.mind = t.Paused, t.Stopped, t.Wall, t.Mind
		seat.used, seat.granted, seat.usedAt = t.Used, t.Granted, t.UsedAt
	}
	for _, one := range s.Nodes {
		fresh.restoreNode(one)
	}
	for _, t := range s.Seats {
		seat := fresh.seat(t.Name)
		seat.current = fresh.nodes[t.Current]
		for _, id := range t.Asides {
			if n := fresh.nodes[id]; n != nil {
				seat.asides = append(seat.asides, n)
			}
		}
	}
	fresh.shelf = s.Shelf.restore()
	fresh.restoreQueues(s.Notes)
	*l = *fresh
	return nil
}

// check finds what a snapshot of ours would never lack.
func (s saved) check() error {
	if s.Version != snapshotVersion {
		return fmt.Errorf("it has version %d; this hub reads version %d", s.Version, snapshotVersion)
	}
	if len(s.Purse.Counted)%purseID != 0 {
		return fmt.Errorf("%d bytes of counted ids do not divide by %d", len(s.Purse.Counted), purseID)
	}
	if len(s.Seen)%len(key{}) != 0 {
		return fmt.Errorf("%d bytes of ids do not divide by %d", len(s.Seen), len(key{}))
	}
	for _, one := range s.Nodes {
		if one.Node == nil || !one.Node.marked() || one.Parcel != nil && len(one.Parcel.Messages) == 0 {
			return fmt.Errorf("a task of %s is not whole", one.Agent)
		}
	}
	if s.Shelf.Whole < 0 || s.Shelf.Whole > len(s.Shelf.Trees) {
		return fmt.Errorf("%d of %d closed trees are shortened", s.Shelf.Whole, len(s.Shelf.Trees))
	}
	for _, one := range s.Notes {
		if one.Parcel == nil || len(one.Parcel.Messages) == 0 {
			return fmt.Errorf("a note to %s is not whole", one.Agent)
		}
	}
	return nil
}

func (n *node) marked() bool {
	for _, a := range n.Attempts {
		if slices.ContainsFunc(a.Marks, func(m mark) bool { return m.What == nil }) {
			return false
		}
	}
	return true
}

// restoreNode hangs a task into its tree. Parents come before their children,
// since they were accepted before.
func (l *Ledger) restoreNode(one savedNode) {
	n := one.Node
	n.seat, n.parent, n.parcel = l.seat(one.Agent), l.nodes[one.Parent], one.Parcel
	n.root, n.depth = n, 1
	n.From, n.Session, n.Evidence = l.word(n.From), l.word(n.Session), l.word(n.Evidence)
	l.nodes[n.ID] = n
	for _, a := range n.Attempts {
		l.byReq[a.Req] = n
		for i, m := range a.Marks {
			a.Marks[i].What = l.label(m.What.Step, m.What.Evidence)
		}
	}
	if n.open() {
		n.seat.open++
	}
	if n.parent == nil {
		l.roots = append(l.roots, n)
		return
	}
	p := n.parent
	n.root, n.depth = p.root, p.depth+1
	p.kids = append(p.kids, n)
	if n.open() {
		p.openKids++
	} else {
		p.doneKids++
	}
}

// restoreQueues puts every parcel back where it waits.
func (l *Ledger) restoreQueues(notes []savedParcel) {
	for _, n := range slices.SortedFunc(maps.Values(l.nodes), bySeq) {
		if p := n.parcel; p != nil {
			p.seat, p.node = n.seat, n
			l.restoreParcel(p)
		}
		if n.owes() {
			l.dueNodes[n] = struct{}{}
		}
	}
	for _, one := range notes {
		p := one.Parcel
		p.seat = l.seat(one.Agent)
		p.seat.notes[p.id()] = p
		l.restoreParcel(p)
		if p.Spent != nil || !p.seat.known {
			l.dueNotes[p] = struct{}{}
		}
	}
}

func (l *Ledger) restoreParcel(p *parcel) {
	p.From = l.word(p.From)
	if p.Kind != protocol.Response && !p.Released {
		l.undelivered[p.id()]++
	}
	l.arm(p)
	held := p.node != nil && (p.node == p.seat.current || p.Kind == protocol.Response || slices.Contains(p.seat.asides, p.node))
	switch {
	case p.underWay():
		p.seat.busy = p
	case p.Step == protocol.Queued && !held:
		p.seat.enqueue(p)
	}
}

// owes says that Next may have something to say about the task.
func (n *node) owes() bool {
	p := n.parcel
	idle := p == nil && n.openKids == 0 && len(n.Results) == 0
	return n.Doom != nil || !n.open() && p != nil || n.open() && idle || p != nil && !n.seat.known
}

func (s savedShelf) restore() shelf {
	out := shelf{whole: s.Whole, bytes: s.Bytes}
	for _, t := range s.Trees {
		out.trees = append(out.trees, shelved{id: t.Root, seq: t.Seq, at: t.At, size: t.Size})
	}
	return out
}
