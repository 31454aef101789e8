// Package hub joins the rooms. It is the single door for messages, keeps one
// worker for each agent, looks after the tmux session, and starts and stops
// everything in order.
//
//	Submit -> book (ledger + stream) -> worker of the agent -> agents.Agent -> pane
//	  ^                |                                           |
//	  '-- API          '-> clerk: what time alone makes due    answer -> book
//
// Everything the hub decides is an entry of the stream before it is done, so a
// hub that dies at any point is replaced by one that replays the stream and
// goes on. A reader of the stream that is slow delays nobody but itself.
package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"orchestrator-cc/bus"
	"orchestrator-cc/config"
	"orchestrator-cc/ledger"
	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

// Options is everything a hub needs; whoever builds it owns nothing of it
// afterwards but the stream, which the hub closes.
type Options struct {
	Config  config.Config
	Stream  *bus.Log
	Journal *logs.Journal
	Server  *tmux.Server
	HubPane tmux.PaneSpec // what runs in the session's hub window
	Seats   []Seat
	Secret  []byte // from which the panes' secrets are derived
	Deaths  int    // of the hubs before this one, where they were many in a row
	Health  protocol.Health
	Log     zerolog.Logger
}

// Hub runs one company. Make it with New, then Run it.
type Hub struct {
	o       Options
	book    *book
	workers map[string]*worker
	order   []string // agents' names by pane
	keeper  *keeper
	redraw  chan struct{} // an agent's state changed: the borders are stale
	slate   *slate
	bell    *bell
	stop    context.CancelCauseFunc
	stopped chan struct{}
}

// errStopped ends Run when somebody asked for it.
var errStopped = errors.New("stopped on request")

// New replays the stream and prepares everything, but starts nothing.
func New(o Options) (*Hub, error) {
	l := ledger.New(rules(o.Config))
	b, err := openBook(o.Stream, l, o.Log)
	if err != nil {
		return nil, fmt.Errorf("replay the stream: %w", err)
	}
	h := &Hub{o: o, book: b, workers: map[string]*worker{}, redraw: make(chan struct{}, 1), slate: newSlate(), bell: newBell(), stopped: make(chan struct{})}
	for _, seat := range o.Seats {
		w := newWorker(b, seat, h.redraw, o.Log)
		w.submit, w.slate, w.bell = h.Submit, h.slate, h.bell
		h.workers[seat.Name] = w
		h.order = append(h.order, seat.Name)
	}
	h.keeper = newKeeper(o, h.workers)
	for _, w := range h.workers {
		w.again = h.keeper.again
	}
	return h, nil
}

// Run starts the company, and beside it the given services, which end with it.
// It returns when ctx ends, when Stop is called, or when a part breaks beyond
// repair. It leaves the tmux server running unless it was stopped by Stop.
func (h *Hub) Run(ctx context.Context, services ...func(context.Context) error) error {
	defer close(h.stopped)
	ctx, h.stop = context.WithCancelCause(ctx)
	defer h.stop(nil)
	start := protocol.Entry{Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "started", PID: h.o.Health.PID, Version: h.o.Health.Version}}

	group, parts := errgroup.WithContext(ctx)
	group.Go(func() error { return h.book.follow(parts) })
	if err := h.book.append(parts, start); err != nil {
		h.o.Log.Error().Err(err).Msg("start not recorded")
	}
	group.Go(func() error { return h.o.Journal.Run(parts, h.journalSource(parts)) })
	group.Go(func() error { return h.keeper.run(parts) })
	group.Go(func() error { return h.clerk(parts) })
	group.Go(func() error { return h.decorate(parts) })
	for _, w := range h.workers {
		group.Go(func() error { return w.run(parts) })
	}
	for _, serve := range services {
		group.Go(func() error { return serve(parts) })
	}
	err := group.Wait()
	if errors.Is(context.Cause(ctx), errStopped) {
		return h.shutdown()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// journalSource is the stream from where the journal stands. A journal that is
// ahead belongs to a stream which was removed: this one is written from its
// beginning. What was trimmed before it was written is gone.
func (h *Hub) journalSource(ctx context.Context) logs.Source {
	if h.o.Journal.LastSeq() > h.o.Stream.Last() {
		h.o.Journal.Rewind(0)
	}
	after := h.o.Journal.LastSeq()
	if first := h.o.Stream.First(); after > 0 && after+1 < first {
		after = first - 1
	}
	return h.o.Stream.Follow(ctx, after)
}

// Stop asks Run to end everything: the agents, the tmux session, the hub.
func (h *Hub) Stop() {
	if h.stop != nil {
		h.stop(errStopped)
	}
}

// shutdown runs after every goroutine has ended, so nobody types any more.
func (h *Hub) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	end := protocol.Entry{Time: time.Now().UTC(), Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "stopped", PID: h.o.Health.PID}}
	if _, err := h.o.Stream.Append(ctx, end); err != nil {
		h.o.Log.Error().Err(err).Msg("stop not recorded")
	}
	if err := h.o.Server.Shutdown(ctx); err != nil {
		return fmt.Errorf("shut the tmux session down: %w", err)
	}
	return nil
}

func rules(c config.Config) ledger.Rules {
	r := ledger.Rules{
		Retry: ledger.Retry{Max: c.Retry.Max, Initial: c.Retry.Initial, MaxDelay: c.Retry.MaxDelay, Multiplier: c.Retry.Multiplier, Jitter: c.Retry.Jitter},
		Limits: ledger.Limits{Turns: c.Limits.Turns, Depth: c.Limits.Depth, OpenTasks: c.Limits.OpenTasks,
			Tokens: ledger.TokenLimits{Task: int64(c.Limits.Tokens.Task), Agent: int64(c.Limits.Tokens.Agent), Day: int64(c.Limits.Tokens.Day)}},
		Matrix: protocol.DefaultMatrix(),
	}
	for _, a := range c.Agents {
		r.Agents = append(r.Agents, ledger.Agent{Name: a.Name, Role: a.Role, Marker: a.Marker, Tokens: int64(a.Tokens)})
	}
	if len(c.Permissions) > 0 {
		r.Matrix = c.Permissions
	}
	return r
}
