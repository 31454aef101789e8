package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// recordState writes the agent's state to the stream when it is another than
// the last one written. Idle and busy come and go with each exchange, whose
// steps are entries already, so only the states a person asks about are kept.
func (w *worker) recordState(ctx context.Context) {
	now := w.agent.Status()
	w.mu.Lock()
	same := w.recorded == now.State || now.State == protocol.Busy
	pid, restarts := w.pane.PID, w.restarts
	if now.State == protocol.Idle && !w.dead {
		w.death = death{} // this start went well
	}
	if !same {
		w.recorded = now.State
	}
	w.mu.Unlock()
	if same {
		return
	}
	change := protocol.AgentChange{Name: w.Name, State: now.State, Reason: now.Reason, PID: pid, Restarts: restarts}
	if err := w.book.append(ctx, protocol.Entry{Kind: protocol.KindAgent, Agent: &change}); err != nil && ctx.Err() == nil {
		w.log.Warn().Err(err).Msg("state not recorded")
	}
}

// askVersion asks the program for its version once it is not what its engine
// describes.
func (w *worker) askVersion(ctx context.Context) {
	if w.Version == nil || w.agent.Status().Drift == "" {
		return
	}
	w.mu.Lock()
	known := w.version != ""
	w.mu.Unlock()
	if known {
		return
	}
	version := w.Version(ctx)
	w.mu.Lock()
	w.version = version
	w.mu.Unlock()
	w.onChange(agents.Status{})
}

// status is the agent as a person sees it. It is called with the book's lock.
func (w *worker) status(l *ledger.Ledger, now time.Time) protocol.AgentStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := protocol.AgentStatus{
		Name: w.Name, Role: w.Role, Engine: w.EngineName, State: protocol.Starting,
		Pane: w.pane.ID, PID: w.pane.PID, Restarts: w.restarts, Queue: l.Queue(w.Name),
		TokensToday: l.Today(w.Name, now),
	}
	if w.agent != nil {
		seen := w.agent.Status()
		s.State, s.Reason, s.Since, s.LastActivity = seen.State, seen.Reason, seen.Since, seen.LastActivity
		s.Drift = seen.Drift
		if seen.Drift != "" && w.version != "" {
			s.Drift += " (" + w.version + ")"
			s.Reason = strings.Replace(s.Reason, seen.Drift, s.Drift, 1)
		}
	}
	if s.State == protocol.Degraded && w.Version != nil && w.version == "" {
		s.State, s.Reason = protocol.Starting, "" // it is called degraded together with its version, in a moment
	}
	switch {
	case w.dead:
		s.State, s.Reason = protocol.Dead, w.death.why+w.death.again
	case s.State == protocol.Starting && w.death.times >= hapless:
		s.Reason = w.death.why // it will hardly fare better this time
	}
	if waits := w.waits(); waits.Why != "" && s.State == protocol.Busy {
		s.State, s.Since, s.Until, s.Reason = protocol.Limited, waits.Since, waits.Until, waits.Why+"; it waits by itself"
		if !waits.Until.IsZero() {
			s.Reason += ", and goes on at " + clock(waits.Until)
		}
	}
	s.Task, _ = l.Working(w.Name)
	switch next := l.Waiting(w.Name); {
	case s.State != protocol.Idle:
	case w.current != nil:
		s.State = protocol.Busy
	case len(next) > 0 && !next[0].RetryAt.IsZero():
		s.Reason = fmt.Sprintf("attempt %d failed; tries again at %s", next[0].Attempt-1, next[0].RetryAt.Local().Format("15:04:05"))
	}
	switch wall, ok := l.Wall(w.Name, now); {
	case !ok:
	case s.State == protocol.Idle || s.State == protocol.Starting:
		s.State, s.Since, s.Until = protocol.Limited, wall.Since, wall.Until
		s.Reason = fmt.Sprintf("%s; goes on at %s", wall.Reason, clock(wall.Until))
	case s.State == protocol.Waiting:
		s.Until = wall.Until
		s.Reason += fmt.Sprintf("; its work goes on at %s, once that is done", clock(wall.Until))
	}
	if why, held := l.Held(w.Name, now); held && s.State == protocol.Idle {
		s.State, s.Reason = protocol.Paused, why
	}
	if l.Paused(w.Name) {
		s.State, s.Reason = protocol.Paused, "type: orchestrator-cc resume "+w.Name
	}
	return s
}

// waits is what the agent's program waits for by itself. It is called with the
// lock held.
func (w *worker) waits() agents.Waits {
	if w.agent == nil {
		return agents.Waits{}
	}
	return w.agent.Status().Waits
}

// clock is a moment as a person reads it: today's by its time alone.
func clock(at time.Time) string {
	at = at.Local()
	if at.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("Jan 2 15:04")
}

// asks says that a tool call of the agent waits for a person's word.
func (w *worker) asks() (yes bool) {
	w.book.read(func(l *ledger.Ledger) { yes = l.Asks(w.Name) })
	return yes
}

// screen is what a person has to decide on, while the agent waits for one, and
// by what it is known.
func (w *worker) screen() (text, dialog string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.agent == nil {
		return "", ""
	}
	now := w.agent.Status()
	return now.Screen, now.Dialog
}

// lastWords are those of a program that died, and whether it does so each time
// it is started.
func (w *worker) lastWords() (words string, often bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.death.words, w.death.times >= hapless
}

// item is what the inbox says of an agent, where there is something to do for
// a person.
func (w *worker) item(s protocol.AgentStatus) (protocol.InboxItem, bool) {
	kind := ""
	switch s.State {
	case protocol.Waiting:
		if w.asks() {
			break // what it asks stands in the inbox by itself
		}
		kind = protocol.InboxDialog
	case protocol.Limited:
		kind = protocol.InboxLimited
	case protocol.Degraded:
		kind = protocol.InboxDegraded
	case protocol.Dead, protocol.Starting:
		if words, often := w.lastWords(); often {
			return protocol.InboxItem{ID: w.Name, Kind: protocol.InboxDead, Agent: w.Name, Task: s.Task, Text: s.Reason, Since: s.Since, Screen: words}, true
		}
	}
	if kind == "" && s.Drift != "" {
		kind = protocol.InboxDegraded
	}
	screen, dialog := w.screen()
	return protocol.InboxItem{
		ID: w.Name, Kind: kind, Agent: w.Name, Task: s.Task,
		Text: s.Reason, Since: s.Since, Until: s.Until, Screen: screen, Dialog: dialog,
	}, kind != ""
}
