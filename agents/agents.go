// Package agents is one agent at one terminal: it types a prompt into the
// pane, proves that the agent has taken it, knows when the answer is complete
// and reads it, and says at any time what state the agent is in.
//
//	Exchange: clean -> wait until ready -> paste -> typed -> Enter, verified -> submitted
//	              -> the agent shows that it has it -> accepted -> a witness -> the answer
//
//	wake-ups   output of the pane, the engine's channel, a poke, and the tick
//	truth      the engine's channel, or the captured screen once it is quiet
//
// What makes the exchange hard to fool is identity: a request's id stands in
// its tag, the agent is asked to repeat it behind its marker, and the complete
// token never stands in the prompt.
//
// One goroutine, Run, owns an agent and is the only writer to its pane. A
// prompt is typed at most once for each attempt: whoever resumes an attempt
// looks at the pane's note and the channel's spool instead of typing again.
// When the process in the pane dies, the exchange ends with what was on the
// screen; when Run ends, the attempt stands as it was last recorded.
package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/protocol"
)

// What a terminal's errors mean, and what Exchange returns when nobody runs
// the agent any more.
var (
	ErrMoved   = errors.New("the pane has changed since it was looked at, nothing was typed")
	ErrRefused = errors.New("the pane refused the keys, nothing was typed")
	ErrGone    = errors.New("the pane is gone")
	ErrStopped = errors.New("the agent is no longer run")
)

// Terminal is the pane an agent lives in. Its errors match ErrRefused when
// provably nothing reached the pane, and ErrGone when the pane is not there.
type Terminal interface {
	// Paste types each part as a paste of its own and, in the same step,
	// notes the attempt on the pane; but with ErrMoved nothing, when the pane
	// is no longer as it was seen. A zero screen is none to compare with.
	Paste(ctx context.Context, seen Screen, note string, parts ...[]byte) error
	Press(ctx context.Context, keys ...string) error
	Capture(ctx context.Context, history int) (Screen, error)
	// Output wakes when the pane has printed something; wake-ups coalesce.
	Output() <-chan struct{}
}

// Screen is what a terminal shows. The fields stand in the order of the tmux
// room's own type, so that one converts to the other.
type Screen struct {
	Pane, Epoch, Note         string
	Dead                      bool
	ExitStatus, ExitSignal    int
	Alternate, CopyMode       bool
	Width, Height             int
	CursorX, CursorY          int
	HistorySize, HistoryLimit int
	Touched                   int64    // the second in which a person last pressed a key here, 0 where none is there
	Clients                   int      // people who look at the pane
	Lines                     []string // history and screen, wraps joined, oldest first
	Visible                   []string // the rows on the screen as they stand
}

// Options describe an agent.
type Options struct {
	Name        string
	Role        protocol.Role
	Marker      string
	MarkerLoose bool // another case and doubled blanks count as the marker too
	Engine      Engine
	Timeout     time.Duration // without a sign of life; 30 s
	HardLimit   time.Duration // of one exchange; 60 min
	AckTimeout  time.Duration // from Enter to acceptance; 30 s
	Spool       string        // the file of the engine's channel, "" for none
	Tick        time.Duration // how often the screen is read while an answer is awaited; 500 ms
	Log         zerolog.Logger
	// OnChange is told of every new state, reason or dialog, on the goroutine that
	// owns the agent: it must return soon and must not wait for the agent.
	OnChange func(Status)
	// Asks says that the program waits for a person's word on a tool call,
	// which is asked for outside its pane; nil: it never does.
	Asks func() bool
	// OnTyped is told, likewise, what a person typed into the pane as a task;
	// with an id, the program works on it already. The same report may come
	// again after a restart.
	OnTyped func(protocol.Report)
	// OnForget is told, likewise, before the program is made to forget its
	// conversation, so that a start after that does not go on with it.
	OnForget func() error
	// Restart asks, likewise, for the program to be ended and started again; the
	// new one comes by Replace. It hung, or was asked to forget.
	Restart func(hung bool)
	// OnUsage is told, likewise, what the program's models took. The same report
	// may come again after a restart.
	OnUsage func(protocol.Report)
	// OnWriting is told, likewise, how far the answer of a turn is written.
	OnWriting func(protocol.Writing)
}

// Status is what can be said about an agent now.
type Status struct {
	State        protocol.AgentState
	Reason       string
	Since        time.Time // of the state
	LastActivity time.Time
	Request      string // the id of the exchange under way
	Waits        Waits  // what the program at work waits for by itself
	Screen       string // what the person is to decide, while one is waited for, or what is not understood
	Drift        string // what is not as the engine describes, "" while all is
	Dialog       string // by which the dialog on that screen is known, see Answer
	// Asks are the tool calls about which the program asks in its pane, as far
	// as it tells: the confirmation by which each is allowed, "" for none.
	Asks []string
}

// Request is one prompt and how long its answer is waited for.
type Request struct {
	ID        string // the attempt's id on the screen: 6 to 8 small letters and digits
	From      string
	Body      string
	Timeout   time.Duration // 0 is the agent's own
	HardLimit time.Duration // 0 is the agent's own
	// Resume is the last step a hub that died has recorded for this attempt;
	// empty for a new one.
	Resume protocol.StepName
	// Begun marks a prompt that a person typed and the program works on: its
	// turn is followed, nothing is typed.
	Begun bool
	// Forget says that the program is to forget its conversation first.
	Forget bool
	// Evented marks a prompt whose acceptance nobody waits for.
	Evented bool
}

// The witnesses, strongest first.
const (
	ByChannel = "channel"
	ByToken   = "token"
	ByMarker  = "marker"
	ByExit    = "exit"
	byScreen  = "screen" // of acceptance only
)

// Answer is a complete answer.
type Answer struct {
	Text      string   // with the marker, without the request's id
	Evidence  string   // the witness that decided
	Truncated bool     // the terminal no longer had all of it
	Marked    bool     // the marker stands in the text
	Sources   []string // the files it rests on, as the program told them
}

// Recorder writes down a step. The next one is not taken before it returns nil.
type Recorder func(step protocol.StepName, evidence string) error

// Failure is an attempt that ended without an answer.
type Failure struct {
	Code      protocol.Code
	Reason    string
	Partial   string // what there was of an answer
	Truncated bool
	// Again says that another attempt cannot do the work twice: nothing was
	// typed, or the process died, or the turn was interrupted and is over.
	Again bool
	// Until is when the quota or the rate limit ends that was hit, where the
	// program tells.
	Until time.Time
}

func (f *Failure) Error() string { return f.Reason }

// Unwrap shows the failure as a fault, so that its code is found in a chain.
func (f *Failure) Unwrap() error { return &protocol.Fault{Code: f.Code, Message: f.Reason} }

func failure(code protocol.Code, again bool, format string, args ...any) *Failure {
	return &Failure{Code: code, Again: again, Reason: fmt.Sprintf(format, args...)}
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&o.Timeout, 30*time.Second)
	set(&o.HardLimit, time.Hour)
	set(&o.AckTimeout, 30*time.Second)
	set(&o.Tick, 500*time.Millisecond)
	o.Engine = o.Engine.withDefaults()
	if o.OnChange == nil {
		o.OnChange = func(Status) {}
	}
	if o.Restart == nil {
		o.Restart = func(bool) {}
	}
	if o.OnForget == nil {
		o.OnForget = func() error { return nil }
	}
	if o.OnWriting == nil {
		o.OnWriting = func(protocol.Writing) {}
	}
	if o.Asks == nil {
		o.Asks = func() bool { return false }
	}
	return o
}
