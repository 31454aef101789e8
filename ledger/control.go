package ledger

import (
	"encoding/json"

	"orchestrator-cc/protocol"
)

// orderParams are the parameters of a control message.
type orderParams struct {
	Task   string `json:"task,omitempty"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
	Tokens string `json:"tokens,omitempty"` // with resume: TokensToday
}

// allows says that an order is about an allowance of tokens.
func (o orderParams) allows(c protocol.Command) bool {
	return c == protocol.Resume && (o.Task != "" || o.Tokens != "")
}

func readOrder(p *protocol.ControlPayload) (orderParams, error) {
	var o orderParams
	if len(p.Params) == 0 {
		return o, nil
	}
	return o, json.Unmarshal(p.Params, &o)
}

// applyControl carries out an order. Orders are not queued: they count from
// the moment they are accepted, before everything that waits.
func (l *Ledger) applyControl(e protocol.Entry, a *protocol.Accepted, p *protocol.ControlPayload) bool {
	o, err := readOrder(p)
	if err != nil {
		return false
	}
	m := a.Message
	switch p.Command {
	case protocol.Cancel:
		n := l.nodes[o.Task]
		if n == nil || !n.open() && n.State != protocol.TaskNeedsHuman {
			return false
		}
		reason := "cancelled by " + m.From()
		if o.Reason != "" {
			reason += ": " + o.Reason
		}
		l.doom(n, &verdict{Code: protocol.CodeCancelled, Reason: reason, Cause: m.ID()})
		return true
	case protocol.Retry:
		n := l.nodes[o.Task]
		return n != nil && l.restart(e, n, o.Text)
	}
	if o.allows(p.Command) {
		return l.applyAllowance(e, o)
	}
	return l.applyToAgents(e, m, p.Command)
}

// applyToAgents pauses, resumes or stops agents. A critical order also stops
// the turn that is running.
func (l *Ledger) applyToAgents(e protocol.Entry, m protocol.Message, c protocol.Command) bool {
	seats := l.recipients(m.To(), m.From())
	if m.To() == protocol.Hub {
		seats = l.order
	}
	for _, s := range seats {
		switch c {
		case protocol.Pause:
			s.paused = true
		case protocol.Shutdown:
			s.stopped = true
		case protocol.Resume:
			l.letGoOn(s, m.From() == protocol.User, nanos(e.Time))
			continue
		}
		if m.Priority() == protocol.Critical && s.busy != nil {
			s.busy.Overtaken = true
		}
	}
	return len(seats) > 0
}

// restart gives a task that ended badly a fresh start: a new place in the
// queue, new attempts, new turns. Attempts keep counting, so that none is ever
// claimed twice. Results that its agent never saw come with the request.
//
// Nobody waits for its delivery again: what refers to it was free to go when
// it ended, and might now stand before it in the queue.
func (l *Ledger) restart(e protocol.Entry, n *node, words string) bool {
	state, ok := next(n.State, retried)
	if !ok || n.Doom != nil || n.parcel != nil || n.parent != nil && (!n.parent.open() || n.parent.Doom != nil) {
		return false
	}
	n.State, n.Reason, n.Code, n.Result, n.Evidence = state, "", "", "", ""
	n.Turns, n.Progress, n.Since, n.Updated = 0, 0, nanos(e.Time), nanos(e.Time)
	if words != "" {
		n.Words = words
	}
	n.seat.open++
	if p := n.parent; p != nil {
		p.openKids++
		p.doneKids--
		l.gather(p)
	}
	n.parcel = &parcel{seat: n.seat, node: n, Kind: protocol.Request, Messages: []string{n.ID}, From: n.From, Weight: n.Weight,
		Order: e.Seq, Step: protocol.Queued, Attempt: n.Tries, Released: true}
	n.parcel.take(n.inOrder(n.Results))
	n.Results = nil
	n.seat.enqueue(n.parcel)
	delete(l.dueNodes, n)
	if !n.seat.known {
		l.dueNodes[n] = struct{}{}
	}
	return true
}
