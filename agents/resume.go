package agents

import (
	"context"
	"time"

	"orchestrator-cc/protocol"
)

// resumeDepth is how far up a resumed attempt is searched: its answer may have
// been given, and scrolled, while nobody looked.
const resumeDepth = 5000

// resume finds out how far a dead hub's attempt got, and goes on from there
// without typing it again.
//
//	the channel has a report            -> the turn goes on, or is over
//	the pane's note is another          -> not typed, or its process has died since
//	the composer holds the prompt       -> Enter
//	its echo, its token or work is seen -> submitted, wait
//	none of these                       -> a person must decide
func (t *turn) resume(ctx context.Context) error {
	if err := t.recall(); err != nil {
		return err
	}
	t.recorded, t.eye.open = t.req.Resume, true
	if t.report != nil {
		return nil
	}
	s, v, err := t.see(ctx, resumeDepth)
	if err != nil {
		return err
	}
	if s.Note != t.req.ID {
		if t.req.Resume == protocol.Claimed {
			return failure(protocol.CodeNoHub, true, "the hub ended before the prompt was typed")
		}
		return failure(protocol.CodeAgentDied, true, "its program was started again after the prompt was typed")
	}
	if err := t.reach(protocol.Typed, "note"); err != nil {
		return err
	}
	if t.reached(protocol.Submitted) || t.accepted || s.Dead {
		return nil
	}
	return t.goOn(ctx, s, v)
}

// recall reads the spool from its beginning for this attempt alone.
func (t *turn) recall() error {
	all := spool{path: t.opts.Spool}
	for last := int64(-1); all.offset != last; {
		last = all.offset
		reports, err := all.news()
		if err != nil {
			return err
		}
		for _, r := range reports {
			if r.Req == t.req.ID {
				t.note(r)
			}
		}
	}
	return nil
}

// goOn continues an attempt that was typed, when it is not known whether Enter
// was pressed. The program may still be taking in the paste, so a screen that
// shows nothing yet is given a moment.
func (t *turn) goOn(ctx context.Context, s Screen, v view) error {
	for end := time.Now().Add(mostSettle); ; {
		r := locate(s.Lines, t.ours, nil, t.marker)
		reply := r.reply(t.opts.Engine, nil, t.marker, t.req.ID)
		switch {
		case t.accepted, reply.token, v.busy:
			return t.reach(protocol.Submitted, t.witness())
		case t.composing(s, v):
			return t.submit(ctx)
		case r.found:
			return t.reach(protocol.Submitted, byScreen)
		case s.Dead:
			return nil
		case time.Now().After(end):
			return failure(protocol.CodeUndecidable, false,
				"the prompt was typed, but the screen does not show whether it was submitted; look at the pane: orchestrator-cc attach %s", t.opts.Name)
		}
		err := t.attend(ctx, min(t.opts.Tick, restful)/2)
		if err == nil {
			s, v, err = t.see(ctx, resumeDepth)
		}
		if err != nil {
			return err
		}
	}
}

// composing says that the prompt stands in the composer now, unsubmitted.
func (t *turn) composing(s Screen, v view) bool {
	tag := t.tagRow(s)
	if len(t.opts.Engine.Composer) == 0 {
		// Without a known composer the cursor tells: it stands behind what was
		// typed until Enter is pressed.
		return tag >= 0 && s.CursorY == lastText(s.Visible) && s.CursorY >= tag && t.ours.ends(lastLine(s.Lines))
	}
	if v.composer < 0 {
		return false
	}
	if tag >= 0 {
		return tag >= v.composer
	}
	return folded(s.Visible[v.composer])
}
