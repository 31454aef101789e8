package hub

import (
	"context"
	"time"

	"orchestrator-cc/protocol"
)

// onTyped passes on what a person typed into the agent's pane. It is called by
// the agent's goroutine, which must not wait: a person who types faster than
// messages are stored is refused, and told so in the diary.
func (w *worker) onTyped(r protocol.Report) {
	select {
	case w.typed <- r:
	default:
		w.log.Warn().Msg("typed text dropped, too much at once")
	}
}

// takeTyped makes a task of the user out of each text that was typed. The
// report may come again after a restart; its id is made from the report, so it
// is accepted once.
func (w *worker) takeTyped(ctx context.Context) error {
	for {
		select {
		case r := <-w.typed:
			m := protocol.New(protocol.FromUser(), protocol.Party(w.Name, w.Role), protocol.TaskRequest(r.Text))
			m.Header.MessageID = protocol.DeriveID("typed", w.Name, r.Time.Format(time.RFC3339Nano), r.Text)
			_, err := w.submit(ctx, protocol.Accepted{Message: m})
			if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate && ctx.Err() == nil {
				w.log.Warn().Err(err).Msg("typed text not taken")
			}
		case <-ctx.Done():
			return nil
		}
	}
}
