package investigate

import (
	"strings"
	"unicode/utf8"
)

// clip cuts text to at most n bytes, at a rune's edge, and shows the cut.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// maxShownLine is what is kept of a source line in a result.
const maxShownLine = 240

// shown makes a source line printable: valid UTF-8, no control characters, no
// indentation, and of bounded length around column at.
func shown(line []byte, at int) string {
	cutLeft := false
	if len(line) > maxShownLine && at > maxShownLine/2 {
		line = line[min(at-maxShownLine/2, len(line)):]
		cutLeft = true
	}
	cutRight := len(line) > maxShownLine
	if cutRight {
		line = line[:maxShownLine]
	}
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(line), "\uFFFD"))
	text = strings.TrimSpace(text)
	if cutLeft {
		text = "…" + text
	}
	if cutRight {
		text += "…"
	}
	return text
}
