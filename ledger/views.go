package ledger

import (
	"slices"
	"time"

	"orchestrator-cc/protocol"
)

// Waiting is one message in an agent's queue.
type Waiting struct {
	Message  string            `json:"message"`
	From     string            `json:"from"`
	Type     protocol.Type     `json:"type"`
	Priority protocol.Priority `json:"priority"`
	Task     string            `json:"task,omitempty"`
	Attempt  int               `json:"attempt"` // the one that comes next
	Expires  time.Time         `json:"expires,omitzero"`
	After    string            `json:"after,omitempty"`   // the message it waits for
	RetryAt  time.Time         `json:"retry_at,omitzero"` // not before
}

// Tasks lists the roots, newest first, without their children and attempts.
func (l *Ledger) Tasks() []protocol.Task { return l.Recent(len(l.roots)) }

// Recent lists all roots that are not over and some of those that are, newest
// first.
func (l *Ledger) Recent(closed int) []protocol.Task {
	var out []protocol.Task
	for _, n := range slices.Backward(l.roots) {
		if n.State.Done() {
			if closed <= 0 {
				continue
			}
			closed--
		}
		out = append(out, l.view(n))
	}
	return out
}

// Task shows a task with all that was done for it. The id may be shortened
// while it stays the only one that begins so.
func (l *Ledger) Task(id string) (protocol.Task, error) {
	n, err := l.find(id)
	if err != nil {
		return protocol.Task{}, err
	}
	return l.tree(n), nil
}

// TaskOf finds the task that a request began, or that a message which still
// waits belongs to.
func (l *Ledger) TaskOf(message string) (id string, ok bool) {
	if n := l.nodes[message]; n != nil {
		return n.ID, true
	}
	for _, s := range l.order {
		if p := s.notes[message]; p != nil {
			return p.Task, p.Task != ""
		}
		if c := s.current; c != nil && c.parcel != nil && slices.Contains(c.parcel.Messages, message) {
			return c.ID, true
		}
	}
	return "", false
}

// Briefs says that a note waits for the agent, or is under way, which it is to
// get before everything else.
func (l *Ledger) Briefs(agent string) bool {
	s := l.seats[agent]
	return s != nil && (s.first() != nil || s.busy != nil && s.busy.First)
}

// Begun says that a person began something at the agent's pane which nobody
// has claimed yet.
func (l *Ledger) Begun(agent string) bool {
	s := l.seats[agent]
	return s != nil && s.begun() != nil
}

// Working is the task an agent holds.
func (l *Ledger) Working(agent string) (id string, ok bool) {
	if s := l.seats[agent]; s != nil && s.task() != nil {
		return s.task().ID, true
	}
	return "", false
}

// Paused says that an agent's deliveries are held.
func (l *Ledger) Paused(agent string) bool { return l.seats[agent] != nil && l.seats[agent].paused }

// view shows the node alone.
func (l *Ledger) view(n *node) protocol.Task {
	t := protocol.Task{
		ID: n.ID, Seq: n.Seq, Root: n.root.ID, Session: n.Session, From: n.From, Agent: n.seat.name, Text: n.Text, State: n.State,
		Reason: n.Reason, Code: n.Code, Progress: n.Progress, Turns: n.Turns, Created: moment(n.Created), Updated: moment(n.Updated),
		Result: n.Result, Evidence: n.Evidence, ResultSeq: n.ClosedSeq, Tokens: some(n.Used), TreeTokens: some(n.treeTokens()),
	}
	if n.parent != nil {
		t.Parent = n.parent.ID
	}
	if n == n.root && n.open() && l.overTask(n) {
		t.Reason = l.taskBill(n)
	}
	return t
}

func (l *Ledger) tree(n *node) protocol.Task {
	t := l.view(n)
	for _, k := range n.kids {
		t.Children = append(t.Children, l.tree(k))
	}
	for _, a := range n.Attempts {
		v := protocol.Attempt{Messages: slices.Clone(a.Messages), Number: a.Number, Req: a.Req}
		for _, m := range a.Marks {
			s := protocol.Mark{Step: m.What.Step, Time: moment(m.Time), Seq: m.Seq, Evidence: m.What.Evidence}
			if m.More != nil {
				s.Code, s.Reason, s.Text, s.Truncated = m.More.Code, m.More.Reason, m.More.Text, m.More.Truncated
			}
			v.Steps = append(v.Steps, s)
		}
		t.Attempts = append(t.Attempts, v)
	}
	return t
}

// Queue counts what waits for an agent.
func (l *Ledger) Queue(agent string) int {
	s := l.seats[agent]
	if s == nil {
		return 0
	}
	count := 0
	for _, n := range s.lanes {
		count += len(n.parcels)
	}
	if s.holdsBack() {
		count++
	}
	return count
}

// holdsBack says that the agent's own task has something to type to it.
func (s *seat) holdsBack() bool {
	return s.current != nil && s.current.parcel != nil && s.current.parcel.Step == protocol.Queued
}

// Waiting lists what waits for an agent: first what its task waits for, then
// the rest in the order of priority and acceptance.
func (l *Ledger) Waiting(agent string) []Waiting {
	s := l.seats[agent]
	if s == nil {
		return nil
	}
	var parcels []*parcel
	for _, n := range s.lanes {
		parcels = append(parcels, n.parcels...)
	}
	slices.SortFunc(parcels, func(a, b *parcel) int {
		if a.Weight != b.Weight {
			return b.Weight - a.Weight
		}
		return byOrder(a, b)
	})
	if s.holdsBack() {
		parcels = slices.Insert(parcels, 0, s.current.parcel)
	}
	out := make([]Waiting, len(parcels))
	for i, p := range parcels {
		out[i] = Waiting{Message: p.id(), From: p.From, Type: p.Kind, Priority: priorityOf(p.Weight), Task: p.Task,
			Attempt: p.Attempt + 1, Expires: moment(p.Expires), RetryAt: moment(p.NotBefore)}
		if l.heldBack(p) {
			out[i].After = p.After
		}
		if p.node != nil {
			out[i].Task = p.node.ID
		}
	}
	return out
}

// Inbox lists the tasks that failed with nobody left to act but a person, and
// what is held because it took too many tokens.
func (l *Ledger) Inbox(now time.Time) []protocol.InboxItem {
	var out []protocol.InboxItem
	for _, n := range l.roots {
		if n.State == protocol.TaskNeedsHuman {
			out = append(out, protocol.InboxItem{ID: n.ID, Kind: protocol.InboxNeedsHuman, Agent: n.seat.name, Task: n.ID, Text: n.Reason, Since: moment(n.Updated)})
		}
	}
	return append(out, l.spentInbox(now)...)
}

// PausedAgents names the agents whose deliveries are held.
func (l *Ledger) PausedAgents() []string {
	var out []string
	for _, s := range l.order {
		if s.paused {
			out = append(out, s.name)
		}
	}
	return out
}

// Approvals is what agents asked for and people decided.
func (l *Ledger) Approvals() protocol.Approvals { return l.approvals.Clone() }

// Asks says that a tool call of an agent waits for a person.
func (l *Ledger) Asks(agent string) bool {
	return slices.ContainsFunc(l.approvals.Items, func(c protocol.Confirmation) bool {
		return c.Agent == agent && c.State == protocol.ConfirmationPending
	})
}
