package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

const (
	boss     = "grand_boss"
	manager  = "middle_manager"
	coder    = "coding_writing_specialist"
	analyst  = "research_analysis_specialist"
	tester   = "testing_specialist"
	user     = protocol.User
	bossDone = "GRAND BOSS OK"
)

// company is the five default agents.
func company() Rules {
	return Rules{
		Agents: []Agent{
			{Name: boss, Role: protocol.GrandBoss, Marker: bossDone},
			{Name: manager, Role: protocol.MiddleManager, Marker: "MIDDLE MANAGER OK"},
			{Name: coder, Role: protocol.SpecialistCoding, Marker: "CODING OK"},
			{Name: analyst, Role: protocol.SpecialistResearch, Marker: "RESEARCH OK"},
			{Name: tester, Role: protocol.SpecialistTesting, Marker: "TESTING OK"},
		},
		Retry: Retry{Max: 3, Initial: time.Second, MaxDelay: 30 * time.Second, Multiplier: 2},
	}
}

// office is a hub without a clock, a disk or a pane: it appends, applies, and
// does what the plan says when it is told to.
type office struct {
	t       testing.TB
	l       *Ledger
	rules   Rules
	now     time.Time
	entries []protocol.Entry
	ids     int
}

func newOffice(t testing.TB, r Rules) *office {
	t.Helper()
	return &office{t: t, l: New(r), rules: r, now: time.Date(2026, 2, 1, 10, 30, 0, 0, time.UTC)}
}

func (o *office) append(batch ...protocol.Entry) {
	for _, e := range batch {
		e.Seq = uint64(len(o.entries)) + 1
		o.entries = append(o.entries, e)
		o.l.Apply(e)
	}
}

// settle appends what the plan owes until it owes nothing, and returns it.
func (o *office) settle() Plan {
	o.t.Helper()
	for range 1000 {
		plan := o.l.Next(o.now)
		if len(plan.Append) == 0 {
			return plan
		}
		for _, batch := range plan.Append {
			o.append(batch...)
		}
	}
	o.t.Fatalf("the plan goes on owing: %+v", o.l.Next(o.now).Append)
	return Plan{}
}

func (o *office) newID() string {
	o.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", o.ids)
}

// offer builds a message and asks to admit it.
func (o *office) offer(from, to string, p protocol.Payload, with ...func(*protocol.Accepted)) (*protocol.Accepted, error) {
	m := protocol.New(protocol.Identifier{AgentID: from}, protocol.Identifier{AgentID: to}, p)
	m.Header.MessageID = o.newID()
	m.Stamp(o.now)
	a := &protocol.Accepted{Message: m}
	for _, f := range with {
		f(a)
	}
	return a, o.l.Admit(a, o.now)
}

// send appends a message that must be admitted, and returns its id.
func (o *office) send(from, to string, p protocol.Payload, with ...func(*protocol.Accepted)) string {
	o.t.Helper()
	a, err := o.offer(from, to, p, with...)
	if err != nil {
		o.t.Fatalf("send %s to %s: %v", from, to, err)
	}
	o.append(protocol.Entry{Time: o.now, Kind: protocol.KindMessage, Message: a})
	return a.Message.ID()
}

func (o *office) ask(from, to, text string, with ...func(*protocol.Accepted)) string {
	o.t.Helper()
	return o.send(from, to, protocol.TaskRequest(text), with...)
}

func (o *office) order(c protocol.Command, to string, o2 orderParams, with ...func(*protocol.Accepted)) string {
	o.t.Helper()
	return o.send(user, to, &protocol.ControlPayload{Command: c, Params: encode(o2)}, with...)
}

// ready finds what may be delivered to an agent now.
func (o *office) ready(agent string) (Delivery, bool) {
	for _, d := range o.settle().Deliver {
		if d.Agent == agent {
			return d, true
		}
	}
	return Delivery{}, false
}

// take claims what is ready for an agent and brings it to the accepted step.
func (o *office) take(agent string) Delivery {
	o.t.Helper()
	d := o.claim(agent)
	for _, step := range []protocol.StepName{protocol.Typed, protocol.Submitted, protocol.Taken} {
		o.append(o.l.Mark(d, step, "screen", o.now)...)
	}
	return d
}

func (o *office) claim(agent string) Delivery {
	o.t.Helper()
	d, ok := o.ready(agent)
	if !ok {
		o.t.Fatalf("%s: got nothing to deliver, want a delivery", agent)
	}
	if !d.Begun {
		d.Req = fmt.Sprintf("r%d", len(o.entries))
	}
	o.append(o.l.Claim(d, d.Req, "e1", o.now))
	return d
}

func (o *office) answer(d Delivery, text string) {
	o.append(o.l.Settle(d, Answer{Text: text, Evidence: "channel"}, o.now)...)
	o.settle()
}

func (o *office) fail(d Delivery, code protocol.Code, again bool) {
	o.append(o.l.Fail(d, Failure{Code: code, Reason: "it " + string(code), Again: again}, o.now)...)
	o.settle()
}

func (o *office) task(id string) protocol.Task {
	o.t.Helper()
	t, err := o.l.Task(id)
	if err != nil {
		o.t.Fatalf("task %s: %v", id, err)
	}
	return t
}

func (o *office) wantState(id string, want protocol.TaskState) {
	o.t.Helper()
	if got := o.task(id).State; got != want {
		o.t.Errorf("state of %s: got %s, want %s", id, got, want)
	}
}

// said lists the messages of a type so far, as "from > to: text".
func (o *office) said(t protocol.Type) []string {
	var out []string
	for _, e := range o.entries {
		if e.Message != nil && e.Message.Message.Header.Type == t {
			m := e.Message.Message
			out = append(out, m.From()+" > "+m.To()+": "+m.Text())
		}
	}
	return out
}

// wantSound checks what must hold for every history: nothing was out of
// place, and replaying it, or a snapshot of it, gives the same ledger.
func (o *office) wantSound() {
	o.t.Helper()
	if got := o.l.Anomalies(); got != 0 {
		o.t.Errorf("got %d anomalies, want 0", got)
	}
	live := snapshot(o.t, o.l)
	again := New(o.rules)
	for _, e := range o.entries {
		again.Apply(e)
	}
	if diff := cmp.Diff(live, snapshot(o.t, again)); diff != "" {
		o.t.Errorf("replay (-live +replayed):\n%s", diff)
	}
	restored := New(o.rules)
	if err := restored.Restore([]byte(live)); err != nil {
		o.t.Fatal(err)
	}
	if diff := cmp.Diff(live, snapshot(o.t, restored)); diff != "" {
		o.t.Errorf("snapshot (-live +restored):\n%s", diff)
	}
	if diff := cmp.Diff(o.l.Next(o.now), restored.Next(o.now)); diff != "" {
		o.t.Errorf("plan (-live +restored):\n%s", diff)
	}
}

func snapshot(t testing.TB, l *Ledger) string {
	t.Helper()
	data, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
