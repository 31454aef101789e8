package ledger

import (
	"testing"

	"orchestrator-cc/protocol"
)

func inSession(session string) func(*protocol.Accepted) {
	return func(a *protocol.Accepted) { a.Session = session }
}

// An agent is to forget before the work of another session: once, also after
// an attempt at it that typed nothing, and known again from a snapshot.
func TestOtherSessionsWorkIsToBeForgotten(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	for _, x := range []struct {
		session string
		forget  bool
	}{{"", false}, {"", false}, {"a", true}, {"a", false}, {"b", true}, {"", true}, {"a", true}} {
		o.ask(user, tester, "work", inSession(x.session))
		d := o.take(tester)
		if d.Forget != x.forget {
			t.Errorf("session %q: got forget %v, want %v", x.session, d.Forget, x.forget)
		}
		o.answer(d, "done\nTESTING OK")
	}
	// Claimed and not typed: the next attempt still has to forget.
	o.ask(user, tester, "work", inSession("c"))
	d := o.claim(tester)
	o.append(o.l.Fail(d, Failure{Code: protocol.CodeNotSubmitted, Reason: "no luck", Again: true}, o.now)...)
	saved, err := o.l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	o.l = New(o.rules)
	if err := o.l.Restore(saved); err != nil {
		t.Fatal(err)
	}
	o.now = o.now.Add(o.rules.Retry.MaxDelay)
	if d := o.take(tester); !d.Forget || d.Attempt != 2 {
		t.Errorf("second attempt: got %+v, want it to forget", d)
	}
}

// News for everyone neither begins nor ends a session, and a note of another
// session waits for the task at hand.
func TestNotesDoNotInterruptASession(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, boss, "work", inSession("a"))
	o.answer(o.take(boss), "@middle_manager: help\n"+bossDone)
	o.send(user, protocol.All, protocol.Info("for everyone"))
	news := o.take(boss)
	if news.Forget || news.Body != "for everyone" {
		t.Fatalf("got %+v, want the news, and nothing forgotten", news)
	}
	o.answer(news, "noted\n"+bossDone)
	o.send(user, boss, protocol.Info("for b"), inSession("b"))
	if d, ok := o.ready(boss); ok {
		t.Fatalf("got %+v, want it to wait for the task of the other session", d)
	}
	for d := o.take(manager); ; d = o.take(manager) {
		o.answer(d, "helped\nMIDDLE MANAGER OK")
		if d.Type == protocol.Request {
			break
		}
	}
	result := o.take(boss)
	if result.Forget || result.Type != protocol.Response {
		t.Fatalf("got %+v, want the result, and nothing forgotten", result)
	}
	o.answer(result, "all done\n"+bossDone)
	if d := o.take(boss); !d.Forget || d.Body != "for b" {
		t.Errorf("got %+v, want the other session's note after forgetting", d)
	}
}

// An agent forgets before a brief that begins a session's conversation, also
// where that is the owner's own; the work it was for follows, with nothing to
// forget.
func TestBriefBeginsASession(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, tester, "work", inSession("a"))
	o.answer(o.take(tester), "done\nTESTING OK")
	for _, session := range []string{"b", ""} {
		o.ask(user, tester, "work", inSession(session))
		o.send(protocol.Hub, tester, protocol.Info("your part"), func(a *protocol.Accepted) { a.Session, a.First, a.Anew = session, true, true })
		brief := o.take(tester)
		if !brief.Forget || !brief.First || brief.Session != session {
			t.Fatalf("session %q: got %+v, want the brief, and the other session forgotten before it", session, brief)
		}
		o.answer(brief, "noted\nTESTING OK")
		work := o.take(tester)
		if work.Forget || work.Session != session || work.Body == brief.Body {
			t.Errorf("session %q: got %+v, want its work, and nothing forgotten", session, work)
		}
		o.answer(work, "done\nTESTING OK")
	}
}
