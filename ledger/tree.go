package ledger

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"orchestrator-cc/protocol"
)

// node is one request and everything done for it. The exported fields are what
// a snapshot keeps.
type node struct {
	seat   *seat
	root   *node
	parent *node
	kids   []*node
	parcel *parcel // what is to be typed for it, or is under way

	ID        string        `json:"id"`
	Seq       uint64        `json:"seq"`
	Session   string        `json:"session,omitempty"`
	From      string        `json:"from"`
	Weight    int           `json:"weight"`
	Text      string        `json:"text"`
	Words     string        `json:"words,omitempty"` // a person's, added when it was tried again
	Timeout   time.Duration `json:"timeout,omitempty"`
	Collected bool          `json:"collected,omitempty"` // the asker waits by itself; nothing is typed
	Typed     string        `json:"typed,omitempty"`     // the attempt that the agent began by itself

	State     protocol.TaskState `json:"state"`
	Reason    string             `json:"reason,omitempty"`
	Code      protocol.Code      `json:"code,omitempty"`
	Result    string             `json:"result,omitempty"`
	Evidence  string             `json:"evidence,omitempty"`
	ClosedSeq uint64             `json:"closed_seq,omitempty"`
	Doom      *verdict           `json:"doom,omitempty"`     // decided, but not yet said in the stream
	Recorded  *Answer            `json:"recorded,omitempty"` // an answer that waits for delegates
	Results   []result           `json:"results,omitempty"`  // of delegates, not yet typed
	Sources   []string           `json:"sources,omitempty"`  // what its turns and its delegates rest on

	Turns    int   `json:"turns,omitempty"`   // answers since the last fresh start
	Claims   int   `json:"claims,omitempty"`  // deliveries claimed, ever
	Tries    int   `json:"tries,omitempty"`   // attempts at the request itself, ever
	Retries  int   `json:"retries,omitempty"` // attempts after a failed one
	Progress int   `json:"progress,omitempty"`
	Created  int64 `json:"created"`
	Since    int64 `json:"since"` // of the last fresh start
	Updated  int64 `json:"updated"`

	Attempts []attempt `json:"attempts,omitempty"`

	Used    protocol.Tokens `json:"used,omitzero"`     // by its own agent for it
	Spent   int64           `json:"spent,omitempty"`   // of a root: by its whole tree
	Granted int64           `json:"granted,omitempty"` // of a root: what was spent when a person last let it go on

	openKids int
	doneKids int
	depth    int
}

// verdict is the end of a task before it is said.
type verdict struct {
	Code    protocol.Code `json:"code"`
	Reason  string        `json:"reason"`
	Partial string        `json:"partial,omitempty"`
	Cause   string        `json:"cause"` // the message that brought it about
}

// result is what came back for a delegation, or for a mention that could not
// be carried out.
type result struct {
	Message string          `json:"message"`
	Child   string          `json:"child,omitempty"`
	Agent   string          `json:"agent"`
	Status  protocol.Status `json:"status"`
	Text    string          `json:"text"`
}

func (n *node) open() bool {
	return n.State == protocol.TaskPending || n.State == protocol.TaskInProgress
}

func (n *node) askedByUser() bool { return n.parent == nil && n.From == protocol.User }

// applyRequest plants a task.
func (l *Ledger) applyRequest(e protocol.Entry, a *protocol.Accepted, p *protocol.RequestPayload) bool {
	m := a.Message
	parent := l.nodes[a.Parent]
	if parent != nil && !parent.open() {
		parent = nil // it ended in the same moment; the request stands alone
	}
	n := &node{
		ID: m.ID(), Seq: e.Seq, parent: parent, depth: 1, Session: l.word(a.Session),
		From: l.word(m.From()), seat: l.seat(m.To()), Weight: m.Priority().Weight(), Text: m.Text(), Collected: a.Collected, Typed: a.Typed,
		State: protocol.TaskPending, Created: nanos(e.Time), Since: nanos(e.Time), Updated: nanos(e.Time),
	}
	if p.TimeoutMS != nil {
		n.Timeout = time.Duration(*p.TimeoutMS) * time.Millisecond
	}
	n.root = n
	if parent != nil {
		n.root, n.depth = parent.root, parent.depth+1
		parent.kids = append(parent.kids, n)
		parent.openKids++
	} else {
		l.roots = append(l.roots, n)
	}
	l.nodes[n.ID] = n
	n.seat.open++
	n.parcel = &parcel{
		seat: n.seat, node: n, Kind: protocol.Request, Messages: []string{n.ID}, From: n.From, Weight: n.Weight,
		Order: e.Seq, After: l.referred(m), Expires: nanos(m.Expires(e.Time)), Step: protocol.Queued,
	}
	l.await(n.parcel)
	n.seat.enqueue(n.parcel)
	if !n.seat.known {
		l.dueNodes[n] = struct{}{}
	}
	if parent != nil {
		if parent.Doom != nil {
			l.doom(n, cancelledWith(parent, parent.Doom))
		}
		l.gather(parent)
	}
	return true
}

// applyEvent gives a note to every recipient.
func (l *Ledger) applyEvent(e protocol.Entry, a *protocol.Accepted) bool {
	m := a.Message
	to := l.recipients(m.To(), m.From())
	if len(to) == 0 {
		l.tally.Received++ // the user and the hub read the stream
		return true
	}
	text := m.Text()
	for _, s := range to {
		l.addNote(e, &parcel{seat: s, Kind: protocol.Event, Messages: []string{m.ID()}, From: l.word(m.From()), Session: l.word(a.Session),
			Weight: m.Priority().Weight(), After: l.referred(m), Expires: nanos(m.Expires(e.Time)), Text: text, Task: a.Task, First: a.First, Anew: a.Anew})
	}
	return true
}

func (l *Ledger) addNote(e protocol.Entry, p *parcel) {
	p.Order, p.Step = e.Seq, protocol.Queued
	p.seat.notes[p.id()] = p
	if p.Kind != protocol.Response {
		l.await(p)
	}
	p.seat.enqueue(p)
	if !p.seat.known {
		l.dueNotes[p] = struct{}{}
	}
}

// applyAnswer folds a response or an error: the end of a request, a mention
// that could not be carried out, or words that only viewers read.
func (l *Ledger) applyAnswer(e protocol.Entry, a *protocol.Accepted) bool {
	m := a.Message
	n := l.nodes[m.Header.CorrelationID]
	if a.Closing != nil {
		return n != nil && l.closeNode(e, a, n)
	}
	if w := l.nodes[a.Parent]; w != nil && w.open() && w.seat.name == m.To() {
		w.Results = append(w.Results, result{Message: m.ID(), Agent: l.word(m.From()), Status: protocol.Failed, Text: m.Text()})
		l.gather(w)
		return true
	}
	l.tally.Received++
	return true
}

// closeNode ends a task and hands its result to whoever asked.
func (l *Ledger) closeNode(e protocol.Entry, a *protocol.Accepted, n *node) bool {
	if a.Closing.Code == protocol.CodeExpired && n.parcel != nil && n.parcel.underWay() {
		return false // it was claimed in the same moment
	}
	wasOpen := n.open()
	state, ok := next(n.State, outcome(a.Closing, n.askedByUser()))
	if !ok {
		return false
	}
	l.tally.closed(a.Closing)
	n.State, n.Doom, n.Recorded = state, nil, nil
	n.Updated, n.ClosedSeq = nanos(e.Time), e.Seq
	n.Evidence, n.Code = l.word(a.Closing.Evidence), a.Closing.Code
	text := a.Message.Text()
	if state == protocol.TaskCompleted {
		n.Result, n.Reason, n.Progress, n.Results = text, "", 100, nil
	} else {
		n.Result, n.Reason = partialOf(a.Message), text
		if p := n.parcel; p != nil { // for another try
			n.Results, p.Results = slices.Concat(p.Results, n.Results), nil
		}
	}
	n.seat.letGo(n)
	if wasOpen {
		n.seat.open--
		l.handUp(e, a, n)
	}
	if n.parcel != nil && !n.parcel.underWay() {
		l.dueNodes[n] = struct{}{} // its last step is still to be said
	} else {
		delete(l.dueNodes, n)
	}
	if n.parent == nil && state != protocol.TaskNeedsHuman {
		l.putAway(n)
	}
	return true
}

func (l *Ledger) handUp(e protocol.Entry, a *protocol.Accepted, n *node) {
	r := result{Message: a.Message.ID(), Child: n.ID, Agent: n.seat.name, Status: a.Closing.Status, Text: withoutMarker(a.Message.Text(), n.seat.marker)}
	p := n.parent
	if p != nil {
		p.openKids--
		p.doneKids++
		p.Progress = max(p.Progress, 20+70*p.doneKids/len(p.kids))
		if r, ok := a.Message.Payload.(*protocol.ResponsePayload); ok {
			p.Sources = merged(p.Sources, r.Sources)
		}
	}
	switch {
	case n.Collected:
		l.tally.Received++
	case p != nil && p.open():
		p.Results = append(p.Results, r)
	case l.seats[n.From] != nil:
		l.addNote(e, &parcel{seat: l.seats[n.From], Kind: protocol.Response, Messages: []string{r.Message}, From: n.seat.name, Weight: n.Weight, Results: []result{r}, Task: n.root.ID, Session: n.Session})
	default:
		l.tally.Received++
	}
	if p != nil {
		l.gather(p)
	}
}

// gather makes one delivery of a task's results once the last of them is
// there. A task with nothing left to wait for owes its answer.
func (l *Ledger) gather(n *node) {
	if p := n.parcel; p != nil && p.Kind == protocol.Response && p.Step == protocol.Queued && p.Attempt == 0 && n.openKids > 0 {
		n.Results, n.parcel = slices.Concat(p.Results, n.Results), nil
	}
	if !n.open() || n.Doom != nil || n.parcel != nil || n.openKids > 0 {
		return
	}
	if len(n.Results) == 0 {
		l.dueNodes[n] = struct{}{}
		return
	}
	p := &parcel{seat: n.seat, node: n, Kind: protocol.Response, Weight: n.Weight, Step: protocol.Queued}
	p.take(n.inOrder(n.Results))
	n.Results = nil
	p.From = p.Results[0].Agent
	if slices.ContainsFunc(p.Results, func(r result) bool { return r.Agent != p.From }) {
		p.From = protocol.Hub
	}
	n.parcel = p
	delete(l.dueNodes, n)
	if !n.seat.known {
		l.dueNodes[n] = struct{}{}
	}
}

// take makes results part of a parcel.
func (p *parcel) take(results []result) {
	p.Results = results
	for _, r := range results {
		p.Messages = append(p.Messages, r.Message)
	}
}

// inOrder sorts results as the delegations were made; what belongs to none
// comes last.
func (n *node) inOrder(results []result) []result {
	place := make(map[string]int, len(n.kids))
	for i, k := range n.kids {
		place[k.ID] = i + 1
	}
	rank := func(r result) int {
		if at := place[r.Child]; at > 0 {
			return at
		}
		return len(n.kids) + 1
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(rank(a), rank(b)) })
	return results
}

// doom decides a task's end, and with it the end of all that is done for it.
// What is queued leaves the queue; what is under way is interrupted.
func (l *Ledger) doom(n *node, v *verdict) {
	if n.Doom != nil || !n.open() && n.State != protocol.TaskNeedsHuman {
		return
	}
	n.Doom = v
	l.dueNodes[n] = struct{}{}
	for _, k := range n.kids {
		l.doom(k, cancelledWith(n, v))
	}
}

func cancelledWith(n *node, v *verdict) *verdict {
	how := "failed"
	if v.Code == protocol.CodeCancelled {
		how = "was cancelled"
	}
	return &verdict{Code: protocol.CodeCancelled, Reason: "the task of " + n.seat.name + " it was made for " + how, Cause: v.Cause}
}

// partialOf is the part of an answer that an error carries.
func partialOf(m protocol.Message) string {
	p, ok := m.Payload.(*protocol.ErrorPayload)
	if !ok {
		return m.Text()
	}
	var d errorDetails
	if len(p.Details) == 0 || json.Unmarshal(p.Details, &d) != nil {
		return ""
	}
	return d.Partial
}
