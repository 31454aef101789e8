package agents

import (
	"context"
	"time"

	"orchestrator-cc/protocol"
)

// unheard is how long a program that is at rest again may still tell of the
// end of its turn. A hook takes its time on a busy machine; a turn that was
// interrupted may end without a word.
const unheard = 10 * time.Second

// follow waits for the end of a turn that a person began at the pane. Only the
// channel can tell it: nothing of the prompt on the screen is ours.
//
//	the channel has the answer, or why there is none -> so it ends
//	the program has ended                            -> so does the turn
//	the program rests and says nothing               -> it was interrupted
func (t *turn) follow(ctx context.Context) (Answer, error) {
	if err := t.recall(); err != nil {
		return Answer{}, err
	}
	if t.req.Resume != "" {
		t.recorded = t.req.Resume
	}
	t.eye.open, t.timeout = true, t.limit // a person watches over it
	if err := t.reach(protocol.Taken, ByChannel); err != nil {
		return Answer{}, err
	}
	for rests := time.Now(); ; {
		if t.listen(); t.report != nil {
			answer, err := t.reported(ctx)
			return answer, asBegun(err)
		}
		s, v, err := t.see(ctx, 0)
		if err != nil {
			return Answer{}, asBegun(err)
		}
		now := time.Now()
		o, why := t.judgeScreen(s, v, now)
		switch {
		case o == died:
			if t.listen(); t.report == nil {
				return Answer{}, asBegun(t.buried(s))
			}
			continue
		case !v.ready || v.dialog || o == working:
			rests = now
		case now.Sub(rests) > unheard:
			t.eye.open, t.eye.busy = false, false
			return Answer{}, failure(protocol.CodeCancelled, false, "its turn ended without an answer")
		}
		if o == working {
			why = t.awaits(s, v, now)
		}
		t.set(o, why, s)
		if f := t.overdue(now); f != nil {
			if err := t.stop(ctx); err != nil && ctx.Err() != nil {
				return Answer{}, context.Cause(ctx)
			}
			return Answer{}, asBegun(f)
		}
		if err := t.attend(ctx, t.opts.Tick); err != nil {
			return Answer{}, asBegun(err)
		}
	}
}

// asBegun keeps what a person typed from being typed again by itself: whoever
// typed it saw how it ended.
func asBegun(err error) error {
	if f, ok := err.(*Failure); ok {
		f.Again = false
	}
	return err
}
