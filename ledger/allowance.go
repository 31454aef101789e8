package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"orchestrator-cc/protocol"
)

// Allowances: what has used its tokens is held until a person gives it as many
// again. A running turn is let finish, so that nothing paid for is lost.
//
//	a tree    none of its messages is delivered; others pass by it
//	an agent  it gets nothing more
//	a day     nobody gets anything more before midnight UTC
const (
	// TokensToday names what the company may take in a day, where people
	// decide about it, and tokensOf what an agent may.
	TokensToday = "tokens-today"
	tokensOf    = "tokens-of-"
)

func (l *Ledger) overTask(n *node) bool {
	limit := l.rules.Limits.Tokens.Task
	return limit > 0 && n.root.Spent-n.root.Granted >= limit
}

func (s *seat) over() bool { return s.tokens > 0 && s.used.Spent()-s.granted >= s.tokens }

func (l *Ledger) overDay(now int64) bool {
	limit := l.rules.Limits.Tokens.Day
	return limit > 0 && l.spentToday(now)-l.grantedToday(now) >= limit
}

func (l *Ledger) spentToday(now int64) int64 {
	total := l.purse.total(dayOf(now))
	return total.Spent()
}

func (l *Ledger) grantedToday(now int64) int64 {
	if l.purse.grantedDay != dayOf(now) {
		return 0
	}
	return l.purse.granted
}

// letGoOn lifts what holds an agent, one thing at a time: an order to pause or
// a wall, then the agent's own limit, then the company's. Limits are a person's
// to lift.
func (l *Ledger) letGoOn(s *seat, byPerson bool, now int64) {
	switch {
	case s.paused || s.stopped || s.wall.Until > now:
		s.paused, s.stopped, s.wall.Until = false, false, 0
	case !byPerson:
	case s.over():
		s.granted = s.used.Spent()
	case l.overDay(now):
		l.grantDay(now)
	}
}

func (l *Ledger) grantDay(now int64) {
	l.purse.grantedDay, l.purse.granted = dayOf(now), l.spentToday(now)
}

// applyAllowance lets a tree or the company go on. One that is not held is let
// be: it keeps what is left of its allowance.
func (l *Ledger) applyAllowance(e protocol.Entry, o orderParams) bool {
	if o.Tokens == TokensToday {
		if l.overDay(nanos(e.Time)) {
			l.grantDay(nanos(e.Time))
		}
		return true
	}
	n := l.nodes[o.Task]
	if n == nil {
		return false
	}
	if l.overTask(n) {
		n.root.Granted = n.root.Spent
	}
	return true
}

// admitToday checks that the company is held.
func (l *Ledger) admitToday(o orderParams, now int64) error {
	switch {
	case o.Tokens != TokensToday:
		return protocol.Invalid("payload.params.tokens", "is %q; write %s", o.Tokens, TokensToday)
	case !l.overDay(now):
		return protocol.Faultf(protocol.CodeConflict, "today's tokens are not used up; there is nothing to let go on")
	}
	return nil
}

// Held says why an agent gets nothing, where a limit on tokens is the reason.
func (l *Ledger) Held(agent string, now time.Time) (reason string, held bool) {
	s, at := l.seats[agent], nanos(now)
	switch {
	case s == nil:
		return "", false
	case s.over():
		return fmt.Sprintf("%s; type: orchestrator-cc resume %s", s.bill(), s.name), true
	case l.overDay(at):
		return fmt.Sprintf("%s; it goes on at midnight UTC, or type: orchestrator-cc approve %s", l.dayBill(at), TokensToday), true
	}
	return "", false
}

func used(what string, spent, granted, limit int64) string {
	text := fmt.Sprintf("%s took %s tokens of %s", what, protocol.Figure(spent-granted), protocol.Figure(limit))
	if granted > 0 {
		text += fmt.Sprintf(", %s in all", protocol.Figure(spent))
	}
	return text
}

func (s *seat) bill() string { return used("the agent", s.used.Spent(), s.granted, s.tokens) }

func (l *Ledger) dayBill(now int64) string {
	return used("today the company", l.spentToday(now), l.grantedToday(now), l.rules.Limits.Tokens.Day)
}

func (l *Ledger) taskBill(n *node) string {
	return used("the task", n.root.Spent, n.root.Granted, l.rules.Limits.Tokens.Task)
}

// spentInbox lists what is held by its tokens.
func (l *Ledger) spentInbox(now time.Time) []protocol.InboxItem {
	var out []protocol.InboxItem
	for _, n := range l.roots {
		if n.open() && n.Doom == nil && l.overTask(n) {
			out = append(out, protocol.InboxItem{ID: n.ID, Kind: protocol.InboxTokens, Agent: n.seat.name, Task: n.ID, Text: l.taskBill(n), Since: moment(n.Updated)})
		}
	}
	at, last := nanos(now), int64(0)
	for _, s := range l.order {
		last = max(last, s.usedAt)
		if s.known && s.over() {
			out = append(out, protocol.InboxItem{ID: tokensOf + s.name, Kind: protocol.InboxTokens, Agent: s.name, Text: s.bill(), Since: moment(s.usedAt)})
		}
	}
	if l.overDay(at) {
		out = append(out, protocol.InboxItem{ID: TokensToday, Kind: protocol.InboxTokens, Agent: protocol.All, Text: l.dayBill(at), Since: moment(last)})
	}
	return out
}

// Today is what an agent's models took since midnight UTC, nil for nothing.
func (l *Ledger) Today(agent string, now time.Time) *protocol.Tokens {
	return some(l.purse.days[dayOf(nanos(now))][agent])
}

// some is nil for nothing, which is then not shown.
func some(t protocol.Tokens) *protocol.Tokens {
	if t == (protocol.Tokens{}) {
		return nil
	}
	return &t
}

// treeTokens is what a task took with all its delegates.
func (n *node) treeTokens() protocol.Tokens {
	sum := n.Used
	for _, k := range n.kids {
		sum = sum.Plus(k.treeTokens())
	}
	return sum
}

// tokenStats is what all models took; tasks are added by whoever knows which
// of them the reader may see.
func (l *Ledger) tokenStats() protocol.TokenStats {
	out := protocol.TokenStats{ByAgent: map[string]protocol.Tokens{}, ByModel: maps.Clone(l.purse.models), ByDay: []protocol.DayTokens{}, ByTask: []protocol.TaskTokens{}}
	for _, s := range l.order {
		if some(s.used) != nil {
			out.ByAgent[s.name] = s.used
			out.Total = out.Total.Plus(s.used)
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(l.purse.days), func(a, b int64) int { return cmp.Compare(b, a) }) {
		out.ByDay = append(out.ByDay, protocol.DayTokens{
			Day: moment(d * int64(day)).Format(time.DateOnly), Total: l.purse.total(d), ByAgent: maps.Clone(l.purse.days[d]),
		})
	}
	return out
}
