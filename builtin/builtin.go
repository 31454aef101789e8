// Package builtin holds the programs of ours that run inside panes. They need
// no model: an agent of the built-in engine is this binary itself.
//
//	keys and pastes -> composer -> prompt -> brain -> reply
//	                                  |                 |
//	                              spool: accepted    spool: answer, then the screen
//
// The program reports to its spool file before it prints, so the wake-up that
// the print causes finds the report there already, and an answer given while
// the hub was dead is still on disk when it comes back.
package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Options is what a pane program is told at its start.
type Options struct {
	Name   string
	Role   protocol.Role
	Marker string
	Spool  string // "" = none
	Brain  Brain
	About  string    // what the pane's first line says of the brain
	In     io.Reader // the terminal in raw mode
	Out    io.Writer
	Width  func() int // columns of the terminal now
}

// Brain turns a prompt into a reply. It must return when ctx ends.
type Brain interface {
	Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error)
}

// Meter is a brain that knows what its models took.
type Meter interface {
	// Spent tells what was taken since it was last asked, turns that failed
	// included.
	Spent() []protocol.Usage
}

// Scholar is a brain that knows on which files its reply rests.
type Scholar interface {
	// Sources tells those of the last reply, once.
	Sources() []string
}

// Author is a brain whose reply can be read while it is being written: it hands
// out each piece as soon as it has it, and all of them together are the reply,
// but for a marker at its end.
type Author interface {
	ReplyAloud(ctx context.Context, p protocol.Prompt, say, write func(string)) (string, error)
}

// replyAloud asks a brain for a reply, piece by piece where it can.
func replyAloud(ctx context.Context, b Brain, p protocol.Prompt, say, write func(string)) (string, error) {
	if author, ok := b.(Author); ok {
		return author.ReplyAloud(ctx, p, say, write)
	}
	return b.Reply(ctx, p, say)
}

// ErrQuit makes the program end with a failure, as a crash would.
var ErrQuit = errors.New("the brain asked to quit")

// Run serves prompts until the input ends or ctx does.
func Run(ctx context.Context, o Options) error {
	a := &agent{Options: o, screen: newScreen(o.Out, o.Width)}
	if o.Spool != "" {
		f, err := os.OpenFile(o.Spool, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open spool: %w", err)
		}
		defer f.Close()
		a.spool = f
	}
	return a.serve(ctx)
}

type agent struct {
	Options
	spool  *os.File
	screen *screen
}

// serve is the program's loop. One turn runs at a time; what is submitted
// meanwhile waits its turn, and an interrupt ends the running one.
func (a *agent) serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keys := make(chan key)
	go readKeys(ctx, a.In, keys)

	a.screen.open(a.Name, a.Role, a.About)
	defer a.screen.close()
	if err := a.report(protocol.ReportReady, "", ""); err != nil {
		return err
	}
	a.screen.compose()

	var (
		waiting []string
		ended   = make(chan error, 1)
		cancel  context.CancelCauseFunc
	)
	next := func() {
		if cancel != nil || len(waiting) == 0 {
			return
		}
		text := waiting[0]
		waiting = waiting[1:]
		var turn context.Context
		turn, cancel = context.WithCancelCause(ctx)
		go func() { ended <- a.turn(turn, protocol.ParsePrompt(text)) }()
	}
	for {
		select {
		case <-ctx.Done():
			if cancel != nil {
				<-ended
			}
			return ctx.Err()
		case err := <-ended:
			cancel(nil)
			cancel = nil
			if err != nil {
				return err
			}
			next()
		case k, ok := <-keys:
			if !ok {
				stop()
				keys = nil
				continue
			}
			switch a.screen.press(k) {
			case submitted:
				text := a.screen.take()
				handed, err := a.handOver(text)
				if err != nil {
					return err
				}
				if !handed {
					waiting = append(waiting, text)
				}
				next()
			case interrupted:
				if cancel != nil {
					cancel(errInterrupted)
				}
			}
		}
	}
}

// handOver gives what a person typed to the hub, from where it comes back as
// a task of the user: so it is in the journal, and what it delegates is carried
// out. A prompt of the hub's own, or one typed where there is no hub, is not
// handed over.
func (a *agent) handOver(text string) (bool, error) {
	p := protocol.ParsePrompt(text)
	if p.Req != "" || a.spool == nil || a.forgets(p) {
		return false, nil
	}
	if err := a.append(protocol.Report{Event: protocol.ReportTyped, Text: p.Body}); err != nil {
		return false, err
	}
	a.screen.say("handed to the hub as your task")
	return true, nil
}

// forgetCommand makes a brain forget its conversation.
const forgetCommand = "/clear"

// Rememberer is a brain that keeps its conversation from one prompt to the next.
type Rememberer interface {
	// Forget begins it anew, for a process that comes after this one too.
	Forget() error
}

func (a *agent) forgets(p protocol.Prompt) bool {
	_, remembers := a.Brain.(Rememberer)
	return remembers && p.Req == "" && strings.TrimSpace(p.Body) == forgetCommand
}

// forget begins anew, and says so as at the start.
func (a *agent) forget() error {
	if err := a.Brain.(Rememberer).Forget(); err != nil {
		return err
	}
	if err := a.report(protocol.ReportReady, "", ""); err != nil {
		return err
	}
	a.screen.say("the conversation is forgotten")
	return nil
}

// turn answers one prompt. Only a broken spool or ErrQuit ends the program.
func (a *agent) turn(ctx context.Context, p protocol.Prompt) error {
	if a.forgets(p) {
		return a.forget()
	}
	if err := a.report(protocol.ReportAccepted, p.Req, ""); err != nil {
		return err
	}
	a.screen.echo(p)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	sheet := newSheet()
	go func() {
		text, err := replyAloud(ctx, a.Brain, p, a.screen.say, sheet.write)
		done <- outcome{text, err}
	}()
	began := time.Now()
	for {
		select {
		case <-sheet.full:
			if err := a.tell(sheet.part(p.Req)); err != nil {
				return err
			}
			a.screen.busy(time.Since(began)) // what is printed wakes whoever listens
		case <-ticker.C:
			a.screen.busy(time.Since(began))
			if err := a.report(protocol.ReportProgress, p.Req, ""); err != nil {
				return err
			}
		case o := <-done:
			return a.finish(ctx, p, o.text, o.err)
		}
	}
}

// errInterrupted ends a turn on a person's or the hub's Escape.
var errInterrupted = errors.New("interrupted")

func (a *agent) finish(ctx context.Context, p protocol.Prompt, text string, err error) error {
	if err := a.bill(p.Req); err != nil {
		return err
	}
	switch {
	case errors.Is(err, ErrQuit):
		return err
	case ctx.Err() != nil && context.Cause(ctx) != errInterrupted:
		return ctx.Err() // the program ends, which whoever asked sees at its pane
	case ctx.Err() != nil:
		err = errInterrupted
		fallthrough
	case err != nil:
		var useless *uselessError
		r := protocol.Report{Event: protocol.ReportFailed, Req: p.Req, Text: err.Error(), Final: errors.As(err, &useless)}
		if wall := (*wallError)(nil); errors.As(err, &wall) {
			r.Event, r.Until = protocol.ReportWall, wall.until
		}
		if err := a.append(r); err != nil {
			return err
		}
		a.screen.reply("✗ "+err.Error(), "")
		return nil
	}
	full := text
	if full != "" {
		full += "\n"
	}
	full += a.Marker
	if scholar, ok := a.Brain.(Scholar); ok {
		for _, path := range scholar.Sources() {
			if err := a.report(protocol.ReportSource, p.Req, path); err != nil {
				return err
			}
		}
	}
	if err := a.report(protocol.ReportAnswer, p.Req, full); err != nil {
		return err
	}
	token := a.Marker
	if p.Req != "" {
		token = protocol.Token(a.Marker, p.Req)
	}
	a.screen.reply(text, token)
	return nil
}

// bill tells what the turn took, before it tells of its end.
func (a *agent) bill(req string) error {
	meter, ok := a.Brain.(Meter)
	if !ok {
		return nil
	}
	for _, u := range meter.Spent() {
		u.ID = protocol.NewID()
		if err := a.append(protocol.Report{Event: protocol.ReportUsage, Req: req, Usage: &u}); err != nil {
			return err
		}
	}
	return nil
}

// report tells how far the program is with a prompt of the hub's.
func (a *agent) report(e protocol.ReportEvent, req, text string) error {
	return a.tell(protocol.Report{Event: e, Req: req, Text: text})
}

// tell reports what is about a prompt of the hub's, or about none at all.
func (a *agent) tell(r protocol.Report) error {
	if r.Req == "" && r.Event != protocol.ReportReady {
		return nil
	}
	return a.append(r)
}

// append adds one line to the spool with one write, so that a reader sees
// whole lines and several writers cannot mix.
func (a *agent) append(r protocol.Report) error {
	if a.spool == nil {
		return nil
	}
	r.Time = time.Now().UTC()
	if _, err := a.spool.Write(r.Line()); err != nil {
		return fmt.Errorf("report %s: %w", r.Event, err)
	}
	return nil
}

// uselessError ends a turn in a way that another attempt would repeat.
type uselessError struct{ why string }

func (u *uselessError) Error() string { return u.why }

// wallError ends a turn at a quota or a rate limit.
type wallError struct {
	why   string
	until time.Time // zero: nobody says
}

func (w *wallError) Error() string { return w.why }

func uselessf(format string, args ...any) error {
	return &uselessError{fmt.Sprintf(format, args...)}
}
