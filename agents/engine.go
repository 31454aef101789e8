package agents

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"orchestrator-cc/config"
)

// Engine is how the program in a pane is read and driven. Patterns are tried
// on single rows of the screen.
type Engine struct {
	Name      string
	Ready     []*regexp.Regexp // the program takes input; none: a quiet screen does
	Busy      []*regexp.Regexp // it works
	Dialog    []*regexp.Regexp // a question only a person may answer
	SignedOut []*regexp.Regexp // nobody has signed in to it; the group "type" is what to type for that
	Answers   []Answering      // dialogs that the user has answered beforehand
	AllowOnce Answering        // its own dialog about a tool call, and what allows that call; no pattern: it has none
	Composer  []*regexp.Regexp // the row in which a prompt is being typed
	Footer    []*regexp.Regexp // drawn below a finished answer, or above it
	Hint      []*regexp.Regexp // stands in the composer while nobody types
	Wall      []*regexp.Regexp // drawn in place of an answer when a quota or a rate limit is hit
	Waits     []*regexp.Regexp // shown while it waits for the end of one by itself
	Failed    []*regexp.Regexp // says why a turn ended without an answer
	Submit    []string         // keys; Enter
	Interrupt []string         // keys; none: a turn cannot be interrupted
	MaxPrompt int              // bytes; 1 MiB
	Multiline bool             // false: the program takes one line at a time
	OnePaste  bool             // tag and body in one paste
	Boxed     bool             // its composer is a box; see readBox
	Settle    time.Duration    // from the paste to Enter
	Start     time.Duration    // until it is ready; 1 min
	Channel   bool             // the program reports on its spool
	Forget    string           // typed, it makes the program forget its conversation; "" it cannot
	Restarts  bool             // it forgets by being started again
	Renews    bool             // the program says on its spool that its conversation begins anew
	Greets    bool             // and says there that it has started
	Accepts   bool             // and which prompts it takes
}

// EngineOf compiles a configured engine.
func EngineOf(c config.Engine) (Engine, error) {
	e := Engine{
		Name: c.Name, Submit: c.Submit, Interrupt: c.Interrupt, MaxPrompt: c.MaxPrompt,
		Multiline: c.Multiline, OnePaste: c.OnePaste, Boxed: c.Boxed, Settle: c.Settle, Start: c.Start, Channel: c.Channel == config.ChannelSpool, Forget: c.Forget,
		Renews:  c.Hooks == config.HooksClaude || c.Hooks == config.HooksGemini,
		Accepts: c.Hooks != config.HooksNone,
		Greets:  c.Hooks == config.HooksClaude || c.Hooks == config.HooksGemini || c.Hooks == config.HooksOpenCode,
	}
	if c.Forget == config.ForgetByRestart {
		e.Forget, e.Restarts = "", true
	}
	for _, list := range []struct {
		name string
		from []string
		to   *[]*regexp.Regexp
	}{
		{"ready", c.Ready, &e.Ready}, {"busy", c.Busy, &e.Busy},
		{"dialog", c.Dialog, &e.Dialog}, {"composer", c.Composer, &e.Composer}, {"footer", c.Footer, &e.Footer},
		{"signed_out", c.SignedOut, &e.SignedOut}, {"hint", c.Hint, &e.Hint}, {"wall", c.Wall, &e.Wall},
		{"waits", c.Waits, &e.Waits}, {"failed", c.Failed, &e.Failed},
	} {
		for _, pattern := range list.from {
			compiled, err := regexp.Compile(pattern)
			if err != nil {
				return Engine{}, fmt.Errorf("engine %s: %s pattern: %w", c.Name, list.name, err)
			}
			*list.to = append(*list.to, compiled)
		}
	}
	for _, a := range c.Answers {
		compiled, err := regexp.Compile(a.Dialog)
		if err != nil {
			return Engine{}, fmt.Errorf("engine %s: answers pattern: %w", c.Name, err)
		}
		e.Answers = append(e.Answers, Answering{Dialog: compiled, Keys: a.Keys})
	}
	if c.AllowOnce.Dialog != "" {
		compiled, err := regexp.Compile(c.AllowOnce.Dialog)
		if err != nil {
			return Engine{}, fmt.Errorf("engine %s: allow_once pattern: %w", c.Name, err)
		}
		e.AllowOnce = Answering{Dialog: compiled, Keys: c.AllowOnce.Keys}
	}
	return e, nil
}

// maxPrompt is the largest prompt the exchange has been measured with, and
// room for its tag and its closing line.
const maxPrompt = 1<<20 + 1<<10

func (e Engine) withDefaults() Engine {
	if len(e.Submit) == 0 {
		e.Submit = []string{"Enter"}
	}
	if e.MaxPrompt <= 0 {
		e.MaxPrompt = maxPrompt
	}
	if e.Start <= 0 {
		e.Start = time.Minute
	}
	return e
}

// busyRows is how much of the screen's bottom can hold a sign of work: one
// further up is a stale line that has scrolled. A dialog may have more rows
// below what it is known by.
const (
	busyRows   = 12
	dialogRows = 20
)

// view is what the rows of one screen say about the program.
type view struct {
	ready    bool // by its text; without patterns only time shows
	busy     bool // a sign of work stands there; whether it lives, only time shows
	dialog   bool
	asks     int    // the row the dialog is known by
	signIn   string // what is said where it is no dialog but the word that nobody has signed in
	composer int    // the composer's row, -1 where none is seen
	draft    string // what stands in the composer
	atStart  bool   // the cursor stands at the composer's beginning
	behind   bool   // the cursor stands in the composer behind some text
	below    bool   // it stands below the composer's row, where some text may be
}

// read interprets a screen. The rows that echo our own prompt are no evidence
// of anything but the prompt, for a prompt may quote any of the patterns.
func (e Engine) read(s Screen, ours prompt) view {
	v := view{composer: e.composer(s)}
	last, dialog := lastText(s.Visible), -1
	from, to := -1, -1 // the rows of the echo, found once they matter
	for i := range last + 1 {
		row := strings.TrimRight(s.Visible[i], " ")
		isReady, isBusy, isDialog := matches(e.Ready, row), i > last-busyRows && matches(e.Busy, row), i > last-dialogRows && (matches(e.Dialog, row) || matches(e.SignedOut, row))
		if !isReady && !isBusy && !isDialog {
			continue
		}
		if from < 0 {
			from, to = ours.rows(s.Visible)
		}
		if i >= from && i < to && i != v.composer {
			continue
		}
		v.ready, v.busy = v.ready || isReady, v.busy || isBusy
		if isDialog {
			if dialog < 0 || choice.MatchString(s.Visible[v.asks]) {
				v.asks = i
			}
			dialog, v.signIn = i, e.signIn(row)
		}
	}
	if len(e.Ready) == 0 {
		v.ready = v.composer >= 0
	}
	// A dialog takes the composer's place; above a composer it is only text.
	// A program that owns the screen has boxes in both, and is not ready then.
	v.dialog = dialog >= 0 && (dialog > v.composer || s.Alternate && !v.ready)
	if v.composer >= 0 {
		e.readDraft(s, &v)
	}
	if matches(e.Hint, v.draft) {
		// Wherever the cursor is: a program may park it anywhere in a pane
		// that has not the focus.
		v.draft, v.atStart, v.behind, v.below = "", true, false, false
	}
	return v
}

// composer finds the row in which a prompt is typed: the lowest that looks
// like it. A program that reads lines types where the cursor is, and what
// looks like its composer further up is an old prompt.
func (e Engine) composer(s Screen) int {
	last := lastText(s.Visible)
	if !e.Multiline && (s.CursorY > last || !matches(e.Composer, lastLine(s.Lines))) {
		return -1
	}
	for i := last; i >= 0; i-- {
		if row := strings.TrimRight(s.Visible[i], " "); matches(e.Composer, row) && !option(e.Composer, row) {
			return i
		}
	}
	return -1
}

func (e Engine) readDraft(s Screen, v *view) {
	if e.Boxed {
		e.readBox(s, v)
		return
	}
	row := strings.TrimRight(s.Visible[v.composer], " ")
	if !e.Multiline {
		row = lastLine(s.Lines)
	}
	end := matchEnd(e.Composer, row)
	v.draft = strings.Trim(row[end:], " \t\u00a0│┃")
	column := utf8.RuneCountInString(row[:end]) + 1
	v.atStart = s.CursorY == v.composer && s.CursorX <= column
	v.behind = s.CursorY == v.composer && s.CursorX > column
	v.below = e.Multiline && s.CursorY > v.composer && s.CursorX > 0
}

// readBox reads a composer that is a box with a bar at its left:
//
//	┃
//	┃  what is typed, as many rows as it has
//	┃
//	┃  what the program says about itself
//
// While nothing is typed the cursor stands where it would begin; anywhere else,
// a person has begun something.
func (e Engine) readBox(s Screen, v *view) {
	const around, margin = 2, 3 // rows from the last to what is typed, and columns from the bar
	bar := func(row int) int {
		if row < 0 {
			return -1
		}
		before, _, found := strings.Cut(s.Visible[row], "┃")
		if !found {
			return -1
		}
		return utf8.RuneCountInString(before)
	}
	text := func(row int) string {
		_, after, _ := strings.Cut(s.Visible[row], "┃")
		typed, _, _ := strings.Cut(strings.TrimPrefix(after, "  "), "   ") // other things may stand beside the box
		return strings.TrimSpace(typed)
	}
	at := bar(v.composer)
	first := v.composer - around
	if at < 0 || bar(first) != at {
		return
	}
	v.draft = text(first)
	for row := first - 1; bar(row) == at && text(row) != ""; row-- {
		v.draft = strings.TrimSpace(text(row) + "\n" + v.draft)
		first = row
	}
	v.atStart = s.CursorX == at+margin && s.CursorY == first
	v.behind = !v.atStart
}

// numbered is a choice in a list, which programs point at with the same glyph
// that begins their composer.
var numbered = regexp.MustCompile(`^[\s\x{a0}]*[1-9]\. `)

func option(composer []*regexp.Regexp, row string) bool {
	return numbered.MatchString(row[matchEnd(composer, row):])
}

func matches(patterns []*regexp.Regexp, row string) bool {
	for _, p := range patterns {
		if p.MatchString(row) {
			return true
		}
	}
	return false
}

// matchEnd is where the first pattern that matches stops.
func matchEnd(patterns []*regexp.Regexp, row string) int {
	for _, p := range patterns {
		if at := p.FindStringIndex(row); at != nil {
			return at[1]
		}
	}
	return 0
}

// lastLine is the last line with anything on it.
func lastLine(lines []string) string {
	if i := lastText(lines); i >= 0 {
		return lines[i]
	}
	return ""
}

// lastText is the last row with anything on it, -1 on an empty screen.
func lastText(rows []string) int {
	for i := len(rows) - 1; i >= 0; i-- {
		if strings.TrimSpace(rows[i]) != "" {
			return i
		}
	}
	return -1
}
