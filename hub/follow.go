package hub

import (
	"context"

	"orchestrator-cc/bus"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// Follower yields a viewer's entries one by one, waiting for the next.
type Follower = interface {
	Next(ctx context.Context) (protocol.Entry, error)
}

type follower struct {
	reader *bus.Reader
	book   *book
	root   string // only entries of this task's tree; "" = all
}

// Follow lets a viewer read what came after a sequence number, and then what
// comes; who was away for so long that the stream has forgotten what came then
// goes on with the oldest there is. A slow viewer is only late. An id that no
// task has follows nothing.
func (h *Hub) Follow(after uint64, task string) Follower {
	if first := h.o.Stream.First(); after+1 < first {
		after = first - 1
	}
	f := &follower{reader: h.o.Stream.Follow(context.Background(), after), book: h.book, root: task}
	h.book.read(func(l *ledger.Ledger) {
		if t, err := l.Task(task); task != "" && err == nil {
			f.root = t.Root
		}
	})
	return f
}

// Next never runs ahead of the ledger: what a viewer asks next is answered
// from a state that includes the entry it was given.
func (f *follower) Next(ctx context.Context) (protocol.Entry, error) {
	for {
		e, err := f.reader.Next(ctx)
		if err != nil {
			return e, err
		}
		if err := f.book.await(ctx, e.Seq); err != nil {
			return e, err
		}
		if f.root == "" || e.Root() == f.root {
			return e, nil
		}
	}
}
