package agents

import (
	"context"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

const (
	// tailStill is how long the screen must rest when text follows the token.
	tailStill = 500 * time.Millisecond
	// markerStill is how long it must rest when only the marker is there, as
	// the last line by itself; a marker inside the text may be a mere mention,
	// and one of an agent that otherwise repeats ids almost surely is.
	markerStill   = time.Second
	mentionStill  = 3 * time.Second
	reminderStill = 5 * time.Second
	// channelLead is how long a channel is waited for once the screen shows the
	// end: only it has the text as written. Some tell of a turn only then.
	channelLead = 2 * time.Second
	// channelLost is how long a channel that has taken the prompt must have
	// said nothing, on a still screen, to be given up.
	channelLost = 30 * time.Second
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
		began = time.Now()
	)
	for {
		if t.report != nil {
			return t.reported(ctx)
		}
		s, v, err := t.see(ctx, shallow)
		if err != nil {
			return Answer{}, err
		}
		if s.Dead {
			return t.exited(ctx, s)
		}
		if t.listen(); t.report != nil {
			continue // it came while the screen was being read
		}
		now := time.Now()
		seen := t.weigh(s, v, now)
		t.quiet = t.quiet && !t.printed()
		same := !since.IsZero() && seen.reply.text() == text
		if !same {
			text, since = seen.reply.text(), now
		}
		t.partial = text
		if err := t.seePart(ctx, s, seen); err != nil {
			return Answer{}, err
		}
		if seen.need >= 0 && now.Sub(since) >= seen.need && (t.quiet || same) {
			return t.collect(ctx, s, seen)
		}
		if f := t.walled(seen, v, now); f != nil {
			return Answer{}, f
		}
		if f := t.complained(seen, v, now); f != nil {
			return Answer{}, f
		}
		if err := t.progress(ctx, s, v, began); err != nil {
			return Answer{}, err
		}
		if err := t.attend(ctx, t.pause(seen, since, now)); err != nil {
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

// weigh reads the answer's region and says which witness, if any, speaks.
func (t *turn) weigh(s Screen, v view, now time.Time) sight {
	r := t.locate(s)
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
		out.evidence, out.need = ByMarker, t.patience(out.reply)
	}
	if out.need >= 0 && t.opts.Engine.Channel {
		out.need = max(out.need, t.lead(out.evidence))
	}
	return out
}

// lead is how long the channel is waited for. One that has taken the prompt
// will also tell of the end, and a marker alone is no match for that; neither is
// a token where it was the program that took it, which may be slow to tell.
func (t *turn) lead(evidence string) time.Duration {
	if t.accepted && (evidence == ByMarker || t.opts.Engine.Accepts) {
		return channelLost
	}
	return channelLead
}

func (t *turn) patience(r reply) time.Duration {
	switch {
	case t.eye.repeats:
		return reminderStill
	case r.alone():
		return markerStill
	}
	return mentionStill
}

// progress writes down the acceptance, keeps the state and watches the time.
func (t *turn) progress(ctx context.Context, s Screen, v view, began time.Time) error {
	now := time.Now()
	if !t.reached(protocol.Taken) {
		switch {
		case t.accepted, !t.told() && (t.seen || t.partial != "" || v.busy):
			if err := t.reach(protocol.Taken, t.witness()); err != nil {
				return err
			}
		case now.Sub(began) > t.opts.AckTimeout && !t.req.Evented:
			return t.giveUp(ctx, failure(protocol.CodeNotAccepted, false, "no sign that it took the prompt within %s of Enter", t.opts.AckTimeout))
		}
	}
	switch {
	case t.opts.Asks():
		t.life = now
		if !v.dialog {
			s = Screen{} // it says nothing about what is asked
		}
		t.set(asking, "it asks for a tool, see orchestrator-cc inbox", s)
	case v.dialog:
		t.life = now
		o, why := t.opts.Engine.obstacle(s, v)
		t.set(o, why, s)
	default:
		t.set(working, t.awaits(s, v, now), s)
	}
	if f := t.overdue(now); f != nil {
		return t.giveUp(ctx, f)
	}
	return nil
}

// told says that the channel is heard, and would tell that a prompt was taken.
// Then only it does: a program that comes back shows old prompts and answers.
func (t *turn) told() bool { return t.opts.Engine.Accepts && t.eye.spoke }

// collect reads the whole answer.
func (t *turn) collect(ctx context.Context, s Screen, seen sight) (Answer, error) {
	if err := t.reach(protocol.Taken, seen.evidence); err != nil {
		return Answer{}, err
	}
	s, r, err := t.deepen(ctx, s, seen.region)
	if err != nil {
		return Answer{}, err
	}
	t.eye.mute, t.eye.open, t.eye.answered = !t.seen, false, true
	t.eye.repeats = t.eye.repeats || seen.evidence == ByToken
	return Answer{
		Text: r.reply(t.opts.Engine, t.base, t.marker, t.req.ID).text(), Evidence: seen.evidence,
		Marked: true, Truncated: t.cutOff(s, r),
	}, nil
}

// deepen reads further and further up until the beginning of the answer is
// found, or there is nothing more.
func (t *turn) deepen(ctx context.Context, s Screen, r region) (Screen, region, error) {
	for history := shallow; t.deeper(s, r, history); {
		history *= 4
		var err error
		if s, _, err = t.see(ctx, history); err != nil {
			return s, r, err
		}
		r = t.locate(s)
	}
	return s, r, nil
}

func (t *turn) locate(s Screen) region {
	r := locate(s.Lines, t.ours, t.kept, t.marker)
	t.seen = t.seen || r.found
	return r
}

// deeper says that the answer may begin further up than was looked. What was
// on the screen before is a bound only for a program that is known to show no
// echo, because an answer may repeat an old one.
func (t *turn) deeper(s Screen, r region, history int) bool {
	known := r.found && r.sure || t.eye.mute && !t.seen && r.bounded
	return !known && !s.Alternate && s.HistorySize > history
}

// cutOff says that the beginning of the answer may no longer be there. Without
// an echo it is when the screen from before is in sight, or when the screen
// never was full; on the alternate screen a header proves nothing.
func (t *turn) cutOff(s Screen, r region) bool {
	switch {
	case r.found:
		return false
	case t.seen:
		return true
	case s.Alternate:
		return !r.close && !roomy(s, t.opts.Engine)
	}
	return !r.bounded && s.HistorySize > 0 && !roomy(s, t.opts.Engine)
}

// roomy says that the screen has an empty row between its text and its
// composer, so that nothing had to scroll.
func roomy(s Screen, e Engine) bool {
	end := len(s.Visible)
	if at := e.composer(s); at >= 0 {
		end = at
	}
	for i := end - 1; i >= 0; i-- {
		if strings.TrimSpace(s.Visible[i]) == "" {
			return true
		}
		if len(squeeze(s.Visible[i])) > 0 {
			break
		}
	}
	return false
}

// reported ends the turn by what the channel said.
func (t *turn) reported(ctx context.Context) (Answer, error) {
	if err := t.reach(protocol.Taken, ByChannel); err != nil {
		return Answer{}, err
	}
	t.eye.open = false
	switch t.report.Event {
	case protocol.ReportWall:
		return Answer{}, atWall(t.report.Text, t.report.Until)
	case protocol.ReportFailed:
		if err := t.drawn(ctx); err != nil {
			return Answer{}, err
		}
		if f := t.blocked(ctx); f != nil {
			return Answer{}, f
		}
		// The program says itself that the turn is over, so nothing goes on.
		return Answer{}, failure(protocol.CodeAgentFailed, !t.report.Final, "%s", t.report.Text+t.shownReason(ctx))
	}
	text := t.marker.withoutID(t.report.Text, t.req.ID)
	return Answer{Text: text, Evidence: ByChannel, Marked: t.marker.in(text)}, nil
}

// exited ends the turn of a program that has ended: with the answer, where it
// was complete, else with what there is of it.
func (t *turn) exited(ctx context.Context, s Screen) (Answer, error) {
	t.listen()
	if t.report != nil {
		t.set(died, exitReason(s), s)
		return t.reported(ctx)
	}
	e := t.opts.Engine
	if !e.Multiline {
		e.Composer = nil // what looks like a composer now is only text
	}
	s, r, err := t.deepen(ctx, s, t.locate(s))
	if err != nil {
		return Answer{}, err
	}
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
		f.Truncated = t.cutOff(s, r)
		return Answer{}, f
	}
	t.set(died, exitReason(s), s)
	if err := t.reach(protocol.Taken, evidence); err != nil {
		return Answer{}, err
	}
	return Answer{Text: t.partial, Evidence: evidence, Marked: true, Truncated: t.cutOff(s, r)}, nil
}

// buried is the end of a turn whose program ended without an answer.
func (t *turn) buried(s Screen) *Failure {
	f := failure(protocol.CodeAgentDied, true, "%s before it had answered", exitReason(s))
	f.Partial = t.partial
	t.set(died, exitReason(s), s)
	return f
}
