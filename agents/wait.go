package agents

import (
	"context"
	"time"

	"orchestrator-cc/protocol"
)

const (
	// tailStill is how long the screen must rest when text follows the token.
	tailStill = 500 * time.Millisecond
	// markerStill is how long it must rest when only the marker is there.
	markerStill = time.Second
	never       = time.Duration(-1)
)

// sight is what one look says about the answer.
type sight struct {
	region   region
	reply    reply
	evidence string
	need     time.Duration // how long the reply must have rested; never: it is not complete
}

// await waits for a witness that the answer is complete, and reads it.
func (t *turn) await(ctx context.Context) (Answer, error) {
	var (
		text  string    // of the reply at the last look
		since time.Time // since when it is this text
		quiet bool
		began = time.Now()
	)
	for {
		if t.report != nil {
			return t.reported()
		}
		s, v, err := t.see(ctx, shallow)
		if err != nil {
			return Answer{}, err
		}
		if s.Dead {
			return t.exited(s)
		}
		now := time.Now()
		seen := t.weigh(s, v, now)
		if t.printed() {
			quiet = false
		}
		same := !since.IsZero() && seen.reply.text() == text
		if !same {
			text, since = seen.reply.text(), now
		}
		t.partial = text
		if seen.need >= 0 && now.Sub(since) >= seen.need && (quiet || same) {
			return t.collect(ctx, s, seen)
		}
		if err := t.progress(ctx, s, v, began); err != nil {
			return Answer{}, err
		}
		if quiet, err = t.attend(ctx, t.pause(seen, since, now)); err != nil {
			return Answer{}, err
		}
	}
}

// pause is when to look again if nothing wakes us.
func (t *turn) pause(seen sight, since, now time.Time) time.Duration {
	if seen.need < 0 {
		return t.opts.Tick
	}
	return min(t.opts.Tick, max(hush, seen.need-now.Sub(since)))
}

// printed says that the pane printed something while it was being looked at.
func (t *turn) printed() bool {
	select {
	case <-t.term.Output():
		t.eye.output = time.Now()
		return true
	default:
		return false
	}
}

// weigh reads the answer's region and says which witness, if any, speaks.
func (t *turn) weigh(s Screen, v view, now time.Time) sight {
	r := locate(s.Lines, t.ours, t.base, t.marker)
	t.seen = t.seen || r.found
	out := sight{region: r, reply: r.reply(t.opts.Engine, t.base, t.marker, t.req.ID), need: never}
	if v.busy && t.eye.stillFor(now) < alive {
		return out
	}
	waits := (t.before.ready || len(t.opts.Engine.Ready) > 0) && !v.ready
	switch {
	case len(out.reply.own) == 0:
	case out.reply.token && !out.reply.tail:
		out.evidence, out.need = ByToken, 0
	case waits: // the program has not come back to its composer
	case out.reply.token:
		out.evidence, out.need = ByToken, tailStill
	default:
		out.evidence, out.need = ByMarker, markerStill
	}
	return out
}

// progress writes down the acceptance, keeps the state and watches the time.
func (t *turn) progress(ctx context.Context, s Screen, v view, began time.Time) error {
	now := time.Now()
	if order[t.recorded] < order[protocol.Taken] {
		switch {
		case t.accepted, t.seen, t.partial != "", v.busy:
			if err := t.reach(protocol.Taken, t.witness()); err != nil {
				return err
			}
		case now.Sub(began) > t.opts.AckTimeout && !t.req.Evented:
			return t.giveUp(ctx, failure(protocol.CodeNotAccepted, false, "no sign that it took the prompt within %s of Enter", t.opts.AckTimeout))
		}
	}
	if v.dialog {
		t.life = now
		t.set(asking, "a dialog waits for an answer", s)
	} else {
		t.set(working, "", s)
	}
	if f := t.overdue(now); f != nil {
		return t.giveUp(ctx, f)
	}
	return nil
}

// collect reads the whole answer: further and further up until its beginning
// is found, or there is nothing more.
func (t *turn) collect(ctx context.Context, s Screen, seen sight) (Answer, error) {
	if err := t.reach(protocol.Taken, seen.evidence); err != nil {
		return Answer{}, err
	}
	for history := shallow; !seen.region.found && !s.Alternate && s.HistorySize > history; {
		if !t.seen && seen.region.bounds && len(t.base) > 0 {
			break // no echo, but the screen from before is in sight
		}
		history *= 4
		deeper, _, err := t.see(ctx, history)
		if err != nil {
			return Answer{}, err
		}
		s, seen.region = deeper, locate(deeper.Lines, t.ours, t.base, t.marker)
		seen.reply = seen.region.reply(t.opts.Engine, t.base, t.marker, t.req.ID)
		t.seen = t.seen || seen.region.found
	}
	return Answer{
		Text: seen.reply.text(), Evidence: seen.evidence, Marked: true,
		Truncated: t.cutOff(seen.region),
	}, nil
}

// cutOff says that the beginning of the answer is no longer there: the echo was
// seen and is gone, or nothing of the screen from before is left.
func (t *turn) cutOff(r region) bool { return !r.found && (t.seen || !r.bounds) }

// reported ends the turn by what the channel said.
func (t *turn) reported() (Answer, error) {
	if err := t.reach(protocol.Taken, ByChannel); err != nil {
		return Answer{}, err
	}
	if t.report.Event == protocol.ReportFailed {
		// The program says itself that the turn is over, so nothing goes on.
		return Answer{}, failure(protocol.CodeAgentFailed, true, "%s", t.report.Text)
	}
	text := t.marker.withoutID(t.report.Text, t.req.ID)
	return Answer{Text: text, Evidence: ByChannel, Marked: t.marker.in(text)}, nil
}

// exited ends the turn of a program that has ended: with the answer, where it
// was complete, else with what there is of it.
func (t *turn) exited(s Screen) (Answer, error) {
	t.listen()
	if t.report != nil {
		t.set(died, exitReason(s), s)
		return t.reported()
	}
	e := t.opts.Engine
	e.Composer = nil // what looks like a composer now is only text
	r := locate(s.Lines, t.ours, t.base, t.marker)
	t.seen = t.seen || r.found
	reply := r.reply(e, t.base, t.marker, t.req.ID)
	evidence := ""
	switch {
	case reply.token:
		evidence = ByToken
	case len(reply.own) > 0 && s.ExitStatus == 0 && s.ExitSignal == 0:
		evidence = ByExit
	}
	t.partial = reply.text()
	if evidence == "" {
		f := t.buried(s)
		f.Truncated = t.cutOff(r)
		return Answer{}, f
	}
	t.set(died, exitReason(s), s)
	if err := t.reach(protocol.Taken, evidence); err != nil {
		return Answer{}, err
	}
	return Answer{Text: t.partial, Evidence: evidence, Marked: true, Truncated: t.cutOff(r)}, nil
}

// buried is the end of a turn whose program ended without an answer.
func (t *turn) buried(s Screen) *Failure {
	f := failure(protocol.CodeAgentDied, true, "%s before it had answered", exitReason(s))
	f.Partial = t.partial
	t.set(died, exitReason(s), s)
	return f
}
