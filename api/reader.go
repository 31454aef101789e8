package api

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"orchestrator-cc/protocol"
)

// reader is somebody who looks on: he gets the entries in their order and,
// between them, how the answers go on that are being written. Of those he gets
// the difference to what he got last, so a slow one skips some and lacks nothing.
type reader struct {
	server *Server
	caller caller
	tail   *tail
	got    map[string]protocol.Writing // by agent
	at     time.Time                   // when he last looked for parts
}

// partsEvery bounds how often one reader gets parts.
const partsEvery = 100 * time.Millisecond

func (s *Server) reader(c caller, after uint64, task string) *reader {
	// What was missed comes first.
	return &reader{server: s, caller: c, tail: s.tail(after, task), at: time.Now()}
}

// next waits for the next entry that the caller may see or, where those go on
// first, for parts of answers, for as long as he is let in.
func (r *reader) next(ctx context.Context) (*item, []protocol.Part, error) {
	for {
		it, parts, err := r.either(ctx)
		switch {
		case err != nil:
			return nil, nil, err
		case !r.server.valid(r.caller):
			return nil, nil, errKeyGone
		case it != nil && r.server.visible(r.caller, it.entry), len(parts) > 0:
			return it, parts, nil
		}
	}
}

// either waits for an entry or for parts. Entries never wait, and parts not
// longer than it takes to bound them; it may return neither.
func (r *reader) either(ctx context.Context) (*item, []protocol.Part, error) {
	if due := r.at.Add(partsEvery); time.Now().Before(due) {
		wait, cancel := context.WithDeadline(ctx, due)
		defer cancel()
		it, err := r.tail.next(wait, nil)
		if err != nil && ctx.Err() == nil && wait.Err() != nil {
			err = nil
		}
		return it, nil, err
	}
	parts, changed := r.parts()
	if len(parts) > 0 {
		return nil, parts, nil
	}
	it, err := r.tail.next(ctx, changed)
	return it, nil, err
}

// parts are how the answers went on that the caller may read, and a channel
// that closes when there is more.
func (r *reader) parts() (parts []protocol.Part, changed <-chan struct{}) {
	open, changed := r.server.hub.Writings()
	for _, w := range open {
		if !r.reads(w) {
			continue
		}
		part := w.Since(r.got[w.Agent])
		if part.Text == "" && w.Text == r.got[w.Agent].Text {
			continue
		}
		if r.got == nil {
			r.got = map[string]protocol.Writing{}
		}
		r.got[w.Agent] = w
		parts = append(parts, part)
	}
	r.at = time.Now()
	return parts, changed
}

// reads tells whether a writing is of what the reader follows, and on his side
// of the wall.
func (r *reader) reads(w protocol.Writing) bool {
	if r.tail.task != "" && r.tail.task != w.Task {
		return false
	}
	if r.caller.oversees() {
		return true
	}
	session, ok := r.server.sessions.ofTask(w.Task)
	return ok && session != "" && r.caller.sees(session)
}

// partEvents are parts as server-sent events. They have no id: whoever comes
// back is told by the last entry he saw.
func partEvents(parts []protocol.Part) (events []byte, err error) {
	for _, p := range parts {
		data, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encode a part of %s: %w", p.TaskID, err)
		}
		events = fmt.Appendf(events, "event: %s\ndata: %s\n\n", partEvent, data)
	}
	return events, nil
}

// partEvent is the name of a part among server-sent events; the others are
// kinds of entries.
const partEvent = "part"
