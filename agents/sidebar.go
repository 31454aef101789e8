package agents

import (
	"regexp"
	"strings"
	"unicode"
)

// foot is the lower edge of a composer that is a box.
var foot = regexp.MustCompile(`╹▀{3,}`)

// talk is what a screen says in the column of its conversation. In a wide pane
// a program that owns the screen draws a second column beside it, which begins
// to the right of the composer's box.
func (e Engine) talk(s Screen) []string {
	if !e.Boxed || !s.Alternate {
		return s.Lines
	}
	edge := 0
	for _, line := range s.Lines {
		if at := foot.FindStringIndex(line); at != nil {
			edge = cells(line[:at[1]])
		}
	}
	if edge == 0 {
		return s.Lines
	}
	out := make([]string, len(s.Lines))
	for i, line := range s.Lines {
		out[i] = strings.TrimRight(line[:cut(line, edge)], " ")
	}
	return out
}

// cut is the byte at which a line reaches a column.
func cut(line string, column int) int {
	at := 0
	for i, r := range line {
		if at += cellsOf(r); at > column {
			return i
		}
	}
	return len(line)
}

// cells is how many columns a text takes.
func cells(text string) (n int) {
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

// cellsOf is how many columns a rune takes, near enough to find a column by it.
func cellsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul),
		r >= 0x3000 && r <= 0x303f, r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}
