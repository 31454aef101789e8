package ledger

import (
	"errors"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

func TestAdmitRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	open := o.ask(user, manager, "x")
	o.take(manager)
	o.ask(manager, coder, "y")
	task := protocol.TaskRequest("do it")
	claims := func(party func(*protocol.Header) *protocol.Identifier, role string) func(*protocol.Accepted) {
		return func(a *protocol.Accepted) { party(&a.Message.Header).AgentType = role }
	}
	sender := func(h *protocol.Header) *protocol.Identifier { return &h.From }
	recipient := func(h *protocol.Header) *protocol.Identifier { return &h.To }
	tests := []struct {
		name     string
		from, to string
		payload  protocol.Payload
		with     func(*protocol.Accepted)
		code     protocol.Code
		field    string
	}{
		{"unknown recipient", user, "janitor", task, nil, protocol.CodeUnknownAgent, "header.to.agent_id"},
		{"unknown sender", "janitor", coder, task, nil, protocol.CodeUnknownAgent, "header.from.agent_id"},
		{"group as sender", protocol.All, coder, task, nil, protocol.CodeUnknownAgent, "header.from.agent_id"},
		{"unknown group", user, "role:janitor", protocol.Info("x"), nil, protocol.CodeUnknownAgent, "header.to.agent_id"},
		{"request to a group", user, protocol.All, task, nil, protocol.CodeInvalid, "header.to.agent_id"},
		{"request to the user", boss, user, task, nil, protocol.CodeInvalid, "header.to.agent_id"},
		{"same id", user, coder, task, func(a *protocol.Accepted) { a.Message.Header.MessageID = open }, protocol.CodeDuplicate, "header.message_id"},
		{"false role", tester, coder, task, claims(sender, "grand_boss"), protocol.CodeImpostor, "header.from.agent_type"},
		{"false role of the recipient", user, coder, task, claims(recipient, "grand_boss"), protocol.CodeInvalid, "header.to.agent_type"},
		{"forbidden pair", coder, tester, task, nil, protocol.CodeForbidden, "header.to"},
		{"up the ranks", manager, boss, task, nil, protocol.CodeForbidden, "header.to"},
		{"oneself", boss, boss, task, nil, protocol.CodeForbidden, ""},
		{"answer of somebody else", tester, user, protocol.Answer(protocol.Success, "x"), about(open), protocol.CodeForbidden, "header.to"},
		{"answer to nothing", manager, user, protocol.Answer(protocol.Success, "x"), about("x"), protocol.CodeForbidden, "header.to"},
		{"answer before the delegates", manager, user, protocol.Answer(protocol.Success, "x"), about(open), protocol.CodeConflict, ""},
		{"order without a task", user, manager, &protocol.ControlPayload{Command: protocol.Cancel}, nil, protocol.CodeInvalid, "payload.params.task"},
		{"somebody else's task", boss, coder, task, func(a *protocol.Accepted) { a.Parent = open }, protocol.CodeNotFound, ""},
	}
	for _, tt := range tests {
		with := tt.with
		if with == nil {
			with = func(*protocol.Accepted) {}
		}
		_, err := o.offer(tt.from, tt.to, tt.payload, with)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != tt.code || fault.Field != tt.field {
			t.Errorf("%s: got %#v, want %s in %q", tt.name, err, tt.code, tt.field)
		}
	}
	if err := o.l.Admit(&protocol.Accepted{}, o.now); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("empty message: got %v, want %s", err, protocol.CodeInvalid)
	}
}

func TestAdmitFillsIn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x", func(a *protocol.Accepted) { a.Session = "s1" })
	o.take(manager)
	a, err := o.offer(manager, coder, protocol.TaskRequest("y"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Task != root || a.Parent != root || a.Session != "s1" {
		t.Errorf("got task %q, parent %q, session %q, want those of the manager's task", a.Task, a.Parent, a.Session)
	}
	if got, want := a.Message.Header.To, protocol.Party(coder, protocol.SpecialistCoding); got != want {
		t.Errorf("got recipient %+v, want %+v", got, want)
	}
	news, err := o.offer(manager, boss, protocol.Info("z"))
	if err != nil || news.Task != root {
		t.Errorf("got %v, task %q, want the event within the task", err, news.Task)
	}
	o.now = o.now.Add(time.Second)
	failure := &protocol.ErrorPayload{ErrorCode: "E_X", ErrorType: protocol.ErrExecution, Message: "no"}
	answer, err := o.offer(manager, user, failure, about(root))
	if err != nil || answer.Closing == nil || answer.Closing.Status != protocol.Failed || answer.Closing.LatencyMS != 1000 {
		t.Errorf("got %v, closing %+v, want the error to close its request", err, answer.Closing)
	}
}

// Whoever works on a request may tell the asker how it goes, for as long as it
// does, and nobody else may.
func TestReportsToTheAsker(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x", func(a *protocol.Accepted) { a.Session = "s1" })
	o.take(manager)
	request := o.ask(manager, coder, "y")
	work := o.take(coder)
	for name, with := range map[string]func(*protocol.Accepted){"by itself": func(*protocol.Accepted) {}, "about the request": about(request)} {
		a, err := o.offer(coder, manager, protocol.Info("half of it"), with)
		if err != nil {
			t.Fatalf("%s: got %v, want the report admitted", name, err)
		}
		if a.Message.Header.CorrelationID != request || a.Task != root || a.Session != "s1" {
			t.Errorf("%s: got about %q, task %q, session %q, want those of the request", name, a.Message.Header.CorrelationID, a.Task, a.Session)
		}
	}
	if a, err := o.offer(manager, user, protocol.Info("on it")); err != nil || a.Session != "s1" || a.Message.Header.CorrelationID != root {
		t.Errorf("got %v, %+v, want the user told, in his session", err, a)
	}
	for name, tt := range map[string]struct {
		from, to string
		with     func(*protocol.Accepted)
	}{
		"past the asker":        {coder, boss, func(*protocol.Accepted) {}},
		"to the user":           {coder, user, func(*protocol.Accepted) {}},
		"to a colleague":        {coder, tester, func(*protocol.Accepted) {}},
		"about another's":       {tester, manager, about(request)},
		"without work":          {tester, manager, func(*protocol.Accepted) {}},
		"about what was asked":  {coder, boss, about(root)},
		"to the asker of asker": {coder, user, about(root)},
	} {
		if _, err := o.offer(tt.from, tt.to, protocol.Info("z"), tt.with); protocol.CodeOf(err) != protocol.CodeForbidden {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
	o.answer(work, "done")
	if _, err := o.offer(coder, manager, protocol.Info("z"), about(request)); protocol.CodeOf(err) != protocol.CodeForbidden {
		t.Errorf("after the end: got %v, want it refused", err)
	}
}

// An id is accepted once for ever, also after its task is forgotten.
func TestIDsAreKeptForEver(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	id := o.ask(user, coder, "x")
	o.answer(o.take(coder), "done")
	o.now = o.now.Add(31 * 24 * time.Hour)
	o.ask(user, coder, "a month later")
	if _, err := o.l.Task(id); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("got %v, want the old task forgotten", err)
	}
	if err := o.l.Restore([]byte(snapshot(t, o.l))); err != nil {
		t.Fatal(err)
	}
	_, err := o.offer(user, coder, protocol.TaskRequest("x"), func(a *protocol.Accepted) { a.Message.Header.MessageID = id })
	if protocol.CodeOf(err) != protocol.CodeDuplicate {
		t.Errorf("got %v, want %s", err, protocol.CodeDuplicate)
	}
	before := o.l.Anomalies()
	again := o.entries[0]
	again.Seq = uint64(len(o.entries)) + 1
	o.l.Apply(again)
	if got := o.l.Anomalies() - before; got != 1 {
		t.Errorf("got %d anomalies for an id that comes again, want 1", got)
	}
}
