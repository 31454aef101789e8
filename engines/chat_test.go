package engines

import (
	"testing"

	"orchestrator-cc/agents"
	"orchestrator-cc/engines/modeltest"
)

// A chat with a local model is an agent like the others: its model gets the
// body and the brief, and its answer comes back as it was given.
func TestChat(t *testing.T) {
	t.Parallel()
	c := newCompany(t, chat(), func(c modeltest.Call) modeltest.Turn {
		return modeltest.Turn{Text: "聞きました: " + c.Prompt()}
	}, one())
	c.up()
	for _, body := range []string{"最初の質問", japanese("二番目の質問", 300, 20_000)} {
		if got, want := c.send(specialist, body), "聞きました: "+body+"\n"+marker; got != want {
			t.Errorf("got %.80q (%d bytes), want %.80q (%d bytes)", got, len(got), want, len(want))
		}
		if e := c.lastResult().Evidence; e != agents.ByChannel {
			t.Errorf("got evidence %q, want %q", e, agents.ByChannel)
		}
	}
	calls := c.model.Calls()
	last := calls[len(calls)-1]
	if markerIn(last) != marker || !last.Said("assistant", "聞きました: 最初の質問") {
		t.Errorf("got system text %.80q and %d parts, want the brief and the conversation", last.System, len(last.Turns))
	}
}

// A chat forgets one session before it works for another.
func TestChatForgetsSessions(t *testing.T) {
	t.Parallel()
	c := newCompany(t, chat(), func(c modeltest.Call) modeltest.Turn {
		return modeltest.Turn{Text: "聞きました: " + c.Prompt()}
	}, one())
	c.up()
	for _, x := range []struct {
		session, body string
		turns         int
	}{{"a", "甲の一。", 1}, {"a", "甲の二。", 3}, {"b", "乙の一。", 1}, {"a", "甲の三。", 1}} {
		if got, want := c.ask(x.session, x.body), "聞きました: "+x.body+"\n"+marker; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		calls := c.model.Calls()
		if got := calls[len(calls)-1]; len(got.Turns) != x.turns {
			t.Errorf("%s: got a conversation of %d parts, want %d: %+v", x.body, len(got.Turns), x.turns, got.Turns)
		}
	}
}

// A chat that is killed goes on with its conversation, and with none that it
// was made to forget.
func TestChatGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	p := chat()
	p.settings = "    settle: 1s\n" // between a prompt and its Enter, to be killed in
	c := newCompany(t, p, func(c modeltest.Call) modeltest.Turn {
		return modeltest.Turn{Text: "聞きました: " + c.Prompt()}
	}, one())
	c.up()
	c.ask("a", "甲の一。")
	c.killed()
	c.ask("a", "甲の二。")
	if last := c.lastCall(); len(last.Turns) != 3 || !last.Said("assistant", "聞きました: 甲の一。") {
		t.Errorf("after a crash: got a conversation of %+v, want it to go on", last.Turns)
	}
	before := c.note()
	task := c.submit("b", "乙の一。")
	c.wait("prompt of the other session in the pane", func() bool {
		now := c.note()
		return now != before && now != "forget"
	})
	c.killed()
	c.result(task, "乙の一。")
	if last := c.lastCall(); len(last.Turns) != 1 {
		t.Errorf("after a crash behind /clear: got a conversation of %+v, want nothing of the other session", last.Turns)
	}
}

// killed ends the agent's program and waits until it runs again.
func (c *company) killed() {
	c.t.Helper()
	before := c.status(specialist).Restarts
	c.kill(specialist)
	c.wait("restart", func() bool { return c.status(specialist).Restarts > before })
}

func (c *company) lastCall() modeltest.Call {
	calls := c.model.Calls()
	return calls[len(calls)-1]
}
