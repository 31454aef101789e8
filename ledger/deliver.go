package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Delivery is one attempt to type something into one pane.
type Delivery struct {
	Agent    string
	Messages []string // the first names the delivery
	Attempt  int
	Req      string            // the attempt's id on the screen, once claimed
	Step     protocol.StepName // how far it has come
	Task     string            // the task it belongs to, empty for a note
	Root     string
	From     string
	Type     protocol.Type // request, event, or response for the results of a turn
	Timeout  time.Duration // zero: the agent's own
	Session  string        // whose work it is
	Forget   bool          // the agent remembers another session's work
	Body     string
	First    bool // nothing else is typed before the agent has taken it
	Begun    bool // a person typed it and the agent works on it: nothing is to be typed
}

// attempt and mark keep a task's history in a form small enough to keep it for
// every task of a month.
type attempt struct {
	Messages []string `json:"messages"`
	Number   int      `json:"number"`
	Req      string   `json:"req"`
	Marks    []mark   `json:"marks"`
}

type mark struct {
	What *label `json:"what"`
	Time int64  `json:"time"`
	Seq  uint64 `json:"seq"`
	More *more  `json:"more,omitempty"`
}

// label is a step and how it was witnessed. There are few of them, and all
// marks that say the same share one.
type label struct {
	Step     protocol.StepName `json:"step"`
	Evidence string            `json:"evidence,omitempty"`
}

// more is what only few marks have.
type more struct {
	Code      protocol.Code `json:"code,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Text      string        `json:"text,omitempty"`
	Truncated bool          `json:"truncated,omitempty"`
}

// Claim makes the entry that begins an attempt. Nothing may be typed before it
// is in the stream and UnderWay lists it.
func (l *Ledger) Claim(d Delivery, req, epoch string, now time.Time) protocol.Entry {
	s := d.step(protocol.Claimed)
	s.Req, s.Epoch = req, epoch
	return stepEntry(now, s)
}

// Mark makes the entries of a step that went well. That an agent has taken a
// request is also said to the asker.
func (l *Ledger) Mark(d Delivery, step protocol.StepName, evidence string, now time.Time) []protocol.Entry {
	s := d.step(step)
	s.Evidence = evidence
	end := stepEntry(now, s)
	p := l.underWay(d)
	if step != protocol.Taken || p == nil || !p.isRequest() {
		return []protocol.Entry{end}
	}
	ack := l.make(now, p.node, derive("ack", p.id(), d.Attempt), &protocol.AckPayload{ReceivedAt: stamp(now)})
	return l.fresh(ack, end)
}

// UnderWay lists what was claimed and has not ended, with the last step that
// is known of it.
func (l *Ledger) UnderWay() []Delivery {
	var out []Delivery
	for _, s := range l.order {
		if s.busy != nil {
			out = append(out, s.busy.delivery())
		}
	}
	return out
}

// underWay finds the parcel of a delivery that has not ended.
func (l *Ledger) underWay(d Delivery) *parcel {
	s := l.seats[d.Agent]
	if s == nil || s.busy == nil || len(d.Messages) == 0 || s.busy.id() != d.Messages[0] || s.busy.Attempt != d.Attempt {
		return nil
	}
	return s.busy
}

func (d Delivery) step(name protocol.StepName) *protocol.Step {
	return &protocol.Step{Name: name, Agent: d.Agent, Messages: d.Messages, Task: d.Root, Attempt: d.Attempt, Req: d.Req}
}

func stepEntry(now time.Time, s *protocol.Step) protocol.Entry {
	return protocol.Entry{Time: now, Kind: protocol.KindStep, Step: s}
}

// delivery shows a parcel to those who type it: a queued one as the attempt
// that would come next.
func (p *parcel) delivery() Delivery {
	d := Delivery{
		Agent: p.seat.name, Messages: slices.Clone(p.Messages), Attempt: p.Attempt, Req: p.Req, Step: p.Step,
		Root: p.root(), From: p.From, Type: p.Kind, Body: p.body(), First: p.First, Session: p.session(), Forget: p.seat.strange(p),
	}
	if !p.underWay() {
		d.Attempt, d.Req = p.Attempt+1, ""
	}
	if p.begun() {
		d.Req, d.Begun = p.node.Typed, true
	}
	if p.node != nil {
		d.Task, d.Timeout = p.node.ID, p.node.Timeout
	}
	return d
}

// root is the root of the tree it is typed for.
func (p *parcel) root() string {
	if p.node != nil {
		return p.node.root.ID
	}
	return p.Task
}

// body composes the prompt.
func (p *parcel) body() string {
	var parts []string
	switch {
	case p.isRequest():
		parts = append(parts, p.node.Text)
		if p.node.Words != "" {
			parts = append(parts, p.node.Words)
		}
	case p.Kind == protocol.Event:
		parts = append(parts, p.Text)
	}
	for i, r := range p.Results {
		newer := func(o result) bool { return o.Child == r.Child }
		if r.Child != "" && slices.ContainsFunc(p.Results[i+1:], newer) {
			continue // the task was tried again and ended differently
		}
		parts = append(parts, r.body())
	}
	return strings.Join(parts, "\n\n")
}

func (r result) body() string {
	if r.Child == "" {
		return r.Text
	}
	text := r.Text
	if r.Status == protocol.Failed {
		text = r.Agent + " failed: " + text
	}
	return protocol.Result{From: r.Agent, Status: r.Status, Text: text}.String()
}

// applyStep carries a delivery one step further.
func (l *Ledger) applyStep(e protocol.Entry, s *protocol.Step) bool {
	p := l.locate(s)
	if p == nil {
		return false
	}
	fits := false
	switch s.Name {
	case protocol.Claimed:
		fits = l.applyClaim(e, p, s)
	case protocol.Typed, protocol.Submitted, protocol.Taken:
		fits = l.applyProgress(e, p, s)
	case protocol.Answered:
		fits = l.applyAnswered(e, p, s)
	case protocol.Undone:
		fits = l.applyUndone(e, p, s)
	case protocol.Expired, protocol.Dropped, protocol.DeadEnd:
		fits = l.applyDropped(e, p, s)
	}
	return fits
}

// locate finds the parcel a step speaks of: its first message names it.
func (l *Ledger) locate(s *protocol.Step) *parcel {
	seat := l.seats[s.Agent]
	if seat == nil {
		return nil
	}
	id := s.Messages[0]
	if seat.busy != nil && seat.busy.id() == id {
		return seat.busy
	}
	if p := seat.notes[id]; p != nil {
		return p
	}
	if n := l.nodes[id]; n != nil && n.seat == seat && n.parcel != nil && n.parcel.id() == id {
		return n.parcel
	}
	if n := seat.current; n != nil && n.parcel != nil && n.parcel.id() == id {
		return n.parcel
	}
	for n := range l.dueNodes { // closed, with the last step of its results still to be said
		if n.seat == seat && n.parcel != nil && n.parcel.id() == id {
			return n.parcel
		}
	}
	return nil
}

// applyClaim begins an attempt. An attempt is claimed once, by its number, and
// an agent has one delivery at a time.
func (l *Ledger) applyClaim(e protocol.Entry, p *parcel, s *protocol.Step) bool {
	seat, n := p.seat, p.node
	if !p.waits() || seat.busy != nil || s.Attempt != p.Attempt+1 || !slices.Equal(s.Messages, p.Messages) {
		return false
	}
	aside := n != nil && seat.current != nil && seat.current != n
	if aside && !p.begun() {
		return false
	}
	l.tally.Claims++
	if s.Attempt > 1 {
		l.tally.Retries++
	}
	if n == nil || seat.current == nil || aside {
		seat.dequeue(p)
	}
	seat.busy = p
	p.Attempt, p.Step, p.Req, p.NotBefore = s.Attempt, protocol.Claimed, s.Req, 0
	if n == nil {
		return true
	}
	if aside {
		seat.asides = append(seat.asides, n)
	} else {
		seat.current = n
	}
	n.State, _ = next(n.State, claimed)
	n.Claims++
	if p.isRequest() {
		n.Tries = p.Attempt
	}
	if p.Used > 0 {
		n.Retries++
	}
	n.Progress = max(n.Progress, 5)
	n.Attempts = append(n.Attempts, attempt{Messages: p.Messages, Number: s.Attempt, Req: s.Req})
	l.byReq[s.Req] = n
	l.mark(e, n, s)
	return true
}

func (l *Ledger) applyProgress(e protocol.Entry, p *parcel, s *protocol.Step) bool {
	if !l.isRunning(p, s) || stage(s.Name) <= stage(p.Step) {
		return false
	}
	p.Step = s.Name
	p.seat.learn(p)
	if s.Name == protocol.Taken {
		l.reached(p)
	}
	if n := p.node; n != nil {
		n.Progress = max(n.Progress, 5*stage(s.Name))
		l.mark(e, n, s)
	}
	return true
}

func (l *Ledger) applyAnswered(e protocol.Entry, p *parcel, s *protocol.Step) bool {
	if !l.isRunning(p, s) {
		return false
	}
	l.reached(p)
	p.seat.learn(p)
	p.seat.wall = wall{}
	l.end(p, protocol.Answered)
	n := p.node
	if n == nil {
		return true
	}
	l.mark(e, n, s)
	n.Sources = merged(n.Sources, s.Sources)
	n.Turns++
	if n.open() {
		n.Recorded = &Answer{Text: s.Text, Evidence: l.word(s.Evidence), Truncated: s.Truncated}
		l.gather(n)
	}
	return true
}

// forgiven is how many attempts may die with their hub for nothing: a task that
// kills every hub must come to an end.
const forgiven = 5

// applyUndone ends an attempt without an answer: another one follows after a
// while, or none does.
func (l *Ledger) applyUndone(e protocol.Entry, p *parcel, s *protocol.Step) bool {
	if !l.isRunning(p, s) {
		return false
	}
	n := p.node
	if n != nil {
		l.mark(e, n, s)
		if !n.open() {
			l.end(p, protocol.DeadEnd)
			return true
		}
	}
	p.seat.busy = nil
	p.Step = protocol.Queued
	again := s.Again
	if p.Overtaken { // an order stopped it: that is not the attempt's fault
		p.Overtaken, again = false, again || s.Code == protocol.CodeCancelled
	} else if s.Code == protocol.CodeWall && again {
		p.seat.hit(e, s) // nor is a wall, which holds everything for this agent
	} else if s.Code != protocol.CodeNoHub || p.Attempt > forgiven { // nor is a hub that died before it typed
		p.Used++
	}
	if again && p.Used <= l.rules.Retry.Max {
		p.NotBefore = nanos(e.Time) + int64(l.rules.Retry.delay(p.Used, p.id(), p.Attempt))
		if s.Code == protocol.CodeWall {
			p.NotBefore = 0 // its seat waits, and a person may end that
		}
		if n == nil {
			p.seat.enqueue(p)
		}
		return true
	}
	p.Step = protocol.Undone
	v := &verdict{Code: cmp.Or(s.Code, protocol.CodeInternal), Reason: s.Reason, Partial: s.Text, Cause: p.id()}
	if n != nil {
		l.doom(n, v)
		return true
	}
	p.Spent = v
	l.dueNotes[p] = struct{}{}
	return true
}

// applyDropped takes a parcel out of the queue for good.
func (l *Ledger) applyDropped(e protocol.Entry, p *parcel, s *protocol.Step) bool {
	if p.underWay() {
		return false
	}
	p.seat.dequeue(p)
	n := p.node
	l.end(p, protocol.DeadEnd)
	if n == nil {
		return true
	}
	l.mark(e, n, s)
	if n.open() {
		l.doom(n, &verdict{Code: cmp.Or(s.Code, protocol.CodeInternal), Reason: s.Reason, Cause: p.id()})
	}
	return true
}

func (l *Ledger) isRunning(p *parcel, s *protocol.Step) bool {
	return p.seat.busy == p && s.Attempt == p.Attempt && (s.Req == "" || s.Req == p.Req)
}

// reached notes that the agent has the prompt.
func (l *Ledger) reached(p *parcel) {
	if !p.Taken {
		p.Taken = true
		l.tally.Received += len(p.Messages)
	}
	l.release(p)
}

// end takes a parcel out of the house.
func (l *Ledger) end(p *parcel, how protocol.StepName) {
	l.release(p)
	l.disarm(p)
	p.Step = how
	if p.seat.busy == p {
		p.seat.busy = nil
	}
	if n := p.node; n != nil {
		if n.parcel == p {
			n.parcel = nil
		}
		if !n.open() && n.Doom == nil {
			delete(l.dueNodes, n)
		}
		return
	}
	delete(p.seat.notes, p.id())
	delete(l.dueNotes, p)
}

func (l *Ledger) mark(e protocol.Entry, n *node, s *protocol.Step) {
	n.Updated = nanos(e.Time)
	if len(n.Attempts) == 0 {
		n.Attempts = append(n.Attempts, attempt{Messages: []string{n.ID}, Number: s.Attempt, Req: s.Req})
	}
	m := mark{What: l.label(s.Name, s.Evidence), Time: nanos(e.Time), Seq: e.Seq}
	if s.Code != "" || s.Reason != "" || s.Text != "" || s.Truncated {
		m.More = &more{Code: s.Code, Reason: s.Reason, Text: s.Text, Truncated: s.Truncated}
	}
	last := &n.Attempts[len(n.Attempts)-1]
	last.Marks = append(last.Marks, m)
}
