package investigate

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// needle is a string that every match of a pattern contains. Looking for it is
// an order of magnitude faster than running the pattern.
type needle struct {
	text []byte // lower case where fold is set
	fold bool   // ASCII letters match in either case
	rare int    // index of the byte that is least frequent in source code
	rank int    // how rare that byte is
	// whole is set where the pattern matches the needle and nothing else, as ^x$.
	whole bool
}

// byFrequency lists the bytes of source code, the most frequent first. A byte
// that is not listed is rarer than all of them.
const byFrequency = " etaoinsrlcdupmfghbyvw_.,()=x\":/kjqz"

func newNeedle(text string, fold bool) needle {
	n := needle{text: []byte(text), fold: fold}
	if fold {
		n.text = bytes.ToLower(n.text)
	}
	n.rank = -1
	for i, c := range n.text {
		rank := strings.IndexByte(byFrequency, c)
		if rank < 0 {
			rank = len(byFrequency)
		}
		if rank > n.rank {
			n.rank, n.rare = rank, i
		}
	}
	return n
}

// index is bytes.Index for the needle.
func (n *needle) index(b []byte) int {
	if !n.fold {
		return bytes.Index(b, n.text)
	}
	low := n.text[n.rare]
	up := low
	if 'a' <= low && low <= 'z' {
		up = low - 'a' + 'A'
	}
	nextLow, nextUp := indexFrom(b, low, 0), -1
	if up != low {
		nextUp = indexFrom(b, up, 0)
	}
	for nextLow >= 0 || nextUp >= 0 {
		at := nextLow
		if at < 0 || nextUp >= 0 && nextUp < at {
			at = nextUp
			nextUp = indexFrom(b, up, at+1)
		} else {
			nextLow = indexFrom(b, low, at+1)
		}
		if start := at - n.rare; start >= 0 && start+len(n.text) <= len(b) && n.equalAt(b[start:]) {
			return start
		}
	}
	return -1
}

func indexFrom(b []byte, c byte, from int) int {
	if from >= len(b) {
		return -1
	}
	i := bytes.IndexByte(b[from:], c)
	if i < 0 {
		return -1
	}
	return from + i
}

func (n *needle) equalAt(b []byte) bool {
	for i, want := range n.text {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want {
			return false
		}
	}
	return true
}

// foldsBeyondASCII tells whether a letter of the needle has a case variant that
// is not ASCII: the Kelvin sign for k, the long s for s.
func (n *needle) foldsBeyondASCII() bool {
	return n.fold && bytes.ContainsAny(n.text, "ks")
}

// hasFoldedVariant tells whether b holds one of those variants, in which case
// the needle must not be trusted for b.
func hasFoldedVariant(b []byte) bool {
	return bytes.Contains(b, []byte("\u212a")) || bytes.Contains(b, []byte("\u017f"))
}

// maxNeedles is how many alternatives are looked for one by one before the
// automaton is faster.
const maxNeedles = 4

// needlesOf returns strings of which every match of re contains at least one, or
// none where the pattern promises no string worth looking for.
func needlesOf(re *syntax.Regexp) []needle {
	set, ok := required(re)
	if !ok || !worthLooking(set) {
		return nil
	}
	return set
}

// worthLooking says that the needles find candidates faster than the automaton
// does. A single byte does so too, even a frequent letter, but for the blank,
// which nearly every line has.
func worthLooking(set []needle) bool {
	single := len(set) == 1 && len(set[0].text) == 1 && set[0].text[0] != ' '
	return len(set) <= maxNeedles && (shortest(set) >= 2 || single)
}

func required(re *syntax.Regexp) ([]needle, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		fold := re.Flags&syntax.FoldCase != 0
		text := string(re.Rune)
		if fold && !isASCII(text) {
			return nil, false
		}
		return []needle{newNeedle(text, fold && hasLetter(text))}, true
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min >= 1 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		if len(re.Sub) == 3 && re.Sub[0].Op == syntax.OpBeginText && re.Sub[2].Op == syntax.OpEndText {
			set, ok := required(re.Sub[1])
			for i := range set {
				set[i].whole = re.Sub[1].Op == syntax.OpLiteral
			}
			return set, ok
		}
		var best []needle
		for _, sub := range re.Sub {
			set, ok := required(sub)
			if ok && (best == nil || rarer(set, best)) {
				best = set
			}
		}
		return best, best != nil
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			set, ok := required(sub)
			if !ok {
				return nil, false
			}
			all = append(all, set...)
		}
		return all, true
	}
	return nil, false
}

// rarer says that a finds fewer places than b: it is longer, or as long with
// rarer bytes.
func rarer(a, b []needle) bool {
	if d := shortest(a) - shortest(b); d != 0 {
		return d > 0
	}
	byRank := func(x, y needle) int { return x.rank - y.rank }
	return slices.MinFunc(a, byRank).rank > slices.MinFunc(b, byRank).rank
}

func shortest(set []needle) int {
	n := len(set[0].text)
	for _, s := range set[1:] {
		n = min(n, len(s.text))
	}
	return n
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func hasLetter(s string) bool { return strings.ToLower(s) != strings.ToUpper(s) }
