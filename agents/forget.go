package agents

import (
	"context"
	"errors"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// forgetNote is what a pane's note says while our command to forget stands in
// its composer. It is no request's id, so whoever comes after a hub that died
// then knows that its prompt was not typed, and whose text stands there.
const forgetNote = "forget"

const (
	// forgetting bounds the wait for a program to forget, after each Enter: it
	// may run hooks of the user's then.
	forgetting = 5 * time.Second
	// orders bounds how often Enter is pressed: with the first one some programs
	// only complete the command.
	orders = 3
	// settled is how long a screen must rest to show that a command is done.
	settled = 300 * time.Millisecond
)

// forget makes the program begin a new conversation. A prompt is typed only
// once it has.
func (t *turn) forget(ctx context.Context) error {
	greeted := t.eye.greeted
	s, v, err := t.see(ctx, 0)
	if err != nil {
		return untyped(err)
	}
	t.set(working, "forgets its conversation, which was another session's", s)
	if t.opts.Engine.Restarts {
		return t.restart(ctx)
	}
	if !t.leftover(s, v) {
		err := t.term.Paste(ctx, t.seenAt, forgetNote, []byte(t.opts.Engine.Forget))
		if errors.Is(err, ErrGone) {
			return untyped(t.lost(err))
		}
		if errors.Is(err, ErrMoved) {
			return err // somebody began to type
		}
		if err != nil {
			return failure(protocol.CodeNotSubmitted, true, "its conversation could not be cleared: %v", err)
		}
	}
	if err := t.settle(ctx); err != nil {
		return untyped(err)
	}
	if err := t.opts.OnForget(); err != nil {
		return failure(protocol.CodeInternal, true, "%v", err)
	}
	for range orders {
		if err := t.press(ctx, t.opts.Engine.Submit); err != nil {
			return untyped(err)
		}
		done, err := t.forgotten(ctx, greeted)
		if err != nil {
			return untyped(err)
		}
		if done {
			t.forgot = true
			t.opts.Log.Info().Str("req", t.req.ID).Msg("conversation of another session cleared")
			return nil
		}
	}
	return failure(protocol.CodeNotSubmitted, true, "it did not forget its conversation by %s", t.opts.Engine.Forget)
}

// restarting bounds the wait for a program to be ended and started again.
const restarting = 30 * time.Second

// restart makes the program forget by ending it: another process takes its
// place, and has the engine's own time to become ready.
func (t *turn) restart(ctx context.Context) error {
	if err := t.opts.OnForget(); err != nil {
		return failure(protocol.CodeInternal, true, "%v", err)
	}
	t.renewing = true
	defer func() { t.renewing = false }()
	t.opts.Restart(false)
	for end := time.Now().Add(restarting); t.renewing; {
		if time.Now().After(end) {
			return failure(protocol.CodeNotSubmitted, true, "it was not started again within %s to forget its conversation", restarting)
		}
		if _, err := t.rest(ctx, t.opts.Tick); err != nil {
			return untyped(err)
		}
	}
	t.forgot, t.startBy = true, time.Now().Add(t.opts.Engine.Start)
	t.opts.Log.Info().Str("req", t.req.ID).Msg("started again to forget another session")
	return nil
}

// forgotten waits for the proof: the program says on its channel that it has
// begun anew or, where it never does, takes input again and has let go of the
// command.
func (t *turn) forgotten(ctx context.Context, greeted int) (bool, error) {
	for end := time.Now().Add(forgetting); time.Now().Before(end); {
		if err := t.attend(ctx, min(t.opts.Tick, restful)/2); err != nil {
			return false, err
		}
		if t.eye.greeted > greeted {
			return true, nil
		}
		s, v, err := t.see(ctx, 0)
		if err != nil {
			return false, err
		}
		if s.Dead {
			return false, t.buried(s)
		}
		held := strings.Contains(v.draft, t.opts.Engine.Forget)
		now := time.Now()
		if o, _ := t.judgeScreen(s, v, now); !t.opts.Engine.Renews && o == ready && !held && t.eye.stillFor(now) >= settled {
			return true, nil
		}
	}
	return false, nil
}

// leftover says that the command stands in the composer, from a hub that died
// before it pressed Enter.
func (t *turn) leftover(s Screen, v view) bool {
	command := t.opts.Engine.Forget
	return command != "" && s.Note == forgetNote && strings.TrimSpace(v.draft) == command
}
