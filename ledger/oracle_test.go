package ledger

import (
	"fmt"
	"strconv"
	"time"

	"orchestrator-cc/protocol"
)

// oracle watches a history from outside and knows the promises of the house
// in its own, simpler words. It shares no code with the ledger.
type oracle struct {
	problems []string

	accepted map[string]*asked // requests and events, by id
	order    []*asked
	claims   map[string]bool   // agent, delivery and attempt
	busy     map[string]string // agent -> delivery under way
	holds    map[string]string // agent -> task
	progress map[string]int
	counted  map[string]bool // answers of models, by agent and id
	tokens   protocol.Tokens // of all agents
}

// asked is a request or an event as one recipient must get it.
type asked struct {
	id, from, to string
	task         string
	request      bool
	weight, at   int
	about        string
	expires      time.Time
	claimed      bool
	over         map[string]bool // recipients for whom it is over
	recipients   int
	rounds       int // fresh starts
	ended        int
	waitsHuman   bool
	blocked      bool // by what it refers to, by a failed attempt, by an end that is decided
}

func newOracle() *oracle {
	return &oracle{accepted: map[string]*asked{}, claims: map[string]bool{}, busy: map[string]string{}, holds: map[string]string{}, progress: map[string]int{}, counted: map[string]bool{}}
}

func (o *oracle) complain(format string, args ...any) {
	o.problems = append(o.problems, fmt.Sprintf(format, args...))
}

func (o *oracle) see(e protocol.Entry, l *Ledger) {
	switch {
	case e.Message != nil:
		o.message(e, l)
	case e.Usage != nil:
		if name := e.Usage.Agent + " " + e.Usage.ID; o.counted[name] {
			o.complain("%s counted twice", name)
		} else {
			o.counted[name] = true
		}
		o.tokens = o.tokens.Plus(e.Usage.Tokens)
		o.decide(func(x *asked) bool { return x.task != "" && x.task == e.Usage.Task }) // its tree may be held
	case e.Step != nil:
		if x := o.accepted[e.Step.Messages[0]]; e.Step.Name == protocol.Claimed && x != nil && x.rounds == 1 && !x.expires.IsZero() && !x.expires.After(e.Time) {
			o.complain("%s: %s claimed after its time to live", e.Step.Agent, x.id)
		}
		o.step(e.Step)
	}
}

func (o *oracle) message(e protocol.Entry, l *Ledger) {
	a, m := e.Message, e.Message.Message
	if o.accepted[m.ID()] != nil {
		o.complain("%s accepted twice", m)
	}
	switch p := m.Payload.(type) {
	case *protocol.RequestPayload, *protocol.EventPayload:
		x := &asked{id: m.ID(), from: m.From(), to: m.To(), task: a.Task, request: m.Header.Type == protocol.Request, weight: m.Priority().Weight(),
			at: len(o.order), about: m.Header.CorrelationID, expires: m.Expires(e.Time), over: map[string]bool{}, rounds: 1, recipients: len(l.recipients(m.To(), m.From()))}
		x.blocked = x.about != "" || !x.expires.IsZero()
		o.accepted[x.id] = x
		o.order = append(o.order, x)
	case *protocol.ControlPayload:
		order, _ := readOrder(p)
		x := o.accepted[order.Task]
		if x == nil {
			return
		}
		if p.Command == protocol.Retry {
			x.rounds++
			x.over[x.to], x.waitsHuman, x.blocked = false, false, true
			delete(o.progress, x.id)
		}
		if p.Command == protocol.Cancel {
			o.decide(func(*asked) bool { return true })
		}
	default:
		if a.Closing != nil {
			o.closing(a)
		}
	}
}

// decide notes that the end of some trees may be decided, so that an outsider
// cannot tell whether what is queued for them is still to be delivered.
func (o *oracle) decide(which func(*asked) bool) {
	for _, x := range o.order {
		x.blocked = x.blocked || !x.claimed && which(x)
	}
}

func (o *oracle) closing(a *protocol.Accepted) {
	x := o.accepted[a.Message.Header.CorrelationID]
	if x == nil || !x.request {
		o.complain("%s closes nothing", a.Message)
		return
	}
	if x.waitsHuman && a.Closing.Code == protocol.CodeCancelled {
		x.waitsHuman = false
		return
	}
	x.ended++
	if x.ended > x.rounds {
		o.complain("request %s ended %d times in %d rounds", x.id, x.ended, x.rounds)
	}
	x.waitsHuman = a.Closing.Status == protocol.Failed
	x.over[x.to] = true
	if o.holds[x.to] == x.id {
		delete(o.holds, x.to)
	}
}

func (o *oracle) step(s *protocol.Step) {
	id := s.Messages[0]
	x := o.accepted[id]
	switch s.Name {
	case protocol.Claimed:
		o.claim(s, x)
	case protocol.Answered, protocol.Undone:
		if o.busy[s.Agent] != id {
			o.complain("%s ended %s, which is not under way", s.Agent, id)
		}
		delete(o.busy, s.Agent)
		if s.Name == protocol.Undone {
			o.decide(func(y *asked) bool { return y == x || y.from != protocol.User })
		}
		if s.Name == protocol.Answered && x != nil && !x.request {
			x.over[s.Agent] = true
		}
	case protocol.Expired, protocol.Dropped, protocol.DeadEnd:
		if x != nil && !x.request {
			x.over[s.Agent] = true
		}
	default:
		if o.busy[s.Agent] != id {
			o.complain("%s: step %s of %s, which is not under way", s.Agent, s.Name, id)
		}
	}
}

func (o *oracle) claim(s *protocol.Step, x *asked) {
	name := s.Agent + " " + s.Messages[0] + " " + strconv.Itoa(s.Attempt)
	if o.claims[name] {
		o.complain("attempt claimed twice: %s", name)
	}
	o.claims[name] = true
	if other, ok := o.busy[s.Agent]; ok {
		o.complain("%s: %s claimed while %s is under way", s.Agent, s.Messages[0], other)
	}
	o.busy[s.Agent] = s.Messages[0]
	if x == nil {
		return // the results of a turn come before everything else
	}
	if x.over[s.Agent] {
		o.complain("%s: %s claimed after its end", s.Agent, x.id)
	}
	o.inOrder(s.Agent, x)
	if x.request {
		if held, ok := o.holds[s.Agent]; ok && held != x.id {
			o.complain("%s: %s claimed while it holds %s", s.Agent, x.id, held)
		}
		o.holds[s.Agent] = x.id
		x.claimed = true
	}
}

// inOrder checks the promises about what comes first, for messages whose
// readiness an outsider can judge: those that refer to nothing, were never
// tried and are not being cancelled.
func (o *oracle) inOrder(agent string, x *asked) {
	_, holding := o.holds[agent]
	for _, y := range o.order {
		if y == x || y.blocked || y.claimed || y.to != agent || y.over[agent] || o.claims[agent+" "+y.id+" 1"] || y.rounds > 1 || x.rounds > 1 {
			continue
		}
		if y.from == x.from && y.weight == x.weight && y.at < x.at && !o.claims[agent+" "+x.id+" 2"] {
			o.complain("%s: %s claimed before %s of the same sender and priority", agent, x.id, y.id)
		}
		free := !holding && !o.laneBlocked(agent, y)
		if free && !x.blocked && y.weight > x.weight {
			o.complain("%s: %s claimed before %s, which is more urgent", agent, x.id, y.id)
		}
	}
}

// laneBlocked says that something before y in its lane may be waiting.
func (o *oracle) laneBlocked(agent string, y *asked) bool {
	for _, z := range o.order {
		if z.at < y.at && z.from == y.from && z.weight == y.weight && !z.over[agent] && z.blocked {
			return true
		}
	}
	return false
}

// running checks that progress never falls while a task runs.
func (o *oracle) running(l *Ledger) {
	for id, x := range o.accepted {
		n := l.nodes[id]
		if !x.request || n == nil || !n.open() {
			continue
		}
		if n.Progress < o.progress[id] || n.Progress > 100 {
			o.complain("progress of %s went from %d to %d", id, o.progress[id], n.Progress)
		}
		o.progress[id] = n.Progress
	}
}

// drained checks that nothing accepted was lost: every request has ended and
// every event has reached, or was given up for, each of its recipients.
func (o *oracle) drained() {
	for _, x := range o.order {
		if x.request && x.ended != x.rounds {
			o.complain("request %s: ended %d times in %d rounds", x.id, x.ended, x.rounds)
		}
		if !x.request && len(x.over) != x.recipients {
			o.complain("event %s to %s: reached %d of %d", x.id, x.to, len(x.over), x.recipients)
		}
	}
	for agent, id := range o.busy {
		o.complain("%s: %s is still under way", agent, id)
	}
}
