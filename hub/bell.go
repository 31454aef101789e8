package hub

import "sync"

// bell is rung when something has changed. Whoever waits looks for himself at
// what it is, so nobody can be too slow for it.
type bell struct {
	mu   sync.Mutex
	rung chan struct{} // closed and replaced at each ring
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

// Changed closes when an agent shows another state or another dialog.
func (h *Hub) Changed() <-chan struct{} { return h.bell.next() }
