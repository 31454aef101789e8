package cmd

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// progress shows on a terminal what a waiting sender waits for: a line for
// each hop, and below them one line that is redrawn, with who is at work and
// for how long. Into anything but a terminal it says only what holds the work
// up, once each.
type progress struct {
	v       voice
	now     func() time.Time
	why     func(context.Context) string // what holds the work up; "" for nothing
	started time.Time
	mu      sync.Mutex
	heard   time.Time         // when something last happened
	reason  string            // what holds the work up
	said    map[string]bool   // the reasons given into a pipe
	working map[string]bool   // agents with a delivery under way
	order   []string          // in the order they began
	writes  map[string]string // by agent, as much of its answer as is written
	drawn   bool
}

// How often the timer moves, and how long nothing happens before the reason
// is asked for, each time anew.
const (
	redraw  = 200 * time.Millisecond
	askedBy = time.Second
)

func newProgress(v voice, now func() time.Time, why func(context.Context) string) *progress {
	return &progress{v: v, now: now, why: why, started: now(), heard: now(), said: map[string]bool{}, working: map[string]bool{}, writes: map[string]string{}}
}

// during hands entries through and, while none come, keeps the timer moving
// and asks why.
func (p *progress) during(ctx context.Context, entries iter.Seq2[protocol.Entry, error]) iter.Seq2[protocol.Entry, error] {
	return func(yield func(protocol.Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var ticking sync.WaitGroup
		if p.v.terminal {
			ticking.Go(func() { p.tick(ctx) })
		}
		ticking.Go(func() { p.wonder(ctx) })
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

// wonder asks what holds the work up while nothing happens.
func (p *progress) wonder(ctx context.Context) {
	ticker := time.NewTicker(askedBy)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		heard := p.heard
		p.mu.Unlock()
		if p.now().Sub(heard) < askedBy {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, askedBy)
		reason := p.why(asking)
		cancel()
		p.mu.Lock()
		if p.heard.Equal(heard) && ctx.Err() == nil {
			p.hold(reason)
		}
		p.mu.Unlock()
	}
}

// hold takes note of what holds the work up.
func (p *progress) hold(reason string) {
	p.reason = reason
	if reason != "" && !p.v.terminal && !p.said[reason] {
		p.said[reason] = true
		p.v.printf("waiting: %s\n", reason)
	}
}

// part takes note of how an answer goes on that is being written.
func (p *progress) part(part protocol.Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard, p.reason = p.now(), ""
	before := []rune(p.writes[part.Agent])
	p.writes[part.Agent] = string(before[:min(part.Offset, len(before))]) + part.Text
	if p.v.terminal {
		p.draw()
	}
}

// entry takes note of what happened.
func (p *progress) entry(e protocol.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard, p.reason = p.now(), ""
	if !p.v.terminal {
		return
	}
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
		delete(p.writes, s.Agent)
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
		return fmt.Sprintf("%s → %s: %s", h.From.AgentID, h.To.AgentID, gist(m.Message.Text()))
	case h.Type == protocol.Event:
		return fmt.Sprintf("%s: %s", h.From.AgentID, gist(m.Message.Text()))
	}
	return ""
}

func (p *progress) draw() {
	who, writes := "waiting", ""
	for _, name := range p.order {
		if p.working[name] {
			who, writes = name+" is at work", lastLine(p.writes[name])
		}
	}
	if n := len(p.working); n > 1 {
		who += fmt.Sprintf(" (and %d more)", n-1)
	}
	if p.reason != "" {
		who = "waiting: " + p.reason
	}
	who += " … " + span(p.now().Sub(p.started))
	if writes != "" {
		who += " │ " + writes
	}
	p.erase()
	p.v.printf("%s", shorten(who, max(p.v.width()-1, 20)))
	p.drawn = true
}

// lastLine is the last line of a text that says something, as one may print it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return gist(text[strings.LastIndexByte(text, '\n')+1:])
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
