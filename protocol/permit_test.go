package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"orchestrator-cc/protocol"
)

// The default matrix, every pair of parties and every type.
func TestDefaultMatrix(t *testing.T) {
	t.Parallel()
	parties := map[string]protocol.Identifier{
		"user":  protocol.FromUser(),
		"hub":   protocol.FromHub(),
		"boss":  protocol.Party("grand_boss", protocol.GrandBoss),
		"mgr":   protocol.Party("middle_manager", protocol.MiddleManager),
		"spec":  protocol.Party("testing_specialist", protocol.SpecialistTesting),
		"spec2": protocol.Party("painter", "specialist_painting"),
		"all":   {AgentType: protocol.All, AgentID: protocol.All},
		"specs": {AgentType: protocol.All, AgentID: "role:specialist"},
	}
	orders := "request control event"
	allowed := map[string]string{
		"user > boss": orders, "user > mgr": orders, "user > spec": orders, "user > spec2": orders, "user > hub": orders, "user > all": orders, "user > specs": orders,
		"boss > mgr": orders, "boss > spec": orders, "boss > spec2": orders, "boss > user": orders, "boss > hub": orders, "boss > all": orders, "boss > specs": orders,
		"mgr > spec": orders, "mgr > spec2": orders, "mgr > specs": orders, "mgr > boss": "event",
		"hub > user": "error event control", "hub > boss": "error event control", "hub > mgr": "error event control", "hub > spec": "error event control",
		"hub > spec2": "error event control", "hub > all": "error event control", "hub > specs": "error event control",
	}
	m := protocol.DefaultMatrix()
	for from, f := range parties {
		for to, r := range parties {
			if from == "all" || from == "specs" {
				continue
			}
			pair := from + " > " + to
			for _, typ := range protocol.Types() {
				err := m.Permit(f, r, typ, false)
				want := from != to && (typ == protocol.Heartbeat || strings.Contains(" "+allowed[pair]+" ", " "+string(typ)+" "))
				if got := err == nil; got != want {
					t.Errorf("%s %s: got allowed %v (%v), want %v", pair, typ, got, err, want)
				}
				if err != nil && !errors.Is(err, &protocol.Fault{Code: protocol.CodeForbidden}) {
					t.Errorf("%s %s: got %v, want %s", pair, typ, err, protocol.CodeForbidden)
				}
			}
		}
	}
}

func TestWhoWasAskedMayAnswer(t *testing.T) {
	t.Parallel()
	m := protocol.DefaultMatrix()
	spec, mgr := protocol.Party("testing_specialist", protocol.SpecialistTesting), protocol.Party("middle_manager", protocol.MiddleManager)
	for _, typ := range []protocol.Type{protocol.Response, protocol.Error, protocol.Ack, protocol.Nack} {
		if err := m.Permit(spec, mgr, typ, true); err != nil {
			t.Errorf("%s when asked: got %v, want it allowed", typ, err)
		}
		if err := m.Permit(spec, mgr, typ, false); err == nil || !strings.Contains(err.Error(), "only an agent that was asked") {
			t.Errorf("%s unasked: got %v, want it refused with the reason", typ, err)
		}
	}
	if err := m.Permit(spec, mgr, protocol.Event, true); err != nil {
		t.Errorf("a report when asked: got %v, want it allowed", err)
	}
	if err := m.Permit(spec, mgr, protocol.Event, false); err == nil || !strings.Contains(err.Error(), "while it works for") {
		t.Errorf("a report unasked: got %v, want it refused with the reason", err)
	}
	if err := m.Permit(spec, mgr, protocol.Request, true); err == nil {
		t.Error("request when asked: got it allowed, want it refused")
	}
	if err := m.Permit(mgr, protocol.FromUser(), protocol.Request, false); err == nil || !strings.Contains(err.Error(), "[specialist]") {
		t.Errorf("got %v, want a cure that names whom the manager may ask", err)
	}
}

// Rules may name a rank, a role or an agent.
func TestOwnMatrix(t *testing.T) {
	t.Parallel()
	a, b := protocol.Party("alice", "specialist_a"), protocol.Party("bob", "specialist_b")
	for _, rule := range []protocol.Rule{
		{From: "alice", To: "bob"}, {From: "specialist_a", To: "specialist_b"}, {From: "specialist", To: "specialist"}, {From: "all", To: "all"},
	} {
		rule.Types = []protocol.Type{protocol.Request}
		m := protocol.Matrix{rule}
		if err := m.Permit(a, b, protocol.Request, false); err != nil {
			t.Errorf("%+v: got %v, want it allowed", rule, err)
		}
		if err := m.Permit(a, b, protocol.Event, false); err == nil {
			t.Errorf("%+v: got an event allowed, want it refused", rule)
		}
	}
	if err := (protocol.Matrix{{From: "bob", To: "alice", Types: []protocol.Type{protocol.Request}}}).Permit(a, b, protocol.Request, false); err == nil {
		t.Error("got the other direction allowed, want it refused")
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	tests := map[protocol.Role]protocol.Rank{
		protocol.GrandBoss: protocol.RankBoss, protocol.MiddleManager: protocol.RankManager, protocol.SpecialistCoding: protocol.RankSpecialist,
		"specialist_painting": protocol.RankSpecialist, "specialist_": protocol.RankNone, "specialist": protocol.RankNone,
		protocol.User: protocol.RankUser, protocol.Hub: protocol.RankHub, "": protocol.RankNone, "janitor": protocol.RankNone,
	}
	for role, want := range tests {
		if got := role.Rank(); got != want {
			t.Errorf("%q: got %q, want %q", role, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := protocol.Invalid("header.to", "is %q", "x").Cure("type %s", "y")
	if got, want := f.Error(), `header.to is "x"; type y`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(f, &protocol.Fault{Code: protocol.CodeInvalid}) || errors.Is(f, &protocol.Fault{Code: protocol.CodeLimit}) {
		t.Error("got faults compared by something else, want by their code")
	}
	if got := protocol.CodeOf(errors.New("x")); got != protocol.CodeInternal {
		t.Errorf("got %s, want %s", got, protocol.CodeInternal)
	}
	for _, c := range []protocol.Code{protocol.CodeInvalid, protocol.CodeTimeout, protocol.CodeAgentDied, protocol.CodeAgentFailed, protocol.CodeInternal} {
		if c.ErrorType() == "" {
			t.Errorf("%s: got no error type, want one", c)
		}
	}
}

func TestWeight(t *testing.T) {
	t.Parallel()
	order := []protocol.Priority{"odd", protocol.Low, protocol.Normal, protocol.High, protocol.Critical}
	for i := 1; i < len(order); i++ {
		if order[i-1].Weight() >= order[i].Weight() {
			t.Errorf("got %s not below %s, want it below", order[i-1], order[i])
		}
	}
	if protocol.Priority("").Weight() != protocol.Normal.Weight() {
		t.Error("got an absent priority unlike normal, want it the same")
	}
}
