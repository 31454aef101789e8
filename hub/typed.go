package hub

import (
	"context"
	"time"

	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// onTyped notes what a person typed into the agent's pane. It is called by the
// agent's goroutine, which must not wait.
func (w *worker) onTyped(r protocol.Report) {
	w.mu.Lock()
	w.texts = append(w.texts, r)
	w.mu.Unlock()
	select {
	case w.typed <- struct{}{}:
	default:
	}
}

// takeTyped makes a task of the user out of each text that was typed. The
// report may come again after a restart; its id is made from the report, so it
// is accepted once.
func (w *worker) takeTyped(ctx context.Context) error {
	for {
		select {
		case <-w.typed:
		case <-ctx.Done():
			return nil
		}
		w.mu.Lock()
		texts := w.texts
		w.mu.Unlock()
		for _, r := range texts {
			w.taskOf(ctx, r)
		}
		w.mu.Lock()
		w.texts = w.texts[len(texts):]
		w.mu.Unlock()
	}
}

func (w *worker) taskOf(ctx context.Context, r protocol.Report) {
	m := protocol.New(protocol.FromUser(), protocol.Party(w.Name, w.Role), protocol.TaskRequest(r.Text))
	m.Header.MessageID = protocol.DeriveID("typed", w.Name, r.Time.Format(time.RFC3339Nano), r.Text)
	_, err := w.submit(ctx, protocol.Accepted{Message: m, Typed: r.Req})
	if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate && ctx.Err() == nil {
		w.log.Warn().Err(err).Msg("typed text not taken")
	}
}

// owesTyped says that the spool holds what is not in the stream yet: the end of
// a turn that a person began and nobody follows so far.
func (w *worker) owesTyped() bool {
	w.mu.Lock()
	owes := len(w.texts) > 0
	w.mu.Unlock()
	w.book.read(func(l *ledger.Ledger) { owes = owes || l.Begun(w.Name) })
	return owes
}
