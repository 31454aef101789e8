package hub

import (
	"context"

	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// withdraw ends the questions of the agent's turn that is being cancelled,
// before any key is pressed: a program that waits for an answer to one hears
// that there will be none, and an interrupt key means something else in some
// dialogs.
func (w *worker) withdraw(ctx context.Context) {
	var asked []protocol.Confirmation
	w.book.read(func(l *ledger.Ledger) {
		for _, c := range l.Approvals().Items {
			if c.Agent == w.Name && c.State == protocol.ConfirmationPending {
				asked = append(asked, c)
			}
		}
	})
	for _, c := range asked {
		m := c.Answer(protocol.Verdict{State: protocol.ConfirmationWithdrawn, By: protocol.ByEndOfTask})
		_, err := w.submit(ctx, protocol.Accepted{Message: m, Task: c.Task, Session: c.Session})
		if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate && ctx.Err() == nil {
			w.log.Warn().Err(err).Str("confirmation", c.ID).Msg("question not withdrawn")
		}
	}
}
