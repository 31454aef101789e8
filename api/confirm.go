package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// Confirmations are a fold over the stream, like everything else: a request
// and its answer are entries, so a hub that dies knows afterwards what is still
// open.
//
//	POST /confirmations -> entry "confirmation_request" -> pending
//	POST /confirmations/{id}, a policy or the deadline -> entry "confirmation_answer" -> decided
type confirmations struct {
	mu    sync.Mutex
	items map[string]*confirmation
	moved chan struct{} // closed and replaced whenever something changed
}

type confirmation struct {
	protocol.Confirmation
	decided chan struct{} // closed with the answer
}

// keepDecided is how long an answered confirmation can still be asked for.
const keepDecided = time.Hour

func newConfirmations() *confirmations {
	return &confirmations{items: map[string]*confirmation{}, moved: make(chan struct{})}
}

// request is a confirmation as it stands in the stream; the text is for people.
type confirmationRequest struct {
	protocol.Confirmation
	Text string `json:"text"`
}

// apply folds one entry. What agents wrote does not count, whatever they call
// it; of two answers the first counts.
func (c *confirmations) apply(e protocol.Entry) {
	if e.Message == nil {
		return
	}
	from := e.Message.Message.From()
	event, ok := e.Message.Message.Payload.(*protocol.EventPayload)
	if !ok || from != protocol.Hub && from != protocol.User {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch event.EventType {
	case protocol.EventConfirmationRequest:
		var asked confirmationRequest
		if json.Unmarshal(event.Data, &asked) != nil || from != protocol.Hub || c.items[asked.ID] != nil {
			return
		}
		asked.Task, asked.Session = e.Message.Task, e.Message.Session
		c.items[asked.ID] = &confirmation{Confirmation: asked.Confirmation, decided: make(chan struct{})}
	case protocol.EventConfirmationAnswer:
		var verdict protocol.Verdict
		if json.Unmarshal(event.Data, &verdict) != nil {
			return
		}
		item := c.items[verdict.ID]
		if item == nil || item.State != protocol.ConfirmationPending {
			return
		}
		item.State, item.By = verdict.State, verdict.By
		close(item.decided)
	default:
		return
	}
	c.forget(e.Time)
	close(c.moved)
	c.moved = make(chan struct{})
}

// forget is called with the lock held.
func (c *confirmations) forget(now time.Time) {
	for id, item := range c.items {
		if item.State != protocol.ConfirmationPending && now.Sub(item.Deadline) > keepDecided {
			delete(c.items, id)
		}
	}
}

// get waits a little for an id that was just written to the stream.
func (c *confirmations) get(ctx context.Context, id string) (*confirmation, error) {
	for {
		c.mu.Lock()
		item, moved := c.items[id], c.moved
		c.mu.Unlock()
		if item != nil {
			return item, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// list is what there is, oldest first.
func (c *confirmations) list() []protocol.Confirmation {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []protocol.Confirmation{}
	for _, item := range c.items {
		out = append(out, item.Confirmation)
	}
	slices.SortFunc(out, func(a, b protocol.Confirmation) int {
		if n := a.Since.Compare(b.Since); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// view is a copy of an item as it is now.
func (c *confirmations) view(item *confirmation) protocol.Confirmation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return item.Confirmation
}

// due lists what nobody answered in time, and when the next deadline is.
func (c *confirmations) due(now time.Time) (late []protocol.Confirmation, next time.Time, moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range c.items {
		switch {
		case item.State != protocol.ConfirmationPending:
		case !now.Before(item.Deadline):
			late = append(late, item.Confirmation)
		case next.IsZero() || item.Deadline.Before(next):
			next = item.Deadline
		}
	}
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
	follower := s.follow(0, "")
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
			err := s.decide(ctx, item, protocol.ConfirmationExpired, "nobody in time")
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

// decide writes the one answer of a confirmation. Its message has an id that
// follows from the confirmation's, so that the stream refuses a second one.
func (s *Server) decide(ctx context.Context, item protocol.Confirmation, state protocol.ConfirmationState, by string) error {
	from, to := protocol.FromHub(), protocol.FromUser()
	if state != protocol.ConfirmationExpired && by != byPolicy {
		from, to = to, from
	}
	data, err := json.Marshal(protocol.Verdict{
		ID: item.ID, State: state, By: by,
		Text: fmt.Sprintf("%s %s of %s, by %s", state, item.Tool, item.Agent, by),
	})
	if err != nil {
		return fmt.Errorf("word the answer: %w", err)
	}
	m := protocol.New(from, to, &protocol.EventPayload{EventType: protocol.EventConfirmationAnswer, Data: data})
	m.Header.MessageID = onceID("answer", item.ID)
	_, err = s.hub.Submit(ctx, protocol.Accepted{Message: m, Task: item.Task, Session: item.Session})
	return err
}
