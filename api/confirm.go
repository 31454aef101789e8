package api

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// Confirmations are a fold over the stream, like everything else: a request
// and its answer are entries, so a hub that dies knows afterwards what is still
// open, and which decisions still count.
//
//	POST /confirmations -> entry "confirmation_request" -> pending
//	POST /confirmations/{id}, a rule or the deadline -> entry "confirmation_answer" -> decided
type confirmations struct {
	mu    sync.Mutex
	fold  protocol.Approvals
	heard map[string]presence // of those that are pending
	moved chan struct{}       // closed and replaced whenever something changed
}

// presence is whether somebody waits for an answer. An asker asks again and
// again; one that no longer does was ended together with its question.
type presence struct {
	askers int
	last   time.Time // when the last one left
	// until is the deadline by the clock that nobody can set: the question was
	// asked with so much time to answer it, whatever the other clock shows later.
	until time.Time
}

// forsaken is how long a question stays without an asker: longer than a hub
// takes to come back, and its askers to find it.
const forsaken = 30 * time.Second

func newConfirmations() *confirmations {
	return &confirmations{heard: map[string]presence{}, moved: make(chan struct{})}
}

// begin takes over what the hub has folded already.
func (c *confirmations) begin(known protocol.Approvals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold = known
	c.wake()
}

// wake is called with the lock held.
func (c *confirmations) wake() {
	close(c.moved)
	c.moved = make(chan struct{})
}

func (c *confirmations) apply(e protocol.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fold.Apply(e) {
		c.wake()
	}
}

// attend notes that somebody waits for an answer, until leave is called.
func (c *confirmations) attend(id string) (leave func()) {
	count := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		p := c.heard[id]
		p.askers, p.last = p.askers+n, time.Now()
		c.heard[id] = p
		c.wake()
	}
	count(1)
	return func() { count(-1) }
}

// get is one confirmation as it is now.
func (c *confirmations) get(id string) (item protocol.Confirmation, found bool, moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range c.fold.Items {
		if item.ID == id {
			return item, true, c.moved
		}
	}
	return protocol.Confirmation{}, false, c.moved
}

// known is all there is, oldest first.
func (c *confirmations) known() protocol.Approvals {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fold.Clone()
}

// lapsed is a confirmation that nobody will answer any more.
type lapsed struct {
	protocol.Confirmation
	state protocol.ConfirmationState
	why   string
}

// left is how much time a question has when it is first seen here. One that was
// asked before a restart has what the clock says, but never more than it was
// asked with: the clock may have been set back since.
func left(item protocol.Confirmation, now time.Time) time.Duration {
	return min(item.Deadline.Sub(now), item.Deadline.Sub(item.Since))
}

// due lists what nobody answered in time or waits for any more, and when to
// look again.
func (c *confirmations) due(now time.Time) (late []lapsed, next time.Time, moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	soonest := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	pending := map[string]presence{}
	for id, p := range c.heard {
		if p.askers > 0 {
			pending[id] = p // its question may not be here yet
		}
	}
	for _, item := range c.fold.Items {
		if item.State != protocol.ConfirmationPending {
			continue
		}
		p, ok := c.heard[item.ID]
		if !ok {
			p.last = now // its asker has yet to find this hub
		}
		if p.until.IsZero() {
			p.until = now.Add(left(item, now))
		}
		pending[item.ID] = p
		switch {
		case item.Over:
			late = append(late, lapsed{item, protocol.ConfirmationWithdrawn, protocol.ByEndOfTask})
		case p.askers == 0 && now.Sub(p.last) >= forsaken:
			late = append(late, lapsed{item, protocol.ConfirmationWithdrawn, "whoever asked"})
		case !now.Before(p.until):
			late = append(late, lapsed{item, protocol.ConfirmationExpired, "nobody in time"})
		default:
			soonest(p.until)
			if p.askers == 0 {
				soonest(p.last.Add(forsaken))
			}
		}
	}
	c.heard = pending
	return late, next, c.moved
}

// Run follows the stream until ctx ends: it keeps the confirmations, denies
// what nobody answered in time, and shelves the newest entries for all readers.
func (s *Server) Run(ctx context.Context) error {
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		ended <- s.followStream(ctx)
	}()
	s.expire(ctx)
	return <-ended
}

func (s *Server) followStream(ctx context.Context) error {
	known, after := s.hub.Approvals()
	s.confirmations.begin(known)
	follower := s.follow(after, "")
	for {
		e, err := follower.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow the stream: %w", err)
		}
		s.confirmations.apply(e)
		s.shelf.push(e)
	}
}

func (s *Server) expire(ctx context.Context) {
	const between = time.Second // after an answer that could not be stored
	for ctx.Err() == nil {
		late, next, moved := s.confirmations.due(time.Now())
		for _, item := range late {
			err := s.decide(ctx, item.Confirmation, protocol.Verdict{State: item.state, By: item.why})
			if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate && ctx.Err() == nil {
				s.options.Log.Warn().Err(err).Str("confirmation", item.ID).Msg("deadline not recorded")
			}
		}
		if len(late) > 0 {
			next = time.Now().Add(between)
		}
		wait := time.Hour
		if !next.IsZero() {
			wait = time.Until(next)
		}
		timer := time.NewTimer(wait)
		select {
		case <-moved:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// decide writes the one answer of a confirmation.
func (s *Server) decide(ctx context.Context, item protocol.Confirmation, v protocol.Verdict) error {
	_, err := s.hub.Submit(ctx, protocol.Accepted{Message: item.Answer(v), Task: item.Task, Session: item.Session})
	return err
}
