package builtin

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"orchestrator-cc/protocol"
)

// glyph begins the composer's line; the engine's description looks for it.
// A prompt that was taken stands behind quote in the history.
const (
	glyph = "❯ "
	quote = "│ "
)

// screen is the pane as the program draws it: a history that only grows, and
// under it one composer line that is redrawn in place.
type screen struct {
	mu    sync.Mutex
	out   io.Writer
	width func() int
	draft strings.Builder // what a person is typing
	given strings.Builder // a prompt of the hub's that came in the middle of it
	work  string          // what is under way, shown behind the draft
}

func newScreen(out io.Writer, width func() int) *screen {
	return &screen{out: out, width: width}
}

type pressed int

const (
	edited pressed = iota
	submitted
	interrupted
)

const (
	pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"
	dim, bold, reset  = "\x1b[2m", "\x1b[1m", "\x1b[0m"
)

func (s *screen) open(name string, role protocol.Role, about string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.out, pasteOn)
	s.lines(bold + name + reset + dim + " · " + string(role.Rank()) + " · " + about + reset)
}

func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.out, "\r\n"+pasteOff)
}

// press edits the draft and says what the key asked for.
func (s *screen) press(k key) pressed {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch k.code {
	case keyEnter:
		if strings.TrimSpace(s.composed().String()) == "" {
			return edited
		}
		return submitted
	case keyInterrupt:
		// A prompt that was not submitted yet is taken back. A draft is not
		// touched: the key may be the hub's; a person has Ctrl-U for it.
		s.given.Reset()
		s.redraw()
		return interrupted
	case keyClear:
		s.draft.Reset()
	case keyErase:
		text := s.draft.String()
		_, size := utf8.DecodeLastRuneInString(text)
		s.draft.Reset()
		s.draft.WriteString(text[:len(text)-size])
	case keyText:
		// A prompt of the hub's is known by its tag, and kept apart from what
		// a person has begun to type: neither may spoil the other.
		if k.pasted && (s.given.Len() > 0 || protocol.ParsePrompt(k.text).Req != "") {
			s.given.WriteString(k.text)
		} else {
			s.draft.WriteString(k.text)
		}
	}
	s.redraw()
	return edited
}

// take empties the composer.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.composed().String()
	s.composed().Reset()
	s.redraw()
	return text
}

// composed is what Enter submits: a prompt of the hub's before a draft.
func (s *screen) composed() *strings.Builder {
	if s.given.Len() > 0 {
		return &s.given
	}
	return &s.draft
}

func (s *screen) compose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redraw()
}

// echo puts the prompt into the history: its tag, and the body shortened.
func (s *screen) echo(p protocol.Prompt) {
	const most = 12 // lines of a prompt shown; the rest is counted
	s.mu.Lock()
	defer s.mu.Unlock()
	head := quote + "from " + p.From
	if p.Req != "" {
		head = quote + protocol.Tag(p.Req, p.From)
	}
	s.lines("", bold+head+reset)
	body := fold(strings.Split(p.Body, "\n"))
	for i, line := range body {
		if i == most {
			s.lines(fmt.Sprintf("%s%s[+%d lines]%s", quote, dim, len(body)-most, reset))
			break
		}
		s.lines(quote + dim + shorten(line, 400) + reset)
	}
	s.redraw()
}

// say shows a line of work in progress.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range strings.Split(text, "\n") {
		s.lines(dim + "· " + line + reset)
	}
	s.redraw()
}

func (s *screen) busy(age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work = fmt.Sprintf(" %s… working %ds (esc to interrupt)%s", dim, int(age.Seconds()), reset)
	s.redraw()
}

// reply prints an answer and, as its last line, the token.
func (s *screen) reply(text, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	if text != "" {
		out = fold(strings.Split(text, "\n"))
	}
	if token != "" {
		out = append(out, token)
	}
	for i, line := range out {
		lead := "  "
		if i == 0 {
			lead = "● "
		}
		out[i] = lead + line
	}
	s.lines(out...)
	s.work = ""
	s.redraw()
}

// lines writes history lines above the composer, in one write, so that a
// capture sees few half-drawn screens.
func (s *screen) lines(lines ...string) {
	var b strings.Builder
	b.WriteString("\r\x1b[K")
	for _, line := range lines {
		b.WriteString(clean(line))
		b.WriteString("\r\n")
	}
	io.WriteString(s.out, b.String())
}

// redraw writes the composer's line: the draft's first line and what follows
// it in short, cut to one row.
func (s *screen) redraw() {
	text := s.composed().String()
	first, rest, more := strings.Cut(text, "\n")
	shown := shorten(first, max(s.width()-48, 20))
	if more {
		shown += fmt.Sprintf(" [+%d lines]", strings.Count(rest, "\n")+1)
	}
	io.WriteString(s.out, "\r\x1b[K"+glyph+clean(shown+s.work))
}

// fold shortens blocks that are for programs to one line each. The screen is
// for people; whoever asked gets the whole text through the channel.
func fold(lines []string) (out []string) {
	const begin, end = "```outcome", "```"
	for i := 0; i < len(lines); i++ {
		last := slices.Index(lines[i:], end)
		if lines[i] != begin || last < 0 {
			out = append(out, lines[i])
			continue
		}
		out = append(out, fmt.Sprintf("%s[outcome, %d lines]%s", dim, last-1, reset))
		i += last
	}
	return out
}

// clean keeps control characters of a prompt or an answer from steering the
// terminal; our own colours are the only escapes let through.
func clean(line string) string {
	for _, own := range []string{dim, bold, reset} {
		line = strings.ReplaceAll(line, own, "\x00"+own[1:])
	}
	line = strings.Map(func(r rune) rune {
		if r == '\t' || r == 0 || r >= 0x20 && r != 0x7f && (r < 0x80 || r > 0x9f) {
			return r
		}
		return -1
	}, line)
	return strings.ReplaceAll(line, "\x00[", "\x1b[")
}

func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
