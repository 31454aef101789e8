package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// told appends what an agent's models took for an attempt.
func (o *office) told(agent, req, id string, tokens protocol.Tokens) {
	o.append(o.l.Spend(agent, []protocol.Report{{Event: protocol.ReportUsage, Req: req, Time: o.now, Usage: &protocol.Usage{ID: id, Model: "m1", Tokens: tokens}}}, o.now)...)
}

func limited(t TokenLimits) Rules {
	r := company()
	r.Limits.Tokens = t
	return r
}

func in(n int64) protocol.Tokens { return protocol.Tokens{Input: n} }

func (o *office) wantReady(agent string, want bool) {
	o.t.Helper()
	if d, got := o.ready(agent); got != want {
		o.t.Errorf("%s: got ready %t (%s), want %t", agent, got, d.Body, want)
	}
}

// wantInbox checks what asks for tokens, by id.
func (o *office) wantInbox(want ...string) {
	o.t.Helper()
	var got []string
	for _, item := range o.l.Inbox(o.now) {
		if item.Kind == protocol.InboxTokens {
			got = append(got, item.ID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		o.t.Errorf("inbox (-want +got):\n%s", diff)
	}
}

func TestTokensAreCounted(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	first := protocol.Tokens{Input: 100, Output: 20, Cached: 7, Cost: 0.5}
	o.told(manager, d.Req, "a", first)
	o.told(manager, d.Req, "a", first)
	o.answer(d, "@"+coder+": y")
	o.now = o.now.Add(24 * time.Hour)
	k := o.take(coder)
	o.told(coder, k.Req, "a", in(1000)) // another program may use the same id
	o.answer(k, "done")
	o.told(coder, k.Req, "late", in(1)) // the turn is over
	o.told(coder, "", "b", in(50))      // a person's own chat
	o.answer(o.take(manager), "done")

	task := o.task(root)
	if diff := cmp.Diff(&first, task.Tokens); diff != "" {
		t.Errorf("hop (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&protocol.Tokens{Input: 1101, Output: 20, Cached: 7, Cost: 0.5}, task.TreeTokens); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&protocol.Tokens{Input: 1051}, o.l.Today(coder, o.now)); diff != "" {
		t.Errorf("today (-want +got):\n%s", diff)
	}
	if got := o.l.Today(manager, o.now); got != nil {
		t.Errorf("got %+v of the manager today, want nothing", got)
	}
	stats := o.l.Metrics().Tokens
	if got := stats.Total.Spent(); got != 1171 {
		t.Errorf("got %d in all, want 1171", got)
	}
	if len(stats.ByDay) != 2 || stats.ByDay[0].Day != "2026-02-02" || stats.ByDay[0].Total.Input != 1051 || stats.ByDay[1].ByAgent[manager] != first {
		t.Errorf("got days %+v, want both", stats.ByDay)
	}
	if diff := cmp.Diff(map[string]protocol.Tokens{"m1": stats.Total}, stats.ByModel); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	closing := o.entries[task.ResultSeq-1].Message.Closing
	if diff := cmp.Diff(&first, closing.Tokens); diff != "" {
		t.Errorf("closing (-want +got):\n%s", diff)
	}
	o.wantSound()
}

func TestUsageThatDoesNotCount(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.told(coder, "", "a", in(1))
	o.told(coder, "", "", in(1))
	o.told(coder, "", "negative", in(-1))
	old := []protocol.Report{{Usage: &protocol.Usage{ID: "old", Tokens: in(1)}, Time: o.now.Add(-31 * 24 * time.Hour)}}
	if got := o.l.Spend(coder, old, o.now); len(got) != 0 {
		t.Errorf("got %+v, want what is too old to be told apart left out", got)
	}
	future := []protocol.Report{{Usage: &protocol.Usage{ID: "f", Tokens: in(1)}, Time: o.now.Add(time.Hour)}}
	if got := o.l.Spend(coder, future, o.now); len(got) != 1 || !got[0].Usage.At.Equal(o.now) {
		t.Errorf("got %+v, want what is not yet to count now", got)
	}
	if got := o.l.Metrics().Tokens.Total.Input; got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	again := o.entries[0]
	o.append(again)
	if got := o.l.Metrics().Tokens.Total.Input; got != 1 || o.l.Anomalies() != 1 {
		t.Errorf("got %d with %d anomalies, want an entry that comes twice ignored", got, o.l.Anomalies())
	}
}

func TestTaskLimit(t *testing.T) {
	t.Parallel()
	o := newOffice(t, limited(TokenLimits{Task: 100}))
	dear := o.ask(user, manager, "dear")
	d := o.take(manager)
	o.told(manager, d.Req, "a", in(99))
	o.answer(d, "@"+coder+": y\n@"+analyst+": z")
	o.wantReady(analyst, true)
	k := o.take(coder)
	o.told(coder, k.Req, "b", in(300)) // the running turn is let finish
	o.answer(k, "done")
	cheap := o.ask(user, analyst, "cheap", urgent(protocol.Low))
	if d := o.take(analyst); d.Task != cheap {
		t.Errorf("got %s delivered, want what does not belong to the tree", d.Task)
	} else {
		o.answer(d, "done")
	}
	o.wantReady(analyst, false)
	o.wantInbox(dear)
	if got := o.task(dear).Reason; !strings.Contains(got, "399 tokens of 100") {
		t.Errorf("got reason %q, want the figures", got)
	}
	if _, err := o.offer(manager, manager, &protocol.ControlPayload{Command: protocol.Resume, Params: encode(orderParams{Task: dear})}); protocol.CodeOf(err) != protocol.CodeForbidden {
		t.Errorf("an agent gives itself more: got %v, want %s", err, protocol.CodeForbidden)
	}
	o.order(protocol.Resume, manager, orderParams{Task: dear[:36]})
	o.wantInbox()
	d = o.take(analyst)
	o.told(analyst, d.Req, "c", in(100)) // as much again
	o.answer(d, "done")
	o.wantReady(manager, false)
	o.wantInbox(dear)
	o.wantSound()
	o.order(protocol.Cancel, manager, orderParams{Task: dear})
	o.settle()
	o.wantState(dear, protocol.TaskCancelled)
	o.wantInbox()
	if _, err := o.offer(user, manager, &protocol.ControlPayload{Command: protocol.Resume, Params: encode(orderParams{Task: dear})}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("resume of what is over: got %v, want %s", err, protocol.CodeConflict)
	}
}

func TestAgentLimit(t *testing.T) {
	t.Parallel()
	r := limited(TokenLimits{Agent: 100})
	r.Agents[3].Tokens = 500
	o := newOffice(t, r)
	for i, agent := range []string{coder, analyst} {
		o.ask(user, agent, "x")
		d := o.take(agent)
		o.told(agent, d.Req, fmt.Sprint(i), in(120))
		o.answer(d, "done")
		o.ask(user, agent, "y")
	}
	o.wantReady(coder, false)
	o.wantReady(analyst, true)
	o.wantInbox("tokens-of-" + coder)
	if got, held := o.l.Held(coder, o.now); !held || !strings.Contains(got, "120 tokens of 100") || !strings.Contains(got, "resume "+coder) {
		t.Errorf("got %q, %t, want the figures and the cure", got, held)
	}
	o.now = o.now.Add(48 * time.Hour) // no day lifts it
	o.wantReady(coder, false)
	o.send(boss, coder, &protocol.ControlPayload{Command: protocol.Resume})
	o.wantReady(coder, false)
	o.order(protocol.Resume, coder, orderParams{})
	o.wantReady(coder, true)
	o.wantInbox()
	o.told(coder, "", "chat", in(99))
	o.wantReady(coder, true)
	o.told(coder, "", "more", in(1))
	o.wantReady(coder, false)
	o.wantSound()
}

func TestDayLimit(t *testing.T) {
	t.Parallel()
	o := newOffice(t, limited(TokenLimits{Day: 100}))
	o.told(coder, "", "a", in(60))
	o.told(tester, "", "b", in(60))
	o.ask(user, analyst, "x")
	o.ask(user, boss, "y")
	o.wantReady(analyst, false)
	o.wantInbox(TokensToday)
	midnight := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	if got := o.l.Next(o.now).Wake; !got.Equal(midnight) {
		t.Errorf("got the next look at %s, want %s", got, midnight)
	}
	o.order(protocol.Resume, boss, orderParams{Tokens: TokensToday})
	o.wantInbox()
	o.wantReady(analyst, true)
	o.told(coder, "", "c", in(100))
	o.wantReady(analyst, false)
	o.wantSound()
	o.now = midnight
	o.wantInbox()
	o.wantReady(analyst, true)
	o.told(coder, "", "d", in(100))
	o.wantReady(boss, false)
	o.order(protocol.Resume, analyst, orderParams{}) // the agent is held by the day alone
	o.wantReady(boss, true)
	if _, err := o.offer(user, boss, &protocol.ControlPayload{Command: protocol.Resume, Params: encode(orderParams{Tokens: "tokens-x"})}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("got %v, want %s", err, protocol.CodeInvalid)
	}
	o.wantSound()
}

// What is counted, held and allowed is the same after a crash at any entry.
func TestTokensSurviveAnyCut(t *testing.T) {
	t.Parallel()
	o := newOffice(t, limited(TokenLimits{Task: 100, Agent: 150, Day: 250}))
	root := o.ask(user, manager, "x")
	d := o.take(manager)
	o.told(manager, d.Req, "a", in(120))
	o.answer(d, "@"+coder+": y")
	o.order(protocol.Resume, manager, orderParams{Task: root})
	k := o.take(coder)
	o.told(coder, k.Req, "b", in(160))
	o.order(protocol.Resume, coder, orderParams{})
	o.order(protocol.Resume, coder, orderParams{Tokens: TokensToday})
	o.answer(k, "done")
	want := snapshot(t, o.l)
	for cut := range o.entries {
		l := New(o.rules)
		for _, e := range o.entries[:cut] {
			l.Apply(e)
		}
		again := New(o.rules)
		if err := again.Restore([]byte(snapshot(t, l))); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.Inbox(o.now), again.Inbox(o.now)); diff != "" {
			t.Fatalf("inbox at %d (-applied +restored):\n%s", cut, diff)
		}
		for _, e := range o.entries[cut:] {
			again.Apply(e)
		}
		if diff := cmp.Diff(want, snapshot(t, again)); diff != "" {
			t.Fatalf("cut at %d (-whole +restored):\n%s", cut, diff)
		}
	}
	o.wantSound()
}

// Days and the ids counted on them are forgotten with the tasks; what an agent
// took in all is not.
func TestForgettingOldDays(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	for i := range 40 {
		o.told(coder, "", fmt.Sprint(i), in(1))
		o.now = o.now.Add(24 * time.Hour)
	}
	stats := o.l.Metrics().Tokens
	if len(stats.ByDay) != int(keptDays) || len(o.l.purse.counted) != int(keptDays) || stats.Total.Input != 40 {
		t.Errorf("got %d days, %d ids, %d tokens, want %d, %d, 40", len(stats.ByDay), len(o.l.purse.counted), stats.Total.Input, keptDays, keptDays)
	}
	o.wantSound()
}
