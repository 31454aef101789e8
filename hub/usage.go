package hub

import (
	"context"
	"sync"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// usage holds what an agent's models took until it is in the stream. Nothing
// is dropped: a hub that dies before finds it in the spool, or in the program's
// own book, again.
type usage struct {
	told    chan struct{} // there is some; holds at most one notice
	stirred chan struct{} // the program did something; holds at most one notice

	mu      sync.Mutex
	reports []protocol.Report

	writing sync.Mutex // held until what was taken is in the stream
}

func newUsage() usage {
	return usage{told: make(chan struct{}, 1), stirred: make(chan struct{}, 1)}
}

// add is called by the agent's goroutine, which must not wait.
func (u *usage) add(r protocol.Report) {
	u.mu.Lock()
	u.reports = append(u.reports, r)
	u.mu.Unlock()
	notify(u.told)
}

func (u *usage) take() []protocol.Report {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.reports
	u.reports = nil
	return out
}

// notify leaves a notice unless one lies there.
func notify(notice chan<- struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}

// recordUsage writes down what was told so far.
func (w *worker) recordUsage(ctx context.Context) error {
	w.usage.writing.Lock()
	defer w.usage.writing.Unlock()
	reports := w.usage.take()
	if w.Meter != nil {
		for _, r := range w.Meter.News(time.Now()) {
			if r.Event == protocol.ReportUsage {
				reports = append(reports, r)
				continue
			}
			w.tell(r)
		}
	}
	if len(reports) == 0 {
		return nil
	}
	return w.book.write(ctx, func(l *ledger.Ledger, now time.Time) []protocol.Entry {
		return l.Spend(w.Name, reports, now)
	})
}

// tell puts on the agent's spool what its program wrote only into its book. An
// old book is read again by each hub, so what is about another attempt than the
// one under way is no news.
func (w *worker) tell(r protocol.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == nil || w.current.Req != r.Req {
		return
	}
	if err := agents.Append(w.Spool, r); err != nil {
		w.log.Warn().Err(err).Msg("report not passed on")
	}
	w.agent.Poke()
}

const (
	// meterEvery is how often a program's book is read while it may grow, and
	// meterFor how long after the program's last stir it may: it is written a
	// moment later.
	meterEvery = 250 * time.Millisecond
	meterFor   = 4 * time.Second
)

// takeUsage writes down what is told between turns, and in the middle of one.
func (w *worker) takeUsage(ctx context.Context) error {
	ticker := time.NewTicker(meterEvery)
	defer ticker.Stop()
	until := time.Now().Add(meterFor) // what was written while there was no hub
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.usage.told:
		case <-w.usage.stirred:
			if until = time.Now().Add(meterFor); w.Meter != nil {
				ticker.Reset(meterEvery)
			}
			continue
		case now := <-ticker.C:
			if w.Meter == nil || now.After(until) {
				ticker.Stop()
			}
		}
		if err := w.recordUsage(ctx); err != nil {
			return err
		}
	}
}
