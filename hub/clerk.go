package hub

import (
	"context"
	"fmt"
	"time"

	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// clerk does what is due without anybody asking: it writes the entries that
// time or earlier entries made due, and cuts exchanges that were cancelled.
func (h *Hub) clerk(ctx context.Context) error {
	if err := h.giveUpTheDismissed(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	for ctx.Err() == nil {
		changed := h.book.wait()
		var plan ledger.Plan
		h.book.read(func(l *ledger.Ledger) { plan = l.Next(time.Now().UTC()) })
		for _, d := range plan.Interrupt {
			if w := h.workers[d.Agent]; w != nil {
				w.stopExchange(d)
			}
		}
		if len(plan.Append) > 0 {
			for _, batch := range plan.Append {
				if err := h.book.persist(ctx, batch...); err != nil {
					return ignoreEnd(ctx, err)
				}
			}
			continue
		}
		sleep(ctx, plan.Wake, changed, nil)
	}
	return nil
}

// giveUpTheDismissed ends what an earlier hub had under way for agents that
// the configuration no longer has: nobody would ever end it.
func (h *Hub) giveUpTheDismissed(ctx context.Context) error {
	return h.book.write(ctx, func(l *ledger.Ledger, now time.Time) (batch []protocol.Entry) {
		for _, d := range l.UnderWay() {
			if h.workers[d.Agent] == nil {
				reason := fmt.Sprintf("%s is no longer in the configuration", d.Agent)
				batch = append(batch, l.Fail(d, ledger.Failure{Code: protocol.CodeUnknownAgent, Reason: reason}, now)...)
			}
		}
		return batch
	})
}

// sleep waits for either change or for the moment wake, whichever is first.
// The zero time means no moment, a nil channel no change.
func sleep(ctx context.Context, wake time.Time, change, other <-chan struct{}) {
	var due <-chan time.Time
	if !wake.IsZero() {
		timer := time.NewTimer(time.Until(wake))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-change:
	case <-other:
	case <-due:
	case <-ctx.Done():
	}
}

// write computes entries from the ledger as it is now and persists them.
func (b *book) write(ctx context.Context, f func(*ledger.Ledger, time.Time) []protocol.Entry) error {
	now := time.Now().UTC()
	var batch []protocol.Entry
	b.read(func(l *ledger.Ledger) { batch = f(l, now) })
	return b.persist(ctx, batch...)
}

// persist appends entries that must not be lost, however long the disk is
// full: the hub says so in its health meanwhile and goes on once there is room.
func (b *book) persist(ctx context.Context, batch ...protocol.Entry) error {
	const between = 200 * time.Millisecond
	for {
		err := b.append(ctx, batch...)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		b.log.Error().Err(err).Msg("entry not stored, trying again")
		sleep(ctx, time.Now().Add(between), nil, nil)
	}
}
