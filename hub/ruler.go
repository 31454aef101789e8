package hub

import (
	"context"
	"time"

	"orchestrator-cc/protocol"
)

// ruler notices that the machine's clock was set back: the monotonic clock,
// which nobody can set, tells how much time really passed.
type ruler struct {
	start time.Time
	wall  time.Time     // what the clock showed last
	run   time.Duration // and how long after the start that was
}

// newRuler measures from the newest time in the stream: the clock may have been
// set back while no hub ran.
func newRuler(newest time.Time) *ruler { return &ruler{start: time.Now(), wall: newest} }

// tolerated is how much a clock may lag without a word. Time servers take
// fractions of a second back now and then; waiting that much longer is nothing.
const tolerated = time.Second

// back tells how far the clock was set back since it was last asked.
func (r *ruler) back(wall time.Time, run time.Duration) time.Duration {
	missing := r.wall.Add(run - r.run).Sub(wall)
	r.wall, r.run = wall, run
	if missing < tolerated {
		return 0
	}
	return missing
}

// check tells the stream when the clock was set back.
func (h *Hub) check(ctx context.Context, r *ruler) error {
	now := time.Now()
	by := r.back(now.UTC(), now.Sub(r.start))
	if by == 0 {
		return nil
	}
	h.o.Log.Warn().Dur("by", by).Msg("the clock was set back")
	change := &protocol.HubChange{Event: protocol.ClockSetBack, PID: h.o.Health.PID, BackMS: by.Milliseconds()}
	return h.book.persist(ctx, protocol.Entry{Time: now.UTC(), Kind: protocol.KindHub, Hub: change})
}
