package agentstest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"orchestrator-cc/protocol"
)

// screenFace draws a history and, below it, a sign of work and a composer:
// inline, where the history scrolls away into the terminal's, or on the
// alternate screen, which is drawn whole each time.
type screenFace struct {
	p       *program
	history []string
	draft   string
	sign    string
	ask     string
	drawn   int // rows of the part that is redrawn in place
	above   int // rows of it above the cursor
}

func (f *screenFace) size() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 80, 24
	}
	return width, height
}

func (f *screenFace) echo(prompt string) {
	lines := strings.Split(prompt, "\n")
	if f.p.Fold && len(lines) > 1 {
		lines = []string{fmt.Sprintf("%s [Pasted text #1 +%d lines]", lines[0], len(lines)-1)}
	}
	out := []string{""}
	for i, line := range lines {
		for _, part := range f.wrap(line, 2) {
			lead := "  "
			if i == 0 && len(out) == 1 {
				lead = "❯ "
			}
			out = append(out, lead+part)
		}
	}
	f.add(append(out, "")...)
}

func (f *screenFace) wrap(line string, indent int) []string {
	if f.p.Columns == 0 {
		return []string{line}
	}
	return wrap(line, f.p.Columns-indent)
}

func (f *screenFace) say(first bool, text string) {
	var out []string
	for i, line := range strings.Split(text, "\n") {
		indent := 2
		if f.p.Box {
			indent = 4
		}
		for k, part := range f.wrap(line, indent) {
			lead := "  "
			switch {
			case f.p.Plain:
				lead = ""
			case f.p.Box:
				lead, part = "│ ", part+strings.Repeat(" ", max(0, f.p.Columns-4-textWidth(part)))+" │"
			case first && i == 0 && k == 0:
				lead = "● "
			}
			out = append(out, lead+part)
		}
	}
	f.add(out...)
}

func textWidth(text string) (n int) {
	for _, r := range text {
		n += width(r)
	}
	return n
}

func (f *screenFace) busy(sign string) {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	f.sign = sign
	f.draw(nil)
}

func (f *screenFace) dialog(text string) {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	f.ask = text
	f.draw(nil)
}

func (f *screenFace) rest() {}

func (f *screenFace) add(lines ...string) {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	f.history = append(f.history, lines...)
	f.draw(lines)
}

func (f *screenFace) redraw(how string) {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	switch how {
	case "clear":
		fmt.Print("\x1b[2J\x1b[3J\x1b[H")
	case "duplicate":
		fmt.Print("\x1b[2J\x1b[H")
	case "torn":
		// The old frame goes, and for a moment only a part of the new one is there.
		if f.p.Kind == Alternate {
			fmt.Print("\x1b[2J\x1b[H")
			time.Sleep(5 * time.Millisecond)
			f.draw(nil)
			return
		}
		fmt.Print("\x1b[2J\x1b[3J\x1b[H", strings.Join(f.history[:len(f.history)/2], "\r\n"), "\r\n")
		time.Sleep(5 * time.Millisecond)
		f.drawn = 0
		f.draw(f.history[len(f.history)/2:])
		return
	}
	f.drawn = 0
	if f.p.Kind == Inline {
		f.draw(f.history)
	} else {
		f.draw(nil)
	}
}

// bottom is the part below the history, and the row and column of the cursor.
func (f *screenFace) bottom(columns int) (rows []string, row, column int) {
	if f.sign != "" {
		rows = append(rows, f.sign, "")
	}
	if f.ask != "" {
		return append(rows, f.ask, "❯ 1. Yes", "  2. No"), len(rows) + 1, 0
	}
	rule := strings.Repeat("─", columns-1)
	shown := f.draft
	if first, rest, more := strings.Cut(f.draft, "\n"); more {
		shown = fmt.Sprintf("%s [Pasted text #1 +%d lines]", first, strings.Count(rest, "\n")+1)
	}
	if most := columns - 6; len([]rune(shown)) > most {
		shown = string([]rune(shown)[:most])
	}
	row, column = len(rows)+1, 2+textWidth(shown)
	if shown == "" {
		shown = f.p.Hint
	}
	rows = append(rows, rule, "❯ "+shown, rule)
	if f.p.Footer != "" {
		rows = append(rows, f.p.Footer)
	}
	return rows, row, column
}

// draw writes one frame with one write.
func (f *screenFace) draw(added []string) {
	columns, height := f.size()
	rows, row, column := f.bottom(columns)
	var b strings.Builder
	if f.p.Kind == Alternate {
		f.drawWhole(&b, rows, columns, height)
		fmt.Fprintf(&b, "\x1b[%d;%dH", height-len(rows)+row+1, column+1)
	} else {
		b.WriteString("\r")
		if f.drawn > 0 && f.above > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", f.above)
		}
		b.WriteString("\x1b[J")
		for _, line := range added {
			b.WriteString(line + "\r\n")
		}
		b.WriteString(strings.Join(rows, "\r\n"))
		if up := len(rows) - 1 - row; up > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", up)
		}
		fmt.Fprintf(&b, "\r\x1b[%dC", max(column, 1))
		f.drawn, f.above = len(rows), row
	}
	io.WriteString(os.Stdout, b.String())
}

func (f *screenFace) drawWhole(b *strings.Builder, rows []string, columns, height int) {
	var all []string
	for _, line := range f.history {
		all = append(all, wrap(line, columns-1)...)
	}
	room := height - len(rows) - 1
	all = all[max(0, len(all)-room):]
	b.WriteString("\x1b[H")
	lines := append([]string{"=== scripted agent ==="}, all...)
	for len(lines) < height-len(rows) {
		lines = append(lines, "")
	}
	for i, line := range append(lines, rows...) {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K")
	}
}

// runScreen reads keys in raw mode. One turn runs at a time.
func (p *program) runScreen() error {
	old, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(os.Stdin.Fd()), old)
	fmt.Print("\x1b[?2004h")
	if p.Kind == Alternate {
		fmt.Print("\x1b[?1049h")
	}
	f := &screenFace{p: p}
	p.face = f
	f.add(p.Greeting...)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for range resized {
			f.redraw("clear")
		}
	}()
	p.report(protocol.ReportReady, "", "")
	return p.keys(f, bufio.NewReaderSize(os.Stdin, 1<<16))
}

const (
	pasteBegin = "[200~"
	pasteEnd   = "\x1b[201~"
)

func (p *program) keys(f *screenFace, in *bufio.Reader) error {
	var pasted time.Time
	cancel := func() {}
	busy := make(chan struct{}, 1)
	for {
		r, _, err := in.ReadRune()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case r == '\x1b' && startsWith(in, pasteBegin):
			text, err := readPaste(in)
			if err != nil {
				return err
			}
			f.edit(func(d string) string { return d + text })
			pasted = time.Now()
		case r == '\x1b' || r == 3:
			cancel()
			f.edit(func(string) string { return "" })
		case r == '\r' && time.Since(pasted) < p.Swallow:
		case r == '\r' && f.asking():
			p.digits <- "Enter"
		case r == '\r':
			prompt := f.take()
			if strings.TrimSpace(prompt) == "" {
				p.log("key", "empty line")
				continue
			}
			ctx, stop := context.WithCancel(context.Background())
			cancel = stop
			busy <- struct{}{}
			go func() { p.turn(ctx, prompt); <-busy }()
		case f.asking():
			p.digits <- string(r)
		case r == 0x7f:
			f.edit(func(d string) string { return string([]rune(d)[:max(0, len([]rune(d))-1)]) })
		default:
			f.edit(func(d string) string { return d + string(r) })
		}
	}
}

func (f *screenFace) asking() bool {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	return f.ask != ""
}

func (f *screenFace) edit(change func(string) string) {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	f.draft = change(f.draft)
	f.draw(nil)
}

func (f *screenFace) take() string {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	text := f.draft
	f.draft = ""
	f.draw(nil)
	return text
}

// startsWith consumes a sequence if the input goes on with it. A lone Escape
// has nothing behind it.
func startsWith(in *bufio.Reader, want string) bool {
	if in.Buffered() == 0 {
		return false
	}
	got, err := in.Peek(len(want))
	if err != nil || string(got) != want {
		return false
	}
	_, err = in.Discard(len(want))
	return err == nil
}

func readPaste(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		c, err := in.ReadByte()
		if err != nil {
			return "", err
		}
		b.WriteByte(c)
		if c == '~' && strings.HasSuffix(b.String(), pasteEnd) {
			return strings.TrimSuffix(b.String(), pasteEnd), nil
		}
	}
}
