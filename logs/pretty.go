package logs

import (
	"strings"
	"time"
	"unicode"
)

// The colours of the line types; the word stands beside, so that colour
// carries no meaning alone.
const (
	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// Pretty shows one hop to a person: time, from → to, type and the first line
// of the content, in at most width columns; 0 means no limit. What an agent
// wrote cannot move the cursor or change colours: control characters are left
// out.
func Pretty(l Line, width int, color bool) string {
	at := l.Timestamp
	if t, err := time.Parse(time.RFC3339Nano, l.Timestamp); err == nil {
		at = t.Local().Format("15:04:05.000")
	}
	hop := clean(l.From) + " → " + clean(l.To)
	head := clean(at) + "  " + hop + "  " + clean(l.Type)
	said := "  " + firstLine(l.Content)
	if l.Error != "" {
		said = "  [" + clean(l.Error) + "]" + said
	}
	if width > 0 {
		whole := head + said
		if cut := fit(whole, width); cut != whole {
			rest, ok := strings.CutPrefix(cut, head)
			if !ok {
				return cut // too narrow for colours to be worth their trouble
			}
			said = rest
		}
	}
	if color {
		style := bold + typeColor(l.Type)
		head = dim + clean(at) + reset + "  " + hop + "  " + style + clean(l.Type) + reset
	}
	return strings.TrimRight(head+said, " ")
}

func typeColor(kind string) string {
	switch kind {
	case "task":
		return "\x1b[34m"
	case "result":
		return "\x1b[32m"
	case "error":
		return "\x1b[31m"
	}
	return "\x1b[36m"
}

// firstLine returns the first line that says something, and a sign where more
// follows it.
func firstLine(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if first = clean(first); strings.TrimSpace(rest) != "" {
		first += " …"
	}
	return first
}

// clean drops what is not to be shown and makes tabs narrow.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d', r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}

// fit shortens s to width columns and ends it with a sign where it did.
func fit(s string, width int) string {
	used := 0
	short := 0 // bytes that leave room for the sign
	for i, r := range s {
		if used <= width-1 {
			short = i
		}
		if used += columns(r); used > width {
			return s[:short] + "…"
		}
	}
	return s
}

// columns is how wide a terminal draws a rune. Terminals disagree about the
// rest; for the scripts our users write in they do not.
func columns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100:
		return 1
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && r != 'ｰ' && (r < 0xff61 || r > 0xffdc),
		r >= 0x3000 && r <= 0x303e,   // ideographic punctuation
		r >= 0xff01 && r <= 0xff60,   // full-width forms
		r >= 0xffe0 && r <= 0xffe6,   // full-width signs
		r >= 0x30fb && r <= 0x30fc,   // the dot and the long vowel of kana
		r >= 0x1f300 && r <= 0x1f64f, // pictures and faces
		r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1faff:
		return 2
	}
	return 1
}
