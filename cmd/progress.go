package cmd

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// progress shows on a terminal what a waiting sender waits for: a line for
// each hop, and below them one line that is redrawn, with who is at work and
// for how long. Into anything but a terminal it says nothing.
type progress struct {
	v       voice
	now     func() time.Time
	started time.Time
	mu      sync.Mutex
	working map[string]bool // agents with a delivery under way
	order   []string        // in the order they began
	drawn   bool
}

// redraw is how often the timer moves.
const redraw = 200 * time.Millisecond

func newProgress(v voice, now func() time.Time) *progress {
	return &progress{v: v, now: now, started: now(), working: map[string]bool{}}
}

// during hands entries through and keeps the timer moving while none come.
func (p *progress) during(ctx context.Context, entries iter.Seq2[protocol.Entry, error]) iter.Seq2[protocol.Entry, error] {
	if !p.v.terminal {
		return entries
	}
	return func(yield func(protocol.Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var ticking sync.WaitGroup
		ticking.Go(func() { p.tick(ctx) })
		defer ticking.Wait()
		defer cancel()
		for e, err := range entries {
			if !yield(e, err) {
				return
			}
		}
	}
}

func (p *progress) tick(ctx context.Context) {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// entry takes note of what happened.
func (p *progress) entry(e protocol.Entry) {
	if !p.v.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := e.Step; s != nil {
		p.step(*s)
	}
	if m := e.Message; m != nil {
		if line := hop(*m); line != "" {
			p.erase()
			p.v.printf("%s\n", shorten(line, max(p.v.width()-1, 20)))
		}
	}
	p.draw()
}

func (p *progress) step(s protocol.Step) {
	began := s.Name == protocol.Claimed || s.Name == protocol.Typed || s.Name == protocol.Submitted || s.Name == protocol.Taken
	if began && !p.working[s.Agent] {
		p.working[s.Agent] = true
		p.order = append(p.order, s.Agent)
	}
	if !began {
		delete(p.working, s.Agent)
	}
}

// hop is a line for a message that moves the work: who, to whom, what.
func hop(m protocol.Accepted) string {
	h := m.Message.Header
	switch {
	case m.Closing != nil:
		took := span(time.Duration(m.Closing.LatencyMS) * time.Millisecond)
		return fmt.Sprintf("%s → %s: %s after %s", h.From.AgentID, h.To.AgentID, m.Closing.Status, took)
	case h.Type == protocol.Request:
		return fmt.Sprintf("%s → %s: %s", h.From.AgentID, h.To.AgentID, oneLine(m.Message.Text()))
	}
	return ""
}

func (p *progress) draw() {
	who := "waiting"
	for _, name := range p.order {
		if p.working[name] {
			who = name + " is at work"
		}
	}
	if n := len(p.working); n > 1 {
		who += fmt.Sprintf(" (and %d more)", n-1)
	}
	p.erase()
	p.v.printf("%s", shorten(who+" … "+span(p.now().Sub(p.started)), max(p.v.width()-1, 20)))
	p.drawn = true
}

// erase clears the redrawn line, so that something else can stand there.
func (p *progress) erase() {
	if p.drawn {
		p.v.printf("\r\x1b[K")
		p.drawn = false
	}
}

// end leaves the terminal as it was.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}
