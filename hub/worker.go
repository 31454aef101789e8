package hub

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"orchestrator-cc/agents"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

// worker serves one agent: it is the only one that gives it anything to do.
type worker struct {
	Seat
	book   *book
	log    zerolog.Logger
	seated chan struct{} // closed once the agent has a pane
	moved  chan struct{} // the agent's state changed; holds at most one notice
	asked  chan struct{} // the same notice, for whoever answers dialogs
	typed  chan struct{} // something was typed; holds at most one notice
	usage  usage         // what its models took, and nobody has written down yet
	submit func(context.Context, protocol.Accepted) (protocol.Entry, error)
	redraw chan<- struct{} // the same notice, for the borders
	slate  *slate          // where what is being written lies open
	bell   *bell           // rung for whoever looks on
	again  func(string)    // ends an agent's program and starts it again

	mu       sync.Mutex
	agent    *agents.Agent
	pane     tmux.PaneInfo
	restarts int
	recorded protocol.AgentState     // the state last written to the stream
	version  string                  // of the program, asked for once it is not what was described
	dead     bool                    // the program is not running
	death    death                   // the last one
	current  *ledger.Delivery        // what is being delivered
	cut      context.CancelCauseFunc // ends that exchange
	attempt  string                  // the newest one, also when it has ended
	briefed  string                  // the process that has its brief, or will
	rebriefs string                  // the message for whose session it was briefed last
	renewing bool                    // its program is being started again on purpose
	texts    []protocol.Report       // what people typed into the pane and nobody has taken yet
}

// errCancelled is why an exchange is cut short.
var errCancelled = errors.New("cancelled")

func newWorker(b *book, s Seat, redraw chan<- struct{}, log zerolog.Logger) *worker {
	return &worker{
		Seat: s, book: b, log: log.With().Str("agent", s.Name).Logger(),
		seated: make(chan struct{}), moved: make(chan struct{}, 1), asked: make(chan struct{}, 1), redraw: redraw, typed: make(chan struct{}, 1),
		usage: newUsage(),
	}
}

// place seats the agent at a pane, or at its next one after a restart.
func (w *worker) place(pane *tmux.Pane, info tmux.PaneInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pane, w.dead = info, false
	if w.agent != nil {
		if !w.renewing {
			w.restarts++
		}
		w.renewing = false
		w.agent.Replace(terminal{pane})
		return
	}
	w.agent = agents.New(terminal{pane}, agents.Options{
		Name: w.Name, Role: w.Role, Marker: w.Marker, MarkerLoose: w.MarkerLoose,
		Engine: w.Engine, Timeout: w.Timeout, HardLimit: w.HardLimit, Spool: w.Spool,
		Asks: w.asks, Log: w.log, OnChange: w.onChange, OnTyped: w.onTyped, OnUsage: w.usage.add, OnWriting: w.onWriting, OnForget: w.BeginAnew, Restart: w.startAgain,
	})
	close(w.seated)
}

// startAgain has the agent's program ended and started again. One that hangs is
// counted as one that died.
func (w *worker) startAgain(hung bool) {
	w.mu.Lock()
	w.renewing = !hung
	w.mu.Unlock()
	w.again(w.Name)
}

// died notes that the agent's program is gone until it is placed again.
func (w *worker) died(d death) {
	w.mu.Lock()
	w.dead, w.death = true, d
	w.mu.Unlock()
	w.agent.Poke() // a dying pane prints nothing that would wake its agent
	w.onChange(agents.Status{})
}

// found says that the agent's pane is the one it had, and lives: that it was
// gone tmux only said.
func (w *worker) found() {
	w.mu.Lock()
	dead := w.dead
	if dead {
		w.dead, w.death = false, death{}
	}
	w.mu.Unlock()
	if dead {
		w.onChange(agents.Status{})
	}
}

// poke makes the agent look, once it has a pane.
func (w *worker) poke() {
	notify(w.usage.stirred)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.agent != nil {
		w.agent.Poke()
	}
}

// onChange wakes the loop. It is called by other goroutines, which must not
// wait for it.
func (w *worker) onChange(agents.Status) {
	notify(w.moved)
	notify(w.redraw)
	notify(w.asked)
	notify(w.usage.stirred)
	w.bell.ring()
}

// run delivers until ctx ends. What a dead hub left under way comes first.
func (w *worker) run(ctx context.Context) error {
	select {
	case <-w.seated:
	case <-ctx.Done():
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ignoreEnd(ctx, w.agent.Run(ctx)) })
	group.Go(func() error { return ignoreEnd(ctx, w.loop(ctx)) })
	group.Go(func() error { return w.takeTyped(ctx) })
	group.Go(func() error { return w.answerDialogs(ctx) })
	group.Go(func() error { return ignoreEnd(ctx, w.takeUsage(ctx)) })
	return group.Wait()
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (w *worker) loop(ctx context.Context) error {
	for _, d := range w.underWay() {
		if err := w.exchange(ctx, d, d.Step); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		changed := w.book.wait()
		w.recordState(ctx)
		w.brief(ctx)
		w.askVersion(ctx)
		d, wake, err := w.claim(ctx)
		if err != nil {
			return err
		}
		if d != nil {
			if err := w.exchange(ctx, *d, ""); err != nil {
				return err
			}
			w.trimSpool()
			continue
		}
		sleep(ctx, wake, changed, w.moved)
	}
	return ctx.Err()
}

// trimSpool empties a spool that has grown large. It is called between two
// exchanges, when everything the program said is in the stream already; the
// program appends, so it goes on at the file's new end.
func (w *worker) trimSpool() {
	const large = 4 << 20
	info, err := os.Stat(w.Spool)
	if w.Spool == "" || err != nil || info.Size() < large || w.owesTyped() {
		return
	}
	if err := os.Truncate(w.Spool, 0); err != nil {
		w.log.Warn().Err(err).Msg("spool not trimmed")
	}
}

func (w *worker) underWay() (mine []ledger.Delivery) {
	w.book.read(func(l *ledger.Ledger) {
		for _, d := range l.UnderWay() {
			if d.Agent == w.Name {
				mine = append(mine, d)
			}
		}
	})
	return mine
}

// claim takes the next delivery if the agent is free for one, or has begun it
// by itself.
func (w *worker) claim(ctx context.Context) (*ledger.Delivery, time.Time, error) {
	free := !w.isDead() && w.agent.Status().State == protocol.Idle
	now := time.Now().UTC()
	var (
		found *ledger.Delivery
		wake  time.Time
		entry protocol.Entry
	)
	w.book.read(func(l *ledger.Ledger) {
		plan := l.Next(now)
		wake = plan.Wake
		for _, d := range plan.Deliver {
			if d.Agent == w.Name && (free || d.Begun) {
				if !d.Begun {
					d.Req = protocol.NewReq()
				}
				found, entry = &d, l.Claim(d, d.Req, w.epoch(), now)
			}
		}
	})
	if found == nil {
		return nil, wake, nil
	}
	if w.rebrief(ctx, *found) {
		return nil, now, nil // the brief comes before it
	}
	if err := w.book.persist(ctx, entry); err != nil {
		return nil, wake, err
	}
	// Somebody may have cancelled it before the claim was on disk.
	for _, d := range w.underWay() {
		if d.Req == found.Req {
			return found, wake, nil
		}
	}
	return nil, wake, nil
}

// isDead tells of a death that the agent itself may not have noticed yet.
func (w *worker) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

func (w *worker) epoch() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pane.Epoch
}

// exchange carries one attempt to its end and writes down how it ended. It
// returns an error only when the hub itself is ending.
func (w *worker) exchange(ctx context.Context, d ledger.Delivery, resume protocol.StepName) error {
	turn, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	w.begin(&d, cut)
	defer w.begin(nil, nil)

	req := agents.Request{ID: d.Req, From: d.From, Body: d.Body, Timeout: d.Timeout, Resume: resume, Begun: d.Begun, Evented: d.Type == protocol.Event && !d.First, Forget: d.Forget && w.Forgets}
	answer, err := w.agent.Exchange(turn, req, func(step protocol.StepName, evidence string) error {
		return w.book.write(ctx, func(l *ledger.Ledger, now time.Time) []protocol.Entry {
			return l.Mark(d, step, evidence, now)
		})
	})
	w.slate.clear(w.Name) // before its end is told, so that no part follows it
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch cause := context.Cause(turn); {
	case err == nil:
	case errors.Is(cause, errCancelled):
		err = w.interrupt(ctx)
	case errors.Is(cause, errTryNow):
		err = w.tryNow(ctx)
	}
	// What it took is known before its end is written, so that the end can tell.
	if err := w.recordUsage(ctx); err != nil {
		return err
	}
	if d.First && err == nil {
		w.hasBrief()
	}
	return w.book.write(ctx, func(l *ledger.Ledger, now time.Time) []protocol.Entry {
		if err == nil {
			return l.Settle(d, ledger.Answer{Text: answer.Text, Evidence: answer.Evidence, Truncated: answer.Truncated, Sources: w.sources(answer)}, now)
		}
		w.log.Info().Str("req", d.Req).Err(err).Msg("attempt ended without an answer")
		return l.Fail(d, failure(err), now)
	})
}

func (w *worker) begin(d *ledger.Delivery, cut context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current, w.cut = d, cut; d != nil {
		w.attempt = d.Req
	}
}

// stopExchange ends the attempt under way if it is this one.
func (w *worker) stopExchange(d ledger.Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil && w.current.Req == d.Req && w.cut != nil {
		w.cut(errCancelled)
	}
}

// stopping is how long an agent may take to stop its turn.
const stopping = 10 * time.Second

// interrupt stops the agent's turn and says how that went.
func (w *worker) interrupt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopping)
	defer cancel()
	w.withdraw(ctx)
	failure := &agents.Failure{Code: protocol.CodeCancelled, Reason: "cancelled"}
	if err := w.agent.Interrupt(ctx); err != nil {
		failure.Reason = "cancelled, but the agent does not stop: " + err.Error()
	}
	return failure
}

func failure(err error) ledger.Failure {
	var f *agents.Failure
	if errors.As(err, &f) {
		return ledger.Failure{Code: f.Code, Reason: f.Reason, Partial: f.Partial, Again: f.Again, Truncated: f.Truncated, Until: f.Until}
	}
	return ledger.Failure{Code: protocol.CodeInternal, Reason: err.Error()}
}
