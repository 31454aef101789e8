package agents

import (
	"slices"
	"strings"
	"unicode"
)

const (
	mostWords = 5   // lines: enough for an error, its cause and its cure
	mostGist  = 200 // runes: a note beside a name
)

// LastWords are what a program that has ended says for it: the lowest lines on
// its screen, and the last block of them as one line. Frames say nothing.
func LastWords(s Screen) (words []string, gist string) {
	var block []string
	whole := false
	for _, line := range slices.Backward(withoutObituary(s.Lines)) {
		if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			whole = whole || len(words) > 0
			continue
		}
		if len(words) == mostWords {
			break
		}
		words = append(words, strings.TrimRightFunc(line, unicode.IsSpace))
		if !whole {
			block = append(block, strings.TrimSpace(line))
		}
	}
	slices.Reverse(words)
	slices.Reverse(block)
	gist = strings.Join(block, " ")
	if runes := []rune(gist); len(runes) > mostGist {
		gist = string(runes[:mostGist-1]) + "…"
	}
	return words, gist
}
