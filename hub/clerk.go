package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// clerk does what is due without anybody asking: it writes the entries that
// time or earlier entries made due, says when the clock was set back, and cuts
// exchanges that were cancelled.
func (h *Hub) clerk(ctx context.Context) error {
	if err := h.giveUpTheDismissed(ctx); err != nil {
		return ignoreEnd(ctx, err)
	}
	var clock *ruler
	h.book.read(func(l *ledger.Ledger) { clock = newRuler(l.Clock()) })
	done := ""
	for ctx.Err() == nil {
		if err := h.check(ctx, clock); err != nil {
			return ignoreEnd(ctx, err)
		}
		changed := h.book.wait()
		var plan ledger.Plan
		h.book.read(func(l *ledger.Ledger) { plan = l.Next(time.Now().UTC()) })
		for _, d := range plan.Interrupt {
			if w := h.workers[d.Agent]; w != nil {
				w.stopExchange(d)
			}
		}
		if owed := gist(plan.Append); owed != "" && owed != done {
			done = owed
			for _, batch := range plan.Append {
				if err := h.book.persist(ctx, batch...); err != nil {
					return ignoreEnd(ctx, err)
				}
			}
			continue
		} else if owed != "" {
			// Writing it again would fill the disk; the next change may settle it.
			h.o.Log.Error().Str("owed", owed).Msg("what was written is owed again")
		}
		sleep(ctx, plan.Wake, changed, nil)
	}
	return nil
}

// gist tells batches apart by what they do, whenever it was decided.
func gist(batches [][]protocol.Entry) string {
	var b strings.Builder
	for _, batch := range batches {
		for _, e := range batch {
			if s := e.Step; s != nil {
				fmt.Fprintf(&b, "%s %s %s %d; ", s.Name, s.Agent, strings.Join(s.Messages, " "), s.Attempt)
			}
			if m := e.Message; m != nil {
				fmt.Fprintf(&b, "%s %s; ", m.Message.Header.Type, m.Message.ID())
			}
		}
	}
	return b.String()
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
// The diary, which needs room too, hears of it once.
func (b *book) persist(ctx context.Context, batch ...protocol.Entry) error {
	pause, said := 200*time.Millisecond, ""
	for {
		err := b.append(ctx, batch...)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if err.Error() != said {
			said = err.Error()
			b.log.Error().Err(err).Msg("entry not stored, trying until it is")
		}
		sleep(ctx, time.Now().Add(pause), nil, nil)
		pause = min(2*pause, 2*time.Second)
	}
}
