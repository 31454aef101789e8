package hub

import (
	"context"

	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// brief gives a program that has just started its brief, where it has no other
// way to it: as a note of the hub's which everything else waits for. Its id is
// made from the process, so a hub that comes back does not brief it again; a
// program that dies before it has read its brief gets no second copy of it.
func (w *worker) brief(ctx context.Context) {
	w.mu.Lock()
	process := w.pane.Process
	due := w.Brief != "" && !w.dead && w.briefed != process
	w.mu.Unlock()
	if !due {
		return
	}
	waits := false
	w.book.read(func(l *ledger.Ledger) { waits = l.Briefs(w.Name) })
	if !waits {
		m := protocol.New(protocol.FromHub(), protocol.Party(w.Name, w.Role), protocol.Info(w.Brief))
		m.Header.MessageID = protocol.DeriveID("brief", w.Name, process, w.Brief)
		_, err := w.submit(ctx, protocol.Accepted{Message: m, First: true})
		if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate {
			if ctx.Err() == nil {
				w.log.Warn().Err(err).Msg("brief not given")
			}
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.briefed = process
}

// rebrief gives a program that has to forget its conversation its brief again,
// where it was pasted into that: the program forgets before the brief, and what
// it was to forget for follows. It says whether there is a brief to come now,
// which is once for each message.
func (w *worker) rebrief(ctx context.Context, d ledger.Delivery) bool {
	if w.Brief == "" || !w.Forgets || !d.Forget || d.First || d.Begun || w.rebriefs == d.Messages[0] {
		return false
	}
	w.rebriefs = d.Messages[0]
	m := protocol.New(protocol.FromHub(), protocol.Party(w.Name, w.Role), protocol.Info(w.Brief))
	if _, err := w.submit(ctx, protocol.Accepted{Message: m, First: true, Session: d.Session, Anew: true}); err != nil {
		if ctx.Err() == nil {
			w.log.Warn().Err(err).Msg("brief not given again")
		}
		return false
	}
	return true
}

// hasBrief notes that the process in the pane has its brief.
func (w *worker) hasBrief() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.briefed = w.pane.Process
}
