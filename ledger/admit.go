package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Admit says whether a message may be appended, and fills in what the sender
// need not know: the parties' roles, the task it belongs to, the request it is
// made for, and for an answer how it closes its request. It changes nothing
// but the message.
func (l *Ledger) Admit(a *protocol.Accepted, now time.Time) error {
	m := &a.Message
	if m.Payload == nil {
		return protocol.Invalid("payload", "is missing")
	}
	if _, twice := l.seen[keyOf(m.ID())]; twice {
		fault := protocol.Faultf(protocol.CodeDuplicate, "%q was accepted before", m.ID())
		fault.Field = "header.message_id"
		return fault.Cure("leave message_id out and the hub gives a new one")
	}
	if err := l.identify("header.from", &m.Header.From, false); err != nil {
		return err
	}
	if err := l.identify("header.to", &m.Header.To, true); err != nil {
		return err
	}
	l.placeReport(m)
	about := l.nodes[m.Header.CorrelationID]
	asked := about != nil && about.seat.name == m.From() && about.From == m.To() && (m.Header.Type != protocol.Event || about.open())
	if err := l.rules.Matrix.Permit(m.Header.From, m.Header.To, m.Header.Type, asked); err != nil {
		return err
	}
	if about != nil && a.Task == "" {
		a.Task = about.root.ID
	}
	if about != nil && asked && a.Session == "" {
		a.Session = about.Session
	}
	switch p := m.Payload.(type) {
	case *protocol.RequestPayload:
		return l.admitRequest(a)
	case *protocol.ControlPayload:
		return l.admitControl(a, p, now)
	case *protocol.ResponsePayload:
		return admitClosing(a, about, p.Status, "", now)
	case *protocol.ErrorPayload:
		if asked {
			return admitClosing(a, about, protocol.Failed, protocol.CodeAgentFailed, now)
		}
	case *protocol.EventPayload:
		if s := l.seats[m.From()]; s != nil && s.task() != nil && a.Task == "" {
			a.Task, a.Session = s.task().root.ID, s.task().Session
		}
	}
	return nil
}

// placeReport makes what an agent tells whoever asked for its running task a
// message about that task.
func (l *Ledger) placeReport(m *protocol.Message) {
	s := l.seats[m.From()]
	if m.Header.Type == protocol.Event && m.Header.CorrelationID == "" && s != nil && s.current != nil && s.current.From == m.To() {
		m.Header.CorrelationID = s.current.ID
	}
}

// identify checks a party's name and completes its identity. A role that is
// claimed must be the true one.
func (l *Ledger) identify(field string, who *protocol.Identifier, recipient bool) error {
	name := who.AgentID
	group := name == protocol.All || strings.HasPrefix(name, protocol.RolePrefix)
	s := l.seats[name]
	known := s != nil && s.known || name == protocol.User || name == protocol.Hub
	if recipient && group {
		known = name == protocol.All || len(l.recipients(name, "")) > 0
	}
	if !known {
		fault := protocol.Faultf(protocol.CodeUnknownAgent, "is %q; no such agent is configured", name)
		fault.Field = field + ".agent_id"
		return fault.Cure("the agents are: %s", strings.Join(l.names(), ", "))
	}
	truth := l.party(name)
	if group {
		truth = protocol.Identifier{AgentType: protocol.All, AgentID: name}
	}
	if who.AgentType != "" && who.AgentType != truth.AgentType {
		code := protocol.CodeInvalid
		if !recipient {
			code = protocol.CodeImpostor
		}
		fault := protocol.Faultf(code, "is %q, but %s is %s", who.AgentType, name, truth.AgentType)
		fault.Field = field + ".agent_type"
		return fault.Cure("leave agent_type out, or write %s", truth.AgentType)
	}
	who.AgentType = truth.AgentType
	if who.Role == "" {
		who.Role = truth.Role
	}
	return nil
}

func (l *Ledger) names() []string {
	var out []string
	for _, s := range l.order {
		if s.known {
			out = append(out, s.name)
		}
	}
	return out
}

// admitRequest finds the task a request is made for, and checks the limits.
func (l *Ledger) admitRequest(a *protocol.Accepted) error {
	m := a.Message
	to := l.seats[m.To()]
	if to == nil {
		return protocol.Invalid("header.to.agent_id", "is %q; a request goes to one agent", m.To()).Cure("send an event to reach many, or one request to each")
	}
	if from := l.seats[m.From()]; from != nil && a.Parent == "" && from.task() != nil {
		a.Parent = from.task().ID
	}
	parent := l.nodes[a.Parent]
	if a.Parent != "" {
		switch {
		case parent == nil || parent.seat.name != m.From():
			return protocol.Faultf(protocol.CodeNotFound, "%s has no task %q to make a request for", m.From(), a.Parent)
		case !parent.open() || parent.Doom != nil:
			return protocol.Faultf(protocol.CodeConflict, "task %s is over; nothing more can be asked for it", a.Parent)
		}
	}
	if f := l.overLimits(parent, to, 0); f != nil {
		return f.Cure("wait until some are done (orchestrator-cc tasks), or cancel some")
	}
	a.Task = m.ID()
	if parent != nil {
		a.Task = parent.root.ID
		if a.Session == "" {
			a.Session = parent.Session
		}
	}
	return nil
}

// admitClosing lets an agent end its request by a message of its own.
func admitClosing(a *protocol.Accepted, n *node, s protocol.Status, code protocol.Code, now time.Time) error {
	switch {
	case n == nil:
		fault := protocol.Faultf(protocol.CodeNotFound, "names %q, which is no request", a.Message.Header.CorrelationID)
		fault.Field = "header.correlation_id"
		return fault
	case !n.open() || n.Doom != nil:
		return protocol.Faultf(protocol.CodeConflict, "request %s has ended already", n.ID)
	case n.openKids > 0:
		return protocol.Faultf(protocol.CodeConflict, "request %s still waits for %d delegated tasks", n.ID, n.openKids).Cure("answer when they are done")
	}
	if s == protocol.Failed && code == "" {
		code = protocol.CodeAgentFailed
	}
	a.Session = n.Session
	a.Closing = n.closing(s, now)
	a.Closing.Code, a.Closing.Evidence = code, "message"
	return nil
}

// admitControl checks an order and writes the full id of the task it names.
func (l *Ledger) admitControl(a *protocol.Accepted, p *protocol.ControlPayload, now time.Time) error {
	o, err := readOrder(p)
	if err != nil {
		return protocol.Invalid("payload.params", "%v", err)
	}
	switch {
	case o.allows(p.Command) && a.Message.From() != protocol.User:
		return protocol.Faultf(protocol.CodeForbidden, "only a person may give more tokens")
	case o.allows(p.Command) && o.Task == "":
		return l.admitToday(o, nanos(now))
	case p.Command != protocol.Cancel && p.Command != protocol.Retry && !o.allows(p.Command):
		if a.Message.To() == protocol.User {
			return protocol.Invalid("header.to.agent_id", "is %q; an order goes to an agent", protocol.User)
		}
		return nil
	case o.Task == "":
		return protocol.Invalid("payload.params.task", "is missing; say which task to %s", p.Command)
	}
	n, err := l.find(o.Task)
	if err != nil {
		return err
	}
	if from := a.Message.Header.From; from.AgentID != n.seat.name || n.From != from.AgentID {
		if err := l.rules.Matrix.Permit(from, l.party(n.seat.name), protocol.Control, false); err != nil {
			return err
		}
	}
	if err := l.mayChange(n, p.Command); err != nil {
		return err
	}
	full, err := nameTask(p, n.ID)
	if err != nil {
		return err
	}
	order := *p
	order.Params = full
	a.Message.Payload = &order
	a.Task, a.Session = n.root.ID, n.Session
	return nil
}

func (l *Ledger) mayChange(n *node, c protocol.Command) error {
	switch c {
	case protocol.Resume:
		if n.root.open() && l.overTask(n) {
			return nil
		}
		return protocol.Faultf(protocol.CodeConflict, "task %s is not held by limits.tokens; there is nothing to let go on", n.root.ID)
	case protocol.Cancel:
		if n.open() && n.Doom == nil || n.State == protocol.TaskNeedsHuman && n.Doom == nil {
			return nil
		}
		return protocol.Faultf(protocol.CodeConflict, "task %s is %s; there is nothing to cancel", n.ID, n.shown())
	}
	if _, ok := next(n.State, retried); !ok || n.Doom != nil || n.parcel != nil {
		return protocol.Faultf(protocol.CodeConflict, "task %s is %s; only a failed, cancelled or waiting task can be retried", n.ID, n.shown())
	}
	if p := n.parent; p != nil && (!p.open() || p.Doom != nil) {
		return protocol.Faultf(protocol.CodeConflict, "task %s was made for task %s, which is over", n.ID, p.ID).Cure("orchestrator-cc retry %s", n.root.ID)
	}
	return nil
}

func (n *node) shown() string {
	if n.Doom != nil && n.open() {
		return "ending"
	}
	return string(n.State)
}

// find looks a task up by its id or by the beginning of it.
func (l *Ledger) find(id string) (*node, error) {
	if n, ok := l.nodes[id]; ok {
		return n, nil
	}
	var found *node
	for full, n := range l.nodes {
		if id == "" || !strings.HasPrefix(full, id) {
			continue
		}
		if found != nil {
			return nil, protocol.Invalid("task", "%q fits more than one task", id).Cure("give more letters of its id; orchestrator-cc tasks lists them")
		}
		found = n
	}
	if found == nil {
		return nil, protocol.Faultf(protocol.CodeNotFound, "there is no task %q", id).Cure("orchestrator-cc tasks lists them")
	}
	return found, nil
}

// nameTask writes the task's full id into an order's parameters and leaves the
// others as they are.
func nameTask(p *protocol.ControlPayload, id string) (json.RawMessage, error) {
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(p.Params, &params); err != nil {
		return nil, protocol.Invalid("payload.params", "%v", err)
	}
	params["task"] = encode(id)
	return encode(params), nil
}
