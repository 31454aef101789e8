package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator-cc/protocol"
)

const (
	// shallow is how many lines above the screen a look takes in. It holds
	// most answers, and costs the server next to nothing.
	shallow = 200
	// hush is the quiet after output in which a frame is no longer torn.
	hush = 40 * time.Millisecond
)

// restless is how often a pane may change between the look and the paste. A
// program whose cursor never rests is typed to all the same.
const restless = 20

// turn is one exchange under way. It runs on the goroutine that owns the agent.
type turn struct {
	*Agent
	req     Request
	ours    prompt
	record  Recorder
	timeout time.Duration
	limit   time.Duration
	began   time.Time
	life    time.Time // of the last sign of life

	seenAt   Screen   // the screen when it was ready for the prompt
	before   view     // what it said
	base     []string // and its lines
	kept     []string // those that stay when the program goes on
	seen     bool     // the prompt's echo was seen
	recorded protocol.StepName
	partial  string
	words    words
	sources  []string  // files that the program has read
	quiet    bool      // output was seen and has ended, so that a look is no torn frame
	accepted bool      // by the channel
	stated   wall      // what the program waits for by itself, as it said
	waits    Waits     // and as it is known
	excused  time.Time // when the wait was last seen, while its time does not count
	forgot   bool      // the program has begun a new conversation for this request
	renewing bool      // it is being started again for that
	startBy  time.Time // until when that may take it
	report   *protocol.Report
}

// exchange carries one attempt from its body to its answer.
func (a *Agent) exchange(ctx context.Context, r Request, record Recorder) (Answer, error) {
	var ours prompt
	if !r.Begun {
		var fault *protocol.Fault
		if ours, fault = newPrompt(r, a.opts.Engine); fault != nil {
			return Answer{}, &Failure{Code: fault.Code, Reason: fault.Error()}
		}
	}
	now := time.Now()
	t := &turn{
		Agent: a, req: r, ours: ours, record: record, began: now, life: now,
		timeout: a.opts.Timeout, limit: a.opts.HardLimit, recorded: protocol.Claimed,
	}
	if r.Timeout > 0 {
		t.timeout = r.Timeout
	}
	if r.HardLimit > 0 {
		t.limit = r.HardLimit
	}
	a.request(r.ID)
	if r.Begun {
		return t.follow(ctx)
	}
	if err := t.deliver(ctx); err != nil {
		return Answer{}, err
	}
	answer, err := t.await(ctx)
	answer.Sources = t.sources
	return answer, err
}

// deliver brings the prompt to the agent, from wherever it stands.
func (t *turn) deliver(ctx context.Context) error {
	if t.req.Resume != "" {
		return t.resume(ctx)
	}
	for n := 0; ; n++ {
		if err := t.ready(ctx); err != nil {
			return err
		}
		if n >= restless {
			t.seenAt = Screen{}
		}
		if t.req.Forget && !t.forgot {
			if err := t.forget(ctx); err != nil && !errors.Is(err, ErrMoved) {
				return err
			}
			continue
		}
		if err := t.paste(ctx); err == nil {
			return t.submit(ctx)
		} else if !errors.Is(err, ErrMoved) {
			return err
		}
	}
}

// steps are what a turn goes through, in order; the first is the caller's.
func steps() []protocol.StepName {
	return []protocol.StepName{protocol.Claimed, protocol.Typed, protocol.Submitted, protocol.Taken}
}

// reached says that a step is written down.
func (t *turn) reached(step protocol.StepName) bool {
	return slices.Index(steps(), t.recorded) >= slices.Index(steps(), step)
}

// reach writes down every step up to this one that is not yet written.
func (t *turn) reach(step protocol.StepName, evidence string) error {
	for _, s := range steps()[:slices.Index(steps(), step)+1] {
		if t.reached(s) {
			continue
		}
		if err := t.record(s, evidence); err != nil {
			return fmt.Errorf("record that %s is %s: %w", t.req.ID, s, err)
		}
		t.recorded = s
	}
	return nil
}

// rest waits for a wake-up, for at most d, and says whether there was one. An
// interrupt and a new terminal end the turn.
func (t *turn) rest(ctx context.Context, d time.Duration) (bool, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-t.term.Output():
		t.eye.output = time.Now()
		return true, nil
	case <-t.pokes:
		return true, nil
	case k := <-t.answers:
		k.done <- t.answer(k, t.ours)
		return true, nil
	case h := <-t.halts:
		return false, t.cut(ctx, h)
	case term := <-t.fresh:
		t.adopt(term)
		if t.renewing {
			t.renewing = false
			return true, nil
		}
		f := failure(protocol.CodeAgentDied, true, "its program was started again")
		f.Partial = t.partial
		return false, f
	case <-timer.C:
		return false, nil
	}
}

// attend waits until the screen is worth a look: after output once the pane is
// quiet, and after most at the latest.
func (t *turn) attend(ctx context.Context, most time.Duration) error {
	t.quiet = false
	woken, err := t.rest(ctx, most)
	t.listen()
	end := time.Now().Add(max(t.opts.Tick, hush))
	for woken && err == nil && t.report == nil && time.Now().Before(end) {
		woken, err = t.rest(ctx, hush)
		t.quiet = !woken
		t.listen()
	}
	return err
}

// printed says that the pane printed something while it was being looked at.
func (t *turn) printed() bool {
	select {
	case <-t.term.Output():
		t.eye.output = time.Now()
		return true
	default:
		return false
	}
}

// listen takes in what the channel says about this turn.
func (t *turn) listen() {
	for _, r := range t.hear() {
		if r.Req != t.req.ID {
			continue
		}
		t.life = time.Now()
		t.note(r)
	}
}

func (t *turn) note(r protocol.Report) {
	t.accepted = t.accepted || r.Event != protocol.ReportReady && r.Event != protocol.ReportUsage
	switch r.Event {
	case protocol.ReportPart:
		t.stated = wall{}
		t.hearPart(r)
	case protocol.ReportSource:
		t.sources = append(t.sources, r.Text)
	case protocol.ReportWaits:
		t.stated = wall{text: r.Text, until: r.Until}
	case protocol.ReportAnswer, protocol.ReportFailed, protocol.ReportWall:
		t.report = &r
	}
}

// see takes a look and keeps account of signs of life. A pane that cannot be
// read for a while is no reason to give up, one that is gone is.
func (t *turn) see(ctx context.Context, history int) (Screen, view, error) {
	was := t.eye.changed
	for {
		s, err := t.look(ctx, history)
		if err == nil {
			if t.eye.changed != was {
				t.life = t.eye.changed
			}
			return s, t.opts.Engine.read(s, t.ours), nil
		}
		if ctx.Err() != nil {
			return Screen{}, view{}, context.Cause(ctx)
		}
		if errors.Is(err, ErrGone) {
			return Screen{}, view{}, t.lost(err)
		}
		t.opts.Log.Warn().Err(err).Msg("screen cannot be read")
		if f := t.overdue(time.Now()); f != nil {
			f.Reason += ": " + err.Error()
			return Screen{}, view{}, f
		}
		if _, err := t.rest(ctx, t.opts.Tick); err != nil {
			return Screen{}, view{}, err
		}
	}
}

// lost is the end of a turn whose pane has gone, and its process with it.
func (t *turn) lost(err error) *Failure {
	f := failure(protocol.CodeAgentDied, true, "its pane is gone: %v", err)
	f.Partial = t.partial
	t.set(died, f.Reason, Screen{})
	return f
}

// overdue says that the turn has taken too long.
func (t *turn) overdue(now time.Time) *Failure {
	var f *Failure
	switch {
	case now.Sub(t.began) > t.limit:
		f = failure(protocol.CodeTimeout, false, "no answer within the limit of %s", t.limit)
	case now.Sub(t.life) > t.timeout:
		f = failure(protocol.CodeTimeout, false, "no answer, and no sign of life for %s", t.timeout)
	default:
		return nil
	}
	f.Partial = t.partial
	return f
}
