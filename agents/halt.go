package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator-cc/protocol"
)

// stopping is how long an interrupted program may take to come to rest.
const stopping = 5 * time.Second

// unmoved is how long it may show that it works on before the keys are pressed
// again.
const unmoved = 1500 * time.Millisecond

// halt interrupts whatever the agent does while no exchange is under way.
func (a *Agent) halt(ctx, caller context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(caller, func() { cancel(caller.Err()) })()
	t := &turn{Agent: a, began: time.Now(), life: time.Now(), timeout: a.opts.Timeout, limit: a.opts.HardLimit}
	s, v, err := t.see(ctx, 0)
	if err == nil && !a.eye.open {
		// At rest the key may well end the program, and over a person's text
		// it destroys that; without a turn of ours only visible work is stopped.
		if o, _ := a.judgeScreen(s, v, time.Now()); o != working {
			return nil
		}
	}
	if err == nil {
		err = t.stop(ctx)
	}
	if err = rested(err); err != nil {
		return fmt.Errorf("interrupt %s: %w", a.opts.Name, err)
	}
	return nil
}

// cut ends the turn because somebody interrupts it. Before anything of it was
// typed there is nothing to stop in the pane.
func (t *turn) cut(ctx context.Context, h halt) error {
	if !t.eye.open {
		h.done <- nil
		return failure(protocol.CodeCancelled, true, "it was cancelled before it was typed")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(h.ctx.Err()) })()
	err := t.stop(ctx)
	h.done <- err
	f := failure(protocol.CodeCancelled, err == nil, "its turn was interrupted")
	f.Partial = t.partial
	return f
}

// stop presses the interrupt keys and waits until the program rests.
func (t *turn) stop(ctx context.Context) error {
	keys := t.opts.Engine.Interrupt
	if len(keys) == 0 {
		return fmt.Errorf("engine %s has no interrupt key", t.opts.Engine.Name)
	}
	if err := t.pressEach(ctx, keys); err != nil {
		return rested(err)
	}
	// A still screen proves nothing before the program has had time to react.
	pressed, last := time.Now(), time.Now()
	for time.Since(pressed) < stopping {
		if err := t.attend(ctx, 2*hush); err != nil {
			return rested(err)
		}
		s, v, err := t.see(ctx, 0)
		if err != nil {
			return rested(err)
		}
		o, why := t.judgeScreen(s, v, time.Now())
		over := t.report != nil || time.Since(pressed) > 4*hush
		t.set(o, why, s)
		if o == died || o == ready && over {
			t.eye.open = false
			return nil
		}
		if v.busy && time.Since(last) > unmoved {
			if err := t.pressEach(ctx, keys); err != nil {
				return rested(err)
			}
			last = time.Now()
		}
	}
	return fmt.Errorf("it is not at rest %s after the interrupt", stopping)
}

// pressEach presses keys one after the other: in one write some programs take
// them for another key.
func (t *turn) pressEach(ctx context.Context, keys []string) error {
	for i, key := range keys {
		if i > 0 {
			if err := t.attend(ctx, t.opts.Tick); err != nil {
				return err
			}
		}
		if err := t.press(ctx, []string{key}); err != nil {
			return err
		}
	}
	return nil
}

// rested turns the news that a program has ended into success: it does nothing
// any more.
func rested(err error) error {
	var f *Failure
	if errors.As(err, &f) && f.Code == protocol.CodeAgentDied {
		return nil
	}
	return err
}

// giveUp ends a turn that has failed. The program is interrupted, so that it
// does not work on for nobody; once it rests another attempt is safe. A dialog
// is left alone: a key might answer it.
func (t *turn) giveUp(ctx context.Context, f *Failure) error {
	f.Partial = t.partial
	s, v, err := t.see(ctx, shallow)
	switch {
	case err != nil:
		return err
	case s.Dead:
		return t.buried(s)
	case v.dialog || len(t.opts.Engine.Interrupt) == 0:
		return f
	}
	s, r, err := t.deepen(ctx, s, t.locate(s))
	if err != nil {
		return err
	}
	f.Partial = r.reply(t.opts.Engine, t.base, t.marker, t.req.ID).text()
	f.Truncated = f.Partial != "" && t.cutOff(s, r)
	if err := t.stop(ctx); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.opts.Log.Warn().Err(err).Msg("turn could not be interrupted")
		return f
	}
	f.Again = true
	return f
}
