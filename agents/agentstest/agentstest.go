// Package agentstest is a program that behaves in a pane as a script tells it:
// as an agent that draws inline, one that owns the alternate screen, or one
// that reads lines. It is for tests: it misbehaves in every way that real
// agents do, and writes to a log what it was really given and what it really
// answered, so that a test can compare.
package agentstest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator-cc/protocol"
)

// Variable names the environment variable with the path of the script. A test
// binary that finds it set is the program, not the test.
const Variable = "AGENTSTEST_SCRIPT"

// The kinds of programs.
const (
	Inline    = "inline"
	Alternate = "alternate"
	Line      = "line"
)

// Script is what the program is and does.
type Script struct {
	Kind     string
	Marker   string
	Log      string
	Spool    string        // reports there as well, when set
	Greeting []string      // printed at the start
	Delay    time.Duration // before it starts
	Columns  int           // breaks its lines itself at this width
	Box      bool          // draws a frame around its answers
	Plain    bool          // no bullet and no indent before an answer
	Fold     bool          // shows a long paste by a short word, also in the echo
	Silent   bool          // shows no echo
	Hint     string        // shown in the empty composer
	Swallow  time.Duration // how long after a paste Enter is lost
	IgnoreID bool          // ends with the bare marker
	Footer   string        // a line below the composer
	NoPrompt bool          // a line program that prints no prompt
	Turns    [][]Act       // what it does for each prompt; the last is repeated
}

// Act is one thing the program does in a turn.
type Act struct {
	Say    string        `json:",omitempty"` // prints a text; {id} {marker} {token} {body} are filled in
	Lines  int           `json:",omitempty"` // prints so many numbered lines
	Pause  time.Duration `json:",omitempty"`
	Spin   time.Duration `json:",omitempty"` // pauses with a live sign of work
	Stale  bool          `json:",omitempty"` // leaves a dead sign of work on the screen
	Redraw string        `json:",omitempty"` // clear, duplicate or torn
	Dialog string        `json:",omitempty"` // asks, and waits for a digit
	Exit   string        `json:",omitempty"` // ends with this status, or "kill"
	Flood  int           `json:",omitempty"` // prints so many throw-away lines at once
}

// Entry is one line of the log.
type Entry struct {
	Event string // start, prompt, answer, end, key
	Text  string
	Time  time.Time
}

// Save writes the script where Main finds it, and returns the command that
// runs the program.
func (s Script) Save(dir string) ([]string, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode script: %w", err)
	}
	path := filepath.Join(dir, "script.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, fmt.Errorf("write script: %w", err)
	}
	// A program under the race detector would otherwise take a second to end.
	return []string{"env", "GORACE=atexit_sleep_ms=0", Variable + "=" + path, os.Args[0]}, nil
}

// Read returns what the program has logged so far.
func Read(path string) ([]Entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Entry
	lines := strings.SplitAfter(string(data), "\n")
	for _, line := range lines[:len(lines)-1] { // the rest is being written
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("log line %q: %w", line, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// Main runs the program and returns its exit status.
func Main() int {
	data, err := os.ReadFile(os.Getenv(Variable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p := &program{}
	if err := json.Unmarshal(data, &p.Script); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	time.Sleep(p.Delay)
	p.log("start", "")
	if err := p.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type program struct {
	Script
	mu     sync.Mutex
	face   face
	turns  int
	digits chan string // typed while a dialog is up
}

// face is how a kind of program shows itself.
type face interface {
	echo(prompt string)          // shows a prompt that was taken
	say(first bool, text string) // adds a text to the answer
	busy(sign string)            // shows a sign of work, "" removes it
	dialog(text string)          // asks, "" removes the question
	redraw(how string)
	rest() // comes back to the composer
}

func (p *program) log(event, text string) {
	line, err := json.Marshal(Entry{event, text, time.Now()})
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(p.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

func (p *program) report(e protocol.ReportEvent, req, text string) {
	if p.Spool == "" {
		return
	}
	f, err := os.OpenFile(p.Spool, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.Write(protocol.Report{Event: e, Req: req, Text: text, Time: time.Now()}.Line()); err != nil {
		panic(err)
	}
}

func (p *program) run() error {
	p.digits = make(chan string, 8)
	if p.Kind == Line {
		return p.runLines()
	}
	return p.runScreen()
}

// turn answers one prompt as the script says. Every state it leaves behind is
// drawn before the log says so.
func (p *program) turn(ctx context.Context, prompt string) {
	p.log("prompt", prompt)
	given := protocol.ParsePrompt(prompt)
	p.report(protocol.ReportAccepted, given.Req, "")
	if !p.Silent {
		p.face.echo(prompt)
	}
	var acts []Act
	if len(p.Turns) > 0 {
		acts = p.Turns[min(p.turns, len(p.Turns)-1)]
	}
	p.turns++
	var said []string
	for i, act := range acts {
		text := p.text(act, given)
		if text != "" {
			said = append(said, p.plain(text, given))
		}
		if i == len(acts)-1 {
			p.log("answer", strings.Join(said, "\n"))
			p.report(protocol.ReportAnswer, given.Req, strings.Join(said, "\n"))
		}
		if !p.act(ctx, act, text, len(said) == 1) {
			p.report(protocol.ReportFailed, given.Req, "interrupted")
			p.face.say(false, "interrupted")
			break
		}
	}
	p.face.rest()
	p.log("end", "")
}

func (p *program) text(a Act, given protocol.Prompt) string {
	if a.Lines > 0 {
		var b strings.Builder
		for i := range a.Lines {
			fmt.Fprintf(&b, "line %d of %d\n", i+1, a.Lines)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	token := protocol.Token(p.Marker, given.Req)
	if p.IgnoreID {
		token = p.Marker
	}
	return strings.NewReplacer("{token}", token, "{marker}", p.Marker, "{id}", given.Req, "{body}", given.Body).Replace(a.Say)
}

// plain is a said text as the answer should read.
func (p *program) plain(text string, given protocol.Prompt) string {
	return strings.ReplaceAll(text, protocol.Token(p.Marker, given.Req), p.Marker)
}

// act does one thing; false means that it was interrupted.
func (p *program) act(ctx context.Context, a Act, text string, first bool) bool {
	switch {
	case text != "":
		p.face.say(first, text)
	case a.Pause > 0:
		return sleep(ctx, a.Pause)
	case a.Spin > 0:
		return p.spin(ctx, a.Spin)
	case a.Stale:
		p.face.busy("* Thinking… (esc to interrupt)")
	case a.Redraw != "":
		p.face.redraw(a.Redraw)
	case a.Flood > 0:
		p.face.say(false, strings.Repeat("flood flood flood\n", a.Flood-1)+"flood")
	case a.Dialog != "":
		p.face.dialog(a.Dialog)
		select {
		case d := <-p.digits:
			p.log("key", d)
			p.face.dialog("")
		case <-ctx.Done():
			return false
		}
	case a.Exit == "kill":
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
	case a.Exit != "":
		var status int
		fmt.Sscan(a.Exit, &status)
		os.Exit(status)
	}
	return true
}

func (p *program) spin(ctx context.Context, d time.Duration) bool {
	const glyphs = "✶✢✽✻"
	end := time.Now().Add(d)
	for i := 0; time.Now().Before(end); i++ {
		p.face.busy(string([]rune(glyphs)[i%4]) + " Thinking… (esc to interrupt)")
		if !sleep(ctx, 100*time.Millisecond) {
			p.face.busy("")
			return false
		}
	}
	p.face.busy("")
	return true
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
