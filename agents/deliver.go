package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// ready waits until the agent would take a prompt. A person who is in the way
// is waited for up to the hard limit, an agent that shows no life up to the
// timeout; nothing has been typed by then, so another attempt is free to try.
func (t *turn) ready(ctx context.Context) error {
	for {
		t.listen()
		s, v, err := t.see(ctx, shallow)
		if err != nil {
			return untyped(err)
		}
		now := time.Now()
		o, why := t.judgeScreen(s, v, now)
		if o == ready && handled(s, now) {
			o, why = occupied, "somebody is typing in the pane"
		}
		switch o {
		case ready:
			t.seenAt, t.before, t.base, t.kept = s, v, s.Lines, stable(s.Lines, t.opts.Engine)
			t.set(working, "", s)
			return nil
		case died:
			t.set(died, why, s)
			return failure(protocol.CodeAgentDied, true, "%s", why)
		case asking, occupied:
			if t.leftover(s, v) {
				if err := t.forget(ctx); err != nil {
					return err
				}
				continue
			}
			t.life = now
		}
		if now.Before(t.startBy) {
			t.life = now
		}
		t.set(o, why, s)
		if f := t.overdue(now); f != nil {
			return failure(protocol.CodeNotSubmitted, true, "it was not ready for a prompt: %s", f.Reason)
		}
		// A still screen may be what is waited for, and nothing wakes us then.
		if err := t.attend(ctx, min(t.opts.Tick, restful)/2); err != nil {
			return untyped(err)
		}
	}
}

// handsOff is how long after a person's last key the pane is left alone. The
// key is known by its second, so it is one to two seconds.
const handsOff = 2 * time.Second

// handled says that a person has just pressed a key in the pane. Whoever has
// begun to type shows nothing in the composer yet, but is not to be met there.
func handled(s Screen, now time.Time) bool {
	return s.Clients > 0 && s.Touched > 0 && now.Sub(time.Unix(s.Touched, 0)) < handsOff
}

// untyped marks a failure that came before anything was typed.
func untyped(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		f.Again = true
	}
	return err
}

// paste types the prompt. When the terminal cannot say whether it did, the
// pane's note does: it is set in the same step.
func (t *turn) paste(ctx context.Context) error {
	t.eye.open = true
	err := t.term.Paste(ctx, t.seenAt, t.req.ID, t.ours.parts...)
	switch {
	case errors.Is(err, ErrMoved):
		t.eye.open = false
		return err
	case err == nil:
		return t.reach(protocol.Typed, "")
	case errors.Is(err, ErrRefused):
		t.eye.open = false
		return failure(protocol.CodeNotSubmitted, true, "its pane refused the prompt: %v", err)
	case errors.Is(err, ErrGone):
		return t.lost(err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	s, _, lookErr := t.see(ctx, 0)
	switch {
	case lookErr != nil:
		return lookErr
	case s.Note == t.req.ID:
		return t.reach(protocol.Typed, "")
	}
	t.eye.open = false
	return failure(protocol.CodeNotSubmitted, true, "the prompt was not typed: %v", err)
}

const (
	// presses bounds how often Enter is tried. Together with the growing waits
	// they outlast programs that swallow keys for two seconds after a paste.
	presses    = 7
	firstWait  = 150 * time.Millisecond
	waitGrowth = 200 * time.Millisecond
	// slowWait is both for a program that will say when it has taken the
	// prompt: one that is slow takes it twice for two Enters.
	slowWait = 3 * time.Second
	// mostSettle bounds the wait for a screen that never becomes quiet, and
	// mostHidden that for a prompt to be seen, which some programs never show.
	mostSettle = 2 * time.Second
	mostHidden = 500 * time.Millisecond
)

// submit presses Enter until the composer lets go of the prompt. The body is
// never sent again.
func (t *turn) submit(ctx context.Context) error {
	if err := t.settle(ctx); err != nil {
		return err
	}
	wait, growth := firstWait, waitGrowth
	if t.opts.Engine.Accepts {
		wait, growth = slowWait, slowWait
	}
	for range presses {
		typed, err := t.clear(ctx, time.Now().Add(mostHidden))
		if err != nil {
			return err
		}
		if err := t.press(ctx, t.opts.Engine.Submit); err != nil {
			return err
		}
		gone, err := t.letGo(ctx, typed, wait)
		if err != nil {
			return err
		}
		if gone {
			return t.reach(protocol.Submitted, t.witness())
		}
		wait += growth
	}
	return t.giveUp(ctx, failure(protocol.CodeNotSubmitted, false, "the prompt stays in its composer"))
}

func (t *turn) witness() string {
	if t.accepted {
		return ByChannel
	}
	return byScreen
}

// settle lets the program take in the paste: a quiet time after it, during
// which an Enter would be taken for a part of the paste.
func (t *turn) settle(ctx context.Context) error {
	need := t.opts.Engine.Settle
	end := time.Now().Add(max(need, mostSettle))
	least := time.Now().Add(need)
	for time.Now().Before(end) {
		woken, err := t.rest(ctx, max(need, hush/2))
		if err != nil {
			return err
		}
		if !woken && !time.Now().Before(least) {
			return nil
		}
	}
	return nil
}

// clear waits until no person stands between Enter and the prompt, and until
// the prompt is seen or ought to be, and returns the screen on which Enter will
// be pressed.
func (t *turn) clear(ctx context.Context, shown time.Time) (Screen, error) {
	for {
		s, v, err := t.see(ctx, shallow)
		if err != nil {
			return s, err
		}
		if s.Dead {
			return s, t.buried(s)
		}
		now, row := time.Now(), t.tagRow(s)
		o, why := t.opts.Engine.obstacle(s, v)
		switch {
		case o != unclear:
			t.life = now
			t.set(o, why+", and a prompt behind it", s)
		case row >= 0:
			t.ours.lead = lead(s.Visible[row])
			fallthrough
		case now.After(shown) || v.composer >= 0 && folded(s.Visible[v.composer]):
			t.set(working, "", s)
			return s, nil
		}
		if f := t.overdue(now); f != nil {
			return s, f
		}
		if err := t.attend(ctx, t.opts.Tick/5); err != nil {
			return s, err
		}
	}
}

func (t *turn) press(ctx context.Context, keys []string) error {
	err := t.term.Press(ctx, keys...)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrGone):
		return t.lost(err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrRefused):
		// Dead, or no longer ours; the next look says which.
		s, _, lookErr := t.see(ctx, 0)
		if lookErr != nil {
			return lookErr
		}
		if s.Dead {
			return t.buried(s)
		}
		return failure(protocol.CodeUndecidable, false, "its pane refused Enter after the prompt was typed: %v", err)
	}
	// A key that may or may not have been pressed shows on the screen.
	t.opts.Log.Warn().Err(err).Msg("keys may not have been pressed")
	return nil
}

// letGo waits for the composer to let go of the prompt.
func (t *turn) letGo(ctx context.Context, typed Screen, wait time.Duration) (bool, error) {
	end := time.Now().Add(wait)
	for {
		if err := t.attend(ctx, max(time.Until(end), hush)); err != nil {
			return false, err
		}
		if t.accepted {
			return true, nil
		}
		s, _, err := t.see(ctx, shallow)
		if err != nil {
			return false, err
		}
		if s.Dead || !t.held(typed, s) {
			return true, nil
		}
		if time.Now().After(end) {
			return false, nil
		}
	}
}

// held says that the prompt still stands where it was typed: its tag does, and
// nothing new stands below it. A program that has taken it shows an answer, a
// sign of work or an empty composer there; one that reads lines moves the
// cursor on.
func (t *turn) held(typed, now Screen) bool {
	was, is := t.tagRow(typed), t.tagRow(now)
	if was < 0 {
		// It was shown late, or is folded, or nothing of it is ever shown, and
		// then there is nothing to press Enter again for.
		at := t.opts.Engine.composer(now)
		return at >= 0 && (at == is || folded(now.Visible[at]))
	}
	if is < 0 || !slices.Equal(below(typed, was), below(now, is)) {
		return false
	}
	return t.opts.Engine.Multiline || typed.CursorY-was == now.CursorY-is
}

// tagRow is the lowest row with the prompt's tag, -1 where it is not shown.
func (t *turn) tagRow(s Screen) int {
	for i := len(s.Visible) - 1; i >= 0; i-- {
		if t.ours.tagged(s.Visible[i]) {
			return i
		}
	}
	return -1
}

// below is what stands under a row, apart from numbers, which count something
// in many programs.
func below(s Screen, row int) (out []string) {
	for _, line := range s.Visible[row+1:] {
		line = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, strings.TrimSpace(line))
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}
