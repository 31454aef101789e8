package hub

import (
	"sync"

	"orchestrator-cc/protocol"
)

// slate is where the answers that are being written lie open. Whoever looks on
// compares them with what he saw last, so nobody can be too slow: he skips
// what was in between.
type slate struct {
	mu      sync.Mutex
	open    map[string]protocol.Writing // by agent
	changed chan struct{}               // closed and replaced whenever more is written
}

func newSlate() *slate {
	return &slate{open: map[string]protocol.Writing{}, changed: make(chan struct{})}
}

func (d *slate) put(w protocol.Writing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[w.Agent] = w
	close(d.changed)
	d.changed = make(chan struct{})
}

// clear takes an agent's writing away; nobody need be told.
func (d *slate) clear(agent string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, agent)
}

// Writings are the answers being written now, and a channel that closes when
// one of them goes on.
func (h *Hub) Writings() (open []protocol.Writing, changed <-chan struct{}) {
	d := h.slate
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.open {
		open = append(open, w)
	}
	return open, d.changed
}

// onWriting lays open how far an answer is written. It is called by the agent's
// goroutine.
func (w *worker) onWriting(now protocol.Writing) {
	w.mu.Lock()
	d := w.current
	w.mu.Unlock()
	if d == nil || d.Req != now.Turn {
		return
	}
	now.Task = d.Root
	w.slate.put(now)
}
