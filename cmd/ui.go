package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"orchestrator-cc/protocol"
)

// ui is how a verb speaks: the answer goes to out, what is said along the way
// to err. Colour and cursor movement go to terminals only.
type ui struct {
	in         io.Reader
	inTerminal bool
	out, err   voice
}

// voice is one of the two outputs.
type voice struct {
	w        io.Writer
	terminal bool
	colour   bool
	width    func() int
	height   func() int
}

// newUI speaks through the process's own files.
func newUI(getenv func(string) string) *ui {
	colour := getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	voiceOf := func(f *os.File) voice {
		tty := isatty.IsTerminal(f.Fd())
		return voice{
			w: f, terminal: tty, colour: tty && colour,
			width:  func() int { w, _ := size(f, tty); return w },
			height: func() int { _, h := size(f, tty); return h },
		}
	}
	return &ui{in: os.Stdin, inTerminal: isatty.IsTerminal(os.Stdin.Fd()), out: voiceOf(os.Stdout), err: voiceOf(os.Stderr)}
}

// size is the room there is to write in; into a pipe nothing is cut, so it is 0.
func size(f *os.File, tty bool) (width, height int) {
	if !tty {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// printf writes; whoever reads may have gone away, and then nobody misses it.
func (v voice) printf(format string, args ...any) { fmt.Fprintf(v.w, format, args...) }

// tone is a colour with a meaning. The word it paints says the same.
type tone int

const (
	plain tone = iota
	bold
	faint
	green
	yellow
	red
	blue
)

func (v voice) paint(t tone, text string) string {
	if !v.colour || text == "" {
		return text
	}
	style := lipgloss.NewStyle()
	switch t {
	case bold:
		style = style.Bold(true)
	case faint:
		style = style.Faint(true)
	case green:
		style = style.Foreground(lipgloss.Green)
	case yellow:
		style = style.Foreground(lipgloss.Yellow)
	case red:
		style = style.Foreground(lipgloss.Red)
	case blue:
		style = style.Foreground(lipgloss.Blue)
	}
	return style.Render(text)
}

// json writes a value for programs.
func (v voice) json(value any) error {
	e := json.NewEncoder(v.w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// table lines up columns by what they look like, wide characters included. At
// the edge of a terminal the last one is cut, and where that is not enough the
// widest of the others. Cells may be painted.
func (v voice) table(head []string, rows [][]string) string {
	widths := make([]int, len(head))
	painted := make([]string, len(head))
	for i, h := range head {
		painted[i] = v.paint(faint, h)
	}
	all := append([][]string{painted}, rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	v.squeeze(widths)
	var b strings.Builder
	for _, row := range all {
		b.WriteString(v.tableRow(row, widths) + "\n")
	}
	return b.String()
}

const (
	leastLast  = 10 // what the last column keeps of itself
	leastOther = 8  // and any other
)

// squeeze takes width from the widest columns until a row fits the terminal.
func (v voice) squeeze(widths []int) {
	edge, last := v.width(), len(widths)-1
	if edge <= 0 {
		return
	}
	room := edge - min(widths[last], leastLast) - 2*last
	for _, w := range widths[:last] {
		room -= w
	}
	for ; room < 0; room++ {
		widest := -1
		for i, w := range widths[:last] {
			if w > leastOther && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (v voice) tableRow(row []string, widths []int) string {
	var b strings.Builder
	used := 0
	for i, cell := range row {
		if i == len(row)-1 {
			if edge := v.width(); edge > 0 {
				cell = shorten(cell, max(edge-used, leastLast))
			}
			b.WriteString(cell)
			break
		}
		cell = shorten(cell, widths[i])
		b.WriteString(cell + strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+2))
		used += widths[i] + 2
	}
	return strings.TrimRight(b.String(), " ")
}

// shorten cuts a text that is wider than it may be.
func shorten(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	if strings.Contains(text, "\x1b") { // the end of the paint must stay
		return lipgloss.NewStyle().MaxWidth(width-1).Render(text) + "…"
	}
	used := 0
	for i, r := range text {
		used += lipgloss.Width(string(r))
		if used > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// oneLine makes a text of somebody else fit for a line of ours: its first line
// that says something, without characters that move a cursor.
func oneLine(text string) string {
	for line := range strings.Lines(text) {
		if clean := strings.TrimSpace(harmless(line)); clean != "" {
			return clean
		}
	}
	return ""
}

// gist is oneLine with a sign where more follows.
func gist(text string) string {
	first := oneLine(text)
	if strings.TrimSpace(harmless(text)) != first {
		first += " …"
	}
	return first
}

// count words a number of things: 1 task, 2 tasks, 3 entries.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		thing = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// times words how often something happened.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return count(n, "time")
}

// harmless drops what would drive a terminal instead of being shown by it.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// short is as much of a message's id as a person wants to type; the hub takes
// any beginning that fits one thing only. Names stay whole.
func short(id string) string {
	const whole, enough = 36, 8
	if len(id) == whole && id[enough] == '-' {
		return id[:enough]
	}
	return id
}

// span words a duration the way people do: 0.4s, 12s, 3m05s, 2h10m, 3d.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// age is how long ago something was, or nothing where that is not known.
func age(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return span(now.Sub(then))
}

func agentTone(s protocol.AgentState) tone {
	switch s {
	case protocol.Idle:
		return green
	case protocol.Busy:
		return blue
	case protocol.Waiting, protocol.Degraded, protocol.Starting, protocol.Paused, protocol.Limited:
		return yellow
	case protocol.Dead:
		return red
	}
	return plain
}

func taskTone(s protocol.TaskState) tone {
	switch s {
	case protocol.TaskCompleted:
		return green
	case protocol.TaskInProgress:
		return blue
	case protocol.TaskNeedsHuman, protocol.TaskCancelled:
		return yellow
	case protocol.TaskFailed:
		return red
	}
	return plain
}

// safe is a text as it may be shown: byte for byte into a pipe, and without
// control characters on a terminal.
func (v voice) safe(text string) string {
	if v.terminal {
		return harmless(text)
	}
	return text
}
