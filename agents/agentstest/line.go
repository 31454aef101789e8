package agentstest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"orchestrator-cc/protocol"
)

// lineFace is a program that reads lines: the terminal shows what is typed,
// and it prints its answers below.
type lineFace struct{ p *program }

func (lineFace) echo(string) {}

func (f lineFace) say(_ bool, text string) { fmt.Println(f.p.broken(text)) }

func (lineFace) busy(sign string) {
	if sign != "" {
		fmt.Print("\r", sign, "\x1b[K")
	} else {
		fmt.Print("\r\x1b[K")
	}
}

func (lineFace) dialog(text string) {
	if text != "" {
		fmt.Println(text)
	}
}

func (lineFace) redraw(how string) {
	if how == "clear" {
		fmt.Print("\x1b[2J\x1b[3J\x1b[H")
	}
}

func (f lineFace) rest() {
	if !f.p.NoPrompt {
		fmt.Print("> ")
	}
}

func (p *program) runLines() error {
	p.face = lineFace{p}
	for _, line := range p.Greeting {
		fmt.Println(line)
	}
	p.report(protocol.ReportReady, "", "")
	p.face.rest()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			p.log("key", "empty line")
			p.face.rest()
			continue
		}
		p.turn(context.Background(), line)
	}
}

// broken is a text with the program's own line breaks.
func (p *program) broken(text string) string {
	if p.Columns == 0 {
		return text
	}
	return strings.Join(wrap(text, p.Columns), "\n")
}

// wrap breaks a text at a width, wherever that falls.
func wrap(text string, columns int) (out []string) {
	for _, line := range strings.Split(text, "\n") {
		var b strings.Builder
		used := 0
		for _, r := range line {
			if used+width(r) > columns {
				out = append(out, b.String())
				b.Reset()
				used = 0
			}
			b.WriteRune(r)
			used += width(r)
		}
		out = append(out, b.String())
	}
	return out
}

// width is good enough for the texts of the tests.
func width(r rune) int {
	if r >= 0x1100 && r < 0xfe00 && !(r >= 0x2000 && r < 0x2e80) || r >= 0x1f000 {
		return 2
	}
	return 1
}
