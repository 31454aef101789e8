// Package ledger folds the entries of the stream into queues, deliveries,
// task trees, timers and figures, and answers "what next, and when".
//
//	Apply(entry)   the only way to change it: one entry of the stream after the other
//	Admit(message) may this message be appended?
//	Next(now)      what is owed to the stream, what may be typed, what must be interrupted
//	Claim, Mark, Settle, Fail   the entries that carry a delivery one step further
//
// It is pure: time is an argument, nothing is random (jitter and the ids of the
// messages it makes are hashes of their causes) and nothing runs by itself. The
// same entries therefore always give the same ledger, and a decision that a
// crash cut off is made again with the same ids, so that nothing happens twice.
// Within a batch the step that ends a delivery stands last: whatever part of a
// batch survives, the ledger asks for the rest.
//
// A Ledger is not safe for use by several goroutines: one owns it.
package ledger

import (
	"cmp"
	"time"

	"orchestrator-cc/protocol"
)

// Agent is one agent as the ledger needs to know it.
type Agent struct {
	Name   string
	Role   protocol.Role
	Marker string // the line that ends its answers; never forwarded
	Tokens int64  // what it may take until a person lets it go on; zero: Limits.Tokens.Agent
}

// Retry is the retry policy: how often and how late a failed attempt is made
// again.
type Retry struct {
	Max        int // attempts after the first
	Initial    time.Duration
	MaxDelay   time.Duration
	Multiplier float64
	Jitter     bool
}

// Limits end talk that would not end by itself.
type Limits struct {
	Turns     int // answers per task
	Depth     int // levels of a tree, the root included
	OpenTasks int // per agent
	Tokens    TokenLimits
}

// TokenLimits hold what would cost too much, until a person lets it go on.
// Zero is none.
type TokenLimits struct {
	Task  int64 // one tree
	Agent int64 // one agent
	Day   int64 // the company, from midnight to midnight UTC
}

// Rules are what the fold is made under. Absent parts take the defaults.
type Rules struct {
	Agents []Agent
	Retry  Retry
	Limits Limits
	Matrix protocol.Matrix
}

func (r Rules) withDefaults() Rules {
	if r.Retry == (Retry{}) {
		r.Retry = Retry{Max: 3, Initial: time.Second, MaxDelay: 30 * time.Second, Multiplier: 2, Jitter: true}
	}
	if r.Limits.Turns == 0 {
		r.Limits.Turns = 20
	}
	if r.Limits.Depth == 0 {
		r.Limits.Depth = 5
	}
	if r.Limits.OpenTasks == 0 {
		r.Limits.OpenTasks = 100
	}
	if r.Matrix == nil {
		r.Matrix = protocol.DefaultMatrix()
	}
	return r
}

// Ledger is the state of the house as its stream tells it.
type Ledger struct {
	rules Rules
	seq   uint64
	clock int64 // the newest entry's time
	// turned is the first entry whose time lies before that of an earlier one,
	// until the hub tells by how much the clock was set back; 0: there is none.
	turned uint64

	seats map[string]*seat
	order []*seat // the configured agents first, then those only the stream knows

	seen        map[key]struct{} // every message id that was ever accepted
	nodes       map[string]*node // every request that is not forgotten
	roots       []*node          // by age
	shelf       shelf            // closed trees, by the time they closed
	undelivered map[string]int   // message id -> panes that have yet to take it
	dueNodes    map[*node]struct{}
	dueNotes    map[*parcel]struct{}
	timers      expiries

	byReq map[string]*node // the tasks of all attempts that are not forgotten
	purse purse

	tally     tally
	approvals protocol.Approvals
	anomalies int
	words     map[string]string
	labels    map[label]*label
}

// New makes an empty ledger.
func New(r Rules) *Ledger {
	l := &Ledger{
		rules:       r.withDefaults(),
		seats:       map[string]*seat{},
		seen:        map[key]struct{}{},
		nodes:       map[string]*node{},
		undelivered: map[string]int{},
		dueNodes:    map[*node]struct{}{},
		dueNotes:    map[*parcel]struct{}{},
		byReq:       map[string]*node{},
		purse:       newPurse(),
		tally:       tally{ByType: map[protocol.Type]int{}, ByAgent: map[string]int{}},
		words:       map[string]string{},
		labels:      map[label]*label{},
	}
	for _, a := range r.Agents {
		l.addSeat(&seat{name: a.Name, role: a.Role, marker: a.Marker, tokens: cmp.Or(a.Tokens, r.Limits.Tokens.Agent), known: true})
	}
	return l
}

// Seq is the sequence number of the last entry applied.
func (l *Ledger) Seq() uint64 { return l.seq }

// Anomalies counts the entries that did not fit what went before them. They
// change nothing.
func (l *Ledger) Anomalies() int { return l.anomalies }

// Apply folds one entry. It takes every entry: one that does not fit is
// counted and otherwise ignored.
func (l *Ledger) Apply(e protocol.Entry) {
	if e.Seq <= l.seq {
		l.anomalies++
		return
	}
	l.seq = e.Seq
	l.tell(e)
	fits := false
	switch {
	case e.Message != nil:
		fits = l.applyMessage(e, e.Message)
	case e.Step != nil && len(e.Step.Messages) > 0:
		fits = l.applyStep(e, e.Step)
	case e.Agent != nil:
		fits = true // the hub shows its agents as they are now
	case e.Hub != nil:
		fits = l.applyHub(e)
	case e.Usage != nil:
		fits = l.applyUsage(e, e.Usage)
	}
	if !fits {
		l.anomalies++
	}
	l.forget()
	l.purse.forget(dayOf(l.clock))
}

func (l *Ledger) applyMessage(e protocol.Entry, a *protocol.Accepted) bool {
	m := a.Message
	k := keyOf(m.ID())
	if _, twice := l.seen[k]; twice || m.Payload == nil {
		return false
	}
	l.seen[k] = struct{}{}
	l.tally.accepted(m)
	l.approvals.Apply(e)
	switch p := m.Payload.(type) {
	case *protocol.RequestPayload:
		return l.applyRequest(e, a, p)
	case *protocol.EventPayload:
		return l.applyEvent(e, a)
	case *protocol.ResponsePayload, *protocol.ErrorPayload:
		return l.applyAnswer(e, a)
	case *protocol.ControlPayload:
		l.tally.Received++
		return l.applyControl(e, a, p)
	}
	l.tally.Received++ // acks, nacks and heartbeats are read where they are accepted
	return true
}

// applyHub lets a new hub begin with agents that nobody stopped, and with
// timers that agree with its clock.
func (l *Ledger) applyHub(e protocol.Entry) bool {
	switch c := e.Hub; c.Event {
	case "started":
		for _, s := range l.order {
			s.stopped = false
		}
	case protocol.ClockSetBack:
		l.setBack(time.Duration(c.BackMS)*time.Millisecond, e.Time)
	}
	return true
}

// maxShared bounds the tables of shared strings, since programs write some of
// them.
const maxShared = 4096

// word returns one copy of a string that comes again and again.
func (l *Ledger) word(s string) string {
	if w, ok := l.words[s]; ok {
		return w
	}
	if len(l.words) < maxShared && len(s) <= 64 {
		l.words[s] = s
	}
	return s
}

func (l *Ledger) label(step protocol.StepName, evidence string) *label {
	what := label{Step: step, Evidence: evidence}
	if one, ok := l.labels[what]; ok {
		return one
	}
	if len(l.labels) < maxShared {
		l.labels[what] = &what
	}
	return &what
}

func (l *Ledger) addSeat(s *seat) *seat {
	s.notes = map[string]*parcel{}
	l.seats[s.name] = s
	l.order = append(l.order, s)
	return s
}

// seat finds an agent's seat. One that only the stream knows gets a seat too:
// it was configured once, and its messages must still come to an end.
func (l *Ledger) seat(name string) *seat {
	if s, ok := l.seats[name]; ok {
		return s
	}
	return l.addSeat(&seat{name: name})
}

// party is the true identity of a name.
func (l *Ledger) party(name string) protocol.Identifier {
	if s, ok := l.seats[name]; ok && s.known {
		return protocol.Party(name, s.role)
	}
	return protocol.Party(name, protocol.Role(name))
}

// recipients are the agents a name stands for, the sender left out.
func (l *Ledger) recipients(to, from string) []*seat {
	if s, ok := l.seats[to]; ok {
		return []*seat{s}
	}
	var out []*seat
	for _, s := range l.order {
		if s.known && s.name != from && s.belongsTo(to) {
			out = append(out, s)
		}
	}
	return out
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
