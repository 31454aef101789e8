package investigate

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// pattern is a compiled search: the cheapest test that finds candidate lines,
// and the exact test that confirms them.
type pattern struct {
	needles []needle // candidates contain one of these; nil: the automaton finds them
	exact   bool     // a needle found is a hit, no regexp needed
	words   bool     // the expression has words in it, which have edges
	re      *regexp.Regexp
	prog    *syntax.Prog
}

const (
	maxPattern = 8 << 10
	// maxProgram bounds the time that one line can take: package regexp is linear
	// in line length times program length.
	maxProgram = 5000
)

// compilePattern reads a regular expression in Go's syntax, or a literal string.
// Lines that hold one of the words as a part of a name match too.
func compilePattern(text string, literal, ignoreCase bool, words ...string) (*pattern, error) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Trim(w, " -") == "" })
	switch {
	case len(words) > maxWords:
		return nil, fmt.Errorf("search for %d words, at most %d", len(words), maxWords)
	case text == "" && len(words) > 0:
		return compileWords(nil, words)
	case text == "":
		return nil, fmt.Errorf("search pattern is empty; give the text to look for")
	case len(text) > maxPattern:
		return nil, fmt.Errorf("search pattern of %d bytes is longer than %d", len(text), maxPattern)
	}
	source := text
	if literal {
		source = regexp.QuoteMeta(text)
	}
	if ignoreCase {
		source = "(?i:" + source + ")"
	}
	p, err := compileSource(source, text)
	if err != nil || len(words) == 0 {
		return p, err
	}
	return compileWords(p, words)
}

// compileWords makes one pattern of another, or nil, and of words.
func compileWords(p *pattern, words []string) (*pattern, error) {
	var exprs []string
	needles := wordNeedles(words)
	if p != nil {
		exprs = append(exprs, p.re.String())
		if needles = append(needles, p.needles...); p.needles == nil {
			needles = nil
		}
	}
	for i, w := range words {
		exprs = append(exprs, wordExpr(w, i))
	}
	all, err := compileSource(strings.Join(exprs, "|"), strings.Join(words, ", "))
	if err != nil {
		return nil, err
	}
	all.exact, all.words, all.needles = false, true, nil
	if needles != nil && worthLooking(needles) {
		all.needles = needles
	}
	return all, nil
}

// compileSource compiles an expression; text is how it was asked for.
func compileSource(source, text string) (*pattern, error) {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("search pattern %q: %w; set \"literal\" to search for the text as it stands", clip(text, 80), err)
	}
	if hasLineBreak(tree) {
		return nil, fmt.Errorf("search pattern %q has a line break; the search works line by line", clip(text, 80))
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("search pattern %q: %w", clip(text, 80), err)
	}
	if len(prog.Inst) > maxProgram {
		return nil, fmt.Errorf("search pattern %q is too complex (%d steps, at most %d); use smaller repeat counts", clip(text, 80), len(prog.Inst), maxProgram)
	}
	p := &pattern{prog: prog, needles: needlesOf(tree)}
	p.exact = tree.Op == syntax.OpLiteral && p.needles != nil
	if p.re, err = regexp.Compile(source); err != nil {
		return nil, fmt.Errorf("search pattern %q: %w", clip(text, 80), err)
	}
	return p, nil
}

func hasLineBreak(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, hasLineBreak)
}

// searcher runs a pattern in one goroutine.
type searcher struct {
	*pattern
	auto *automaton
	// placed asks for the place of each match within its line; counting needs none.
	placed bool
}

func (p *pattern) searcher() *searcher { return &searcher{pattern: p, placed: true} }

func (s *searcher) automaton() *automaton {
	if s.auto == nil {
		s.auto = newAutomaton(s.prog)
	}
	return s.auto
}

// lines calls hit with the bounds of each line of b that matches and the offset
// of the match within b, in order, until hit returns false. b holds whole lines;
// the last may lack its newline.
func (s *searcher) lines(b []byte, hit func(start, end, at int) bool) {
	needles := s.needles
	for i := range needles {
		if needles[i].foldsBeyondASCII() && hasFoldedVariant(b) {
			needles = nil
			break
		}
	}
	cursor := needleCursor{needles: needles, next: [maxNeedles]int{}}
	for from := 0; from < len(b); {
		at := -1
		if needles != nil {
			at = cursor.find(b, from)
		} else if i := s.automaton().find(b[from:]); i >= 0 {
			at = from + max(i-1, 0)
		}
		if at < 0 {
			return
		}
		start, end := lineAround(b, from, at)
		if at, ok := s.confirm(b, start, end, at); ok && !hit(start, end, at) {
			return
		}
		from = end + 1
	}
}

// confirm decides whether the line really matches, and where.
func (s *searcher) confirm(b []byte, start, end, at int) (int, bool) {
	if s.exact && len(s.needles) == 1 && at+len(s.needles[0].text) <= end && s.needles[0].matchesAt(b[at:]) {
		return at, true
	}
	if auto := s.automaton(); auto.find(b[start:end]) < 0 {
		return 0, false
	} else if auto.exact && !s.placed {
		return start, true
	}
	line := bytes.TrimSuffix(b[start:end], []byte("\r"))
	loc := s.re.FindIndex(line)
	if loc != nil && s.words {
		loc = findWord(s.re, line)
	}
	if loc == nil {
		return 0, false
	}
	return start + loc[0], true
}

func (n *needle) matchesAt(b []byte) bool {
	if n.fold {
		return n.equalAt(b)
	}
	return bytes.HasPrefix(b, n.text)
}

func lineAround(b []byte, from, at int) (start, end int) {
	start = from
	if i := bytes.LastIndexByte(b[from:at], '\n'); i >= 0 {
		start = from + i + 1
	}
	end = len(b)
	if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
		end = at + i
	}
	return start, end
}

// needleCursor remembers where each needle occurs next, so that a rare one is
// not looked for again after every hit of a frequent one.
type needleCursor struct {
	needles []needle
	next    [maxNeedles]int // offset+1 of the next occurrence; 0: not looked yet; -1: none
}

func (c *needleCursor) find(b []byte, from int) int {
	best := -1
	for i := range c.needles {
		if c.next[i] >= 0 && c.next[i] <= from {
			if at := c.needles[i].index(b[from:]); at >= 0 {
				c.next[i] = from + at + 1
			} else {
				c.next[i] = -1
			}
		}
		if at := c.next[i] - 1; at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	return best
}
