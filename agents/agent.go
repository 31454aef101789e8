package agents

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// Agent is one agent at one terminal. Its methods may be called from any
// goroutine; all of them leave the work to Run.
type Agent struct {
	opts    Options
	marker  marker
	jobs    chan job
	halts   chan halt
	answers chan keys
	fresh   chan Terminal // the next terminal; a newer one replaces it
	pokes   chan struct{}
	ended   chan struct{}

	mu     sync.Mutex
	status Status

	// Only Run touches these.
	term Terminal
	eye  eye
	hung string // why its program was started again; "" once it is ready
}

type job struct {
	ctx    context.Context
	req    Request
	record Recorder
	done   chan outcome
}

type outcome struct {
	answer Answer
	err    error
}

type halt struct {
	ctx  context.Context
	done chan error
}

// New makes an agent that Run will run.
func New(t Terminal, o Options) *Agent {
	o = o.withDefaults()
	now := time.Now()
	return &Agent{
		opts: o, marker: newMarker(o.Marker, o.MarkerLoose), term: t,
		jobs: make(chan job), halts: make(chan halt), answers: make(chan keys), fresh: make(chan Terminal, 1),
		pokes: make(chan struct{}, 1), ended: make(chan struct{}),
		status: Status{State: protocol.Starting, Since: now},
		eye:    eye{spool: spool{path: o.Spool}, began: now},
	}
}

// Run owns the agent until ctx ends. While nothing is asked of the agent it
// watches the pane, so that its state is known.
func (a *Agent) Run(ctx context.Context) error {
	defer close(a.ended)
	a.observe(ctx)
	_, net := a.pace()
	timer := time.NewTimer(net)
	defer timer.Stop()
	pending := false // a look soon after output is due already
	for {
		afterOutput, _ := a.pace()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case j := <-a.jobs:
			a.serve(ctx, j)
		case h := <-a.halts:
			h.done <- a.halt(ctx, h.ctx)
		case k := <-a.answers:
			k.done <- a.answer(k, prompt{})
			a.observe(ctx)
		case t := <-a.fresh:
			a.adopt(t)
		case <-a.pokes:
			a.observe(ctx)
		case <-a.term.Output():
			a.eye.output = time.Now()
			if !pending {
				pending = true
				timer.Reset(afterOutput)
			}
			continue
		case <-timer.C:
			a.observe(ctx)
		}
		pending = false
		_, net := a.pace()
		timer.Reset(net)
	}
}

// Exchange gives the agent one prompt and returns its answer. An attempt that
// ends without one is a *Failure; any other error (the context's, the
// recorder's, ErrStopped) leaves the attempt where it was last recorded, to be
// resumed. Exchanges wait for each other.
func (a *Agent) Exchange(ctx context.Context, r Request, record Recorder) (Answer, error) {
	j := job{ctx: ctx, req: r, record: record, done: make(chan outcome, 1)}
	select {
	case a.jobs <- j:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	case <-a.ended:
		return Answer{}, ErrStopped
	}
	select {
	case out := <-j.done:
		return out.answer, out.err
	case <-a.ended:
		// The owner answers every job it has taken before it ends.
		select {
		case out := <-j.done:
			return out.answer, out.err
		default:
			return Answer{}, ErrStopped
		}
	}
}

// serve runs one exchange under both the caller's and the owner's context.
func (a *Agent) serve(ctx context.Context, j job) {
	both, cancel := context.WithCancelCause(j.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(ErrStopped) })()
	answer, err := a.exchange(both, j.req, j.record)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrStopped, ctx.Err())
	}
	a.request("")
	a.hold(Waits{})
	switch {
	case err == nil && a.flagged(ready) == "":
		a.set(ready, "", Screen{})
	case ctx.Err() == nil:
		a.observe(ctx)
	}
	j.done <- outcome{answer, err}
}

// Interrupt presses the engine's interrupt keys and waits until the agent is
// idle, or until ctx ends. An exchange under way ends as cancelled.
func (a *Agent) Interrupt(ctx context.Context) error {
	h := halt{ctx: ctx, done: make(chan error, 1)}
	select {
	case a.halts <- h:
	case <-ctx.Done():
		return ctx.Err()
	case <-a.ended:
		return ErrStopped
	}
	select {
	case err := <-h.done:
		return err
	case <-a.ended:
		return ErrStopped
	}
}

// Status is what is known about the agent now.
func (a *Agent) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// Replace hands the agent a new terminal, in which its program was started
// again. An exchange under way ends: its process has died.
func (a *Agent) Replace(t Terminal) {
	for {
		select {
		case a.fresh <- t:
			return
		case <-a.fresh:
		}
	}
}

// Poke makes the agent look at its channel and its screen at once.
func (a *Agent) Poke() {
	select {
	case a.pokes <- struct{}{}:
	default:
	}
}

func (a *Agent) adopt(t Terminal) {
	a.hear() // what a person typed before the program ended is not lost
	a.term = t
	a.hear() // the last words of the program before count, though its turn is over
	a.eye = eye{spool: a.eye.spool, began: time.Now()}
	a.eye.spool.skip()
	a.set(replaced, "", Screen{})
}

// excerptRows is enough to see a dialog whole.
const excerptRows = 15

// set moves the state and tells whoever listens.
func (a *Agent) set(o observation, reason string, s Screen) {
	a.mu.Lock()
	was := a.status
	a.status.State = next(was.State, o)
	a.status.Reason = reason
	if was.State == protocol.Dead && a.status.State == protocol.Dead && was.Reason != "" {
		a.status.Reason = was.Reason
	}
	if o != working {
		a.status.Waits = Waits{}
	}
	a.status.Drift = a.flagged(o)
	if a.status.State == protocol.Degraded {
		a.status.Drift = reason
	}
	if a.status.Reason == "" {
		a.status.Reason = a.status.Drift
	}
	switch {
	case a.status.State != protocol.Waiting && a.status.Drift == "", o == asking && s.Visible == nil:
		a.status.Screen = ""
	case s.Visible != nil:
		a.status.Screen = excerpt(s)
	}
	a.status.Dialog = ""
	if o == asking && s.Visible != nil {
		a.status.Dialog = dialogID(s)
	}
	a.status.Asks = slices.Clone(a.eye.asks)
	if a.status.State != was.State {
		a.status.Since = time.Now()
	}
	now := a.status
	a.mu.Unlock()
	if now.State != was.State || now.Reason != was.Reason || now.Dialog != was.Dialog || !slices.Equal(now.Asks, was.Asks) {
		a.opts.OnChange(now)
	}
}

func (a *Agent) active(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.LastActivity = at
}

func (a *Agent) request(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Request = id
}
