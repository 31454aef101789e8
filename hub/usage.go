package hub

import (
	"context"
	"sync"
	"time"

	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// usage holds what an agent's models took until it is in the stream. Nothing
// is dropped: a hub that dies before finds it in the spool again.
type usage struct {
	told chan struct{} // there is some; holds at most one notice

	mu      sync.Mutex
	reports []protocol.Report

	writing sync.Mutex // held until what was taken is in the stream
}

// add is called by the agent's goroutine, which must not wait.
func (u *usage) add(r protocol.Report) {
	u.mu.Lock()
	u.reports = append(u.reports, r)
	u.mu.Unlock()
	select {
	case u.told <- struct{}{}:
	default:
	}
}

func (u *usage) take() []protocol.Report {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.reports
	u.reports = nil
	return out
}

// recordUsage writes down what was told so far.
func (w *worker) recordUsage(ctx context.Context) error {
	w.usage.writing.Lock()
	defer w.usage.writing.Unlock()
	reports := w.usage.take()
	if len(reports) == 0 {
		return nil
	}
	return w.book.write(ctx, func(l *ledger.Ledger, now time.Time) []protocol.Entry {
		return l.Spend(w.Name, reports, now)
	})
}

// takeUsage writes down what is told between turns, and in the middle of one.
func (w *worker) takeUsage(ctx context.Context) error {
	for {
		select {
		case <-w.usage.told:
			if err := w.recordUsage(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
