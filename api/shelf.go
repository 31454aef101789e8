package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orchestrator-cc/protocol"
)

// shelf keeps the newest entries of the stream, decoded and encoded once for
// however many readers there are. A reader that is further behind reads the
// stream itself until it has caught up; nobody waits for anybody.
type shelf struct {
	mu      sync.Mutex
	items   []*item
	size    int           // bytes that the items hold, about
	grown   chan struct{} // closed and replaced when an item comes
	running bool          // somebody feeds it
}

// mostShelved bounds the memory, and leastShelved keeps it worth while when
// entries are large.
const (
	mostShelved  = 8 << 20
	leastShelved = 16
)

// item is one entry with its encodings as an event: an owner's, and the one
// that is alike for every key that may see it at all.
type item struct {
	entry protocol.Entry

	mu     sync.Mutex
	events [2][]byte
}

func newShelf() *shelf { return &shelf{grown: make(chan struct{})} }

// push adds the next entry.
func (r *shelf) push(e protocol.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = append(r.items, &item{entry: e})
	r.size += weight(e)
	for r.size > mostShelved && len(r.items) > leastShelved {
		r.size -= weight(r.items[0].entry)
		r.items[0] = nil
		r.items = r.items[1:]
	}
	r.running = true
	close(r.grown)
	r.grown = make(chan struct{})
}

// weight guesses what an entry takes, encodings included.
func weight(e protocol.Entry) int {
	const frame = 2 << 10
	n := frame
	if e.Message != nil {
		n += 3 * len(e.Message.Message.Text())
	}
	if e.Step != nil {
		n += 3 * len(e.Step.Text)
	}
	return n
}

// after finds the first item behind a sequence number. covered is false where
// the shelf no longer, or not yet, knows what comes next.
func (r *shelf) after(seq uint64) (next *item, covered bool, grown <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running || len(r.items) == 0 || seq+1 < r.items[0].entry.Seq || seq > r.items[len(r.items)-1].entry.Seq {
		return nil, false, r.grown
	}
	i, _ := slices.BinarySearchFunc(r.items, seq+1, func(it *item, want uint64) int {
		switch {
		case it.entry.Seq < want:
			return -1
		case it.entry.Seq > want:
			return 1
		}
		return 0
	})
	if i == len(r.items) {
		return nil, true, r.grown
	}
	return r.items[i], true, r.grown
}

// tail reads the stream for one reader: from the shelf where it can.
type tail struct {
	server *Server
	last   uint64
	task   string   // only of this tree; "" = everything
	own    Follower // while the shelf does not cover it
}

func (s *Server) tail(after uint64, task string) *tail {
	return &tail{server: s, last: after, task: task}
}

// next waits for the reader's next entry. Where wake closes first it returns
// neither an entry nor an error.
func (t *tail) next(ctx context.Context, wake <-chan struct{}) (*item, error) {
	for {
		it, covered, grown := t.server.shelf.after(t.last)
		switch {
		case it != nil:
			t.own = nil
		case covered:
			t.own = nil
			select {
			case <-grown:
			case <-wake:
				return nil, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			continue
		default:
			e, err := t.behind(ctx, wake, grown)
			if errors.Is(err, errWoken) && closed(wake) {
				return nil, nil
			}
			if errors.Is(err, errWoken) {
				continue
			}
			if err != nil {
				return nil, err
			}
			it = &item{entry: e}
		}
		t.last = it.entry.Seq
		if t.task == "" || it.entry.Root() == t.task {
			return it, nil
		}
	}
}

// errWoken says that there may be something better to wait for.
var errWoken = errors.New("woken")

// behind reads the stream itself until the shelf grows, or wake closes.
func (t *tail) behind(ctx context.Context, wake, grown <-chan struct{}) (protocol.Entry, error) {
	if t.own == nil {
		t.own = t.server.follow(t.last, "")
	}
	wait, stop := context.WithCancelCause(ctx)
	var waking sync.WaitGroup
	waking.Go(func() {
		select {
		case <-wake:
		case <-grown:
		case <-wait.Done():
		}
		stop(errWoken)
	})
	e, err := t.own.Next(wait)
	woken := errors.Is(context.Cause(wait), errWoken)
	stop(nil)
	waking.Wait()
	if err == nil {
		return e, nil
	}
	t.own = nil // it may have taken an entry that it could not give
	if woken {
		return e, errWoken
	}
	return e, err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// entry reads one entry of the stream, unless that has forgotten it.
func (s *Server) entry(ctx context.Context, seq uint64) (protocol.Entry, bool) {
	if seq == 0 {
		return protocol.Entry{}, false
	}
	it, err := s.tail(seq-1, "").next(ctx, nil)
	if err != nil || it.entry.Seq != seq {
		return protocol.Entry{}, false
	}
	return it.entry, true
}

// event is the item as a server-sent event, as the caller may see it.
func (it *item) event(c caller) ([]byte, error) {
	kind := 0
	if c.key != nil && !c.oversees() {
		kind = 1
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.events[kind] == nil {
		e := it.entry
		if kind == 1 {
			e = c.veil(e)
		}
		data, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		it.events[kind] = fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data)
	}
	return it.events[kind], nil
}
