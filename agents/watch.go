package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

const (
	// alive is how long after the last output a sign of work is believed: a
	// live spinner keeps printing, one that a redraw left behind does not.
	alive = 1500 * time.Millisecond
	// restful is how long a screen without patterns must be still to be ready.
	// An empty one says that the program has hardly started.
	restful      = time.Second
	emptyRestful = 5 * time.Second
	// outspoken is how long the channel's word that a turn runs stands against
	// a screen that is ready and still: an interrupted turn ends without a word.
	outspoken = 3 * time.Second
	// idleNet is how often an idle pane is read without a wake-up. Nothing
	// depends on it, for a delivery reads the screen first.
	idleNet = 30 * time.Second
)

// eye is what the owner of a pane remembers between two looks at it.
type eye struct {
	spool     spool
	open      bool      // a prompt was typed and its turn has not been seen to end
	busy      bool      // the channel's last word is that a turn runs
	spoke     bool      // the channel has said something
	spokeAt   time.Time // when it was first heard
	greeted   int       // how often the program has said there that it begins
	began     time.Time // when this process was first watched
	rows      string    // what was on the screen at the last look
	cursor    [2]int
	changed   time.Time // when the screen last differed
	output    time.Time // when the pane last printed
	alternate bool
	usual     string   // what the composer says while nobody types
	written   string   // what a person was last seen to have written there
	homely    bool     // the cursor rests at the composer's beginning while nobody types
	mute      bool     // the program showed no echo of its last prompt
	unsaid    bool     // its word that it has started was waited for in vain
	answered  bool     // a turn's end was seen on its screen
	repeats   bool     // this program has given a request's id back
	asks      []string // see Status.Asks
	troubled  time.Time
}

// look reads the screen. On the alternate screen what tmux keeps above it
// belongs to another screen and is left out.
func (a *Agent) look(ctx context.Context, history int) (Screen, error) {
	if a.eye.alternate {
		history = 0
	}
	s, err := a.term.Capture(ctx, history)
	if err == nil && s.Alternate && history > 0 {
		s, err = a.term.Capture(ctx, 0)
	}
	if err != nil {
		return Screen{}, err
	}
	a.eye.alternate = s.Alternate
	s.Lines = a.opts.Engine.talk(s)
	if s.Dead {
		s.Lines = withoutObituary(s.Lines)
	}
	rows, cursor := strings.Join(s.Visible, "\n"), [2]int{s.CursorX, s.CursorY}
	if rows != a.eye.rows || cursor != a.eye.cursor {
		now := time.Now()
		a.eye.rows, a.eye.cursor, a.eye.changed = rows, cursor, now
		a.active(now)
	}
	return s, nil
}

// withoutObituary drops the line that tmux writes into a dead pane.
func withoutObituary(lines []string) []string {
	last := lastText(lines)
	if last >= 0 && strings.HasPrefix(lines[last], "Pane is dead") {
		return lines[:last]
	}
	return lines
}

// hear reads the channel and remembers whether a turn runs.
func (a *Agent) hear() []protocol.Report {
	news, err := a.eye.spool.news()
	if err != nil {
		a.opts.Log.Warn().Err(err).Msg("channel cannot be read")
	}
	for _, r := range news {
		if !a.eye.spoke {
			a.eye.spoke, a.eye.spokeAt = true, time.Now()
		}
		if r.Event == protocol.ReportReady {
			a.eye.greeted++
		}
		switch r.Event {
		case protocol.ReportTyped:
			if a.opts.OnTyped != nil {
				a.opts.OnTyped(r)
			}
			if r.Req == "" {
				continue
			}
			a.eye.asks = nil
		case protocol.ReportUsage:
			if a.opts.OnUsage != nil {
				a.opts.OnUsage(r)
			}
			continue
		case protocol.ReportAsking:
			a.eye.asks = append(a.eye.asks, r.Text)
			continue
		case protocol.ReportDecided:
			a.eye.asks = nil
			continue
		case protocol.ReportProgress, protocol.ReportPart, protocol.ReportSource:
		default:
			a.eye.asks = nil
		}
		switch r.Event {
		case protocol.ReportTyped, protocol.ReportAccepted, protocol.ReportProgress, protocol.ReportPart, protocol.ReportWaits:
			a.eye.busy = true
		default:
			a.eye.busy = false
		}
	}
	if len(news) > 0 {
		a.active(time.Now())
	}
	return news
}

// stillFor is how long nothing has happened on the screen.
func (e eye) stillFor(now time.Time) time.Duration {
	latest := e.began
	for _, t := range []time.Time{e.changed, e.output} {
		if t.After(latest) {
			latest = t
		}
	}
	return now.Sub(latest)
}

func (e eye) restful() time.Duration {
	if strings.TrimSpace(e.rows) == "" {
		return emptyRestful
	}
	return restful
}

// judgeScreen says what a screen means for the agent's state, and why.
func (a *Agent) judgeScreen(s Screen, v view, now time.Time) (observation, string) {
	still := a.eye.stillFor(now)
	e := a.opts.Engine
	met, why := e.obstacle(s, v)
	switch {
	case s.Dead:
		return died, exitReason(s)
	case v.dialog:
		return met, why
	case v.busy && still < alive, a.eye.busy && still < outspoken:
		return working, ""
	case met != unclear:
		return met, why
	case a.drafted(v):
		return occupied, "somebody's text stands in the composer; finish or clear it in its pane"
	case v.ready && e.Greets && !a.eye.spoke && !a.mute(now):
		// It will say on its channel that it has started; some draw their
		// composer long before they take a prompt.
		return unclear, ""
	case v.ready && a.Status().State == protocol.Starting && e.Settle > 0 && still < restful:
		// The first frame of some programs is covered by a dialog at once, or
		// by the conversation they take up: what is typed until then is lost.
		return unclear, ""
	case v.ready:
		return ready, ""
	case len(e.Ready) > 0:
		return unclear, ""
	case e.Channel && a.eye.spoke && !a.eye.busy, still >= a.eye.restful():
		return ready, ""
	}
	return unclear, ""
}

// drafted says that a person is writing. A hint that the program shows in an
// empty composer looks the same; the cursor, or its being there from the
// start, tells it apart.
func (a *Agent) drafted(v view) bool {
	a.eye.homely = a.eye.homely || v.atStart
	switch {
	case v.behind && (v.draft != "" || a.opts.Engine.Boxed):
		a.eye.written = v.draft
		return true
	case v.below && a.eye.homely: // on a further line, or in a search
		return true
	case v.atStart: // a hint, or a draft to whose beginning the person has gone
		return v.draft != "" && a.eye.written != "" && strings.HasSuffix(a.eye.written, v.draft)
	}
	return v.draft != "" && v.draft != a.eye.usual
}

// observe looks at a pane with which nothing is going on and sets the state.
func (a *Agent) observe(ctx context.Context) {
	a.hear()
	s, err := a.look(ctx, 0)
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	if err != nil {
		a.misread(err, now)
		return
	}
	a.eye.troubled = time.Time{}
	v := a.opts.Engine.read(s, prompt{})
	if a.Status().State == protocol.Starting && v.ready && !v.behind {
		a.eye.usual = v.draft
	}
	o, why := a.judgeScreen(s, v, now)
	if drift := a.drift(now); o == unclear && drift != "" {
		o, why = trouble, drift
	}
	switch {
	case o == ready:
		a.hung = ""
	case o == unclear && a.blank(now):
		a.hung = fmt.Sprintf("it drew nothing within %s and was started again", now.Sub(a.eye.began).Round(time.Second))
		a.opts.Log.Warn().Str("why", a.hung).Msg("program hangs at its start")
		a.opts.Restart(true)
	}
	if why == "" && o == unclear {
		why = a.hung
	}
	a.set(o, why, s)
}

// misread notes that the screen could not be read: once is an accident.
func (a *Agent) misread(err error, now time.Time) {
	switch {
	case errors.Is(err, ErrGone):
		a.set(died, err.Error(), Screen{})
	case a.eye.troubled.IsZero():
		a.eye.troubled = now
	case now.Sub(a.eye.troubled) > 4*a.opts.Tick:
		a.set(trouble, err.Error(), Screen{})
	}
}

// pace is how soon an agent that nobody talks to is looked at again, after
// output and without any.
func (a *Agent) pace() (afterOutput, net time.Duration) {
	switch a.Status().State {
	case protocol.Starting:
		return 50 * time.Millisecond, min(a.opts.Tick, restful) // a screen that rests prints nothing
	case protocol.Idle, protocol.Dead:
		return a.opts.Tick / 2, idleNet
	}
	return a.opts.Tick / 2, 4 * a.opts.Tick
}

func exitReason(s Screen) string {
	if s.ExitSignal != 0 {
		return fmt.Sprintf("its program was ended by signal %d", s.ExitSignal)
	}
	return fmt.Sprintf("its program ended with status %d", s.ExitStatus)
}
