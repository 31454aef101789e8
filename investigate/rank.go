package investigate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// Place is a declaration that answers the question, and why.
type Place struct {
	Signature
	Score int    `json:"score"`
	Why   string `json:"why"`
}

// termMatcher finds a term in names and lines, in any spelling of case.
type termMatcher struct {
	Term
	re *regexp.Regexp
}

func newTermMatcher(t Term) termMatcher {
	expr := "(?i:" + regexp.QuoteMeta(t.Text) + ")"
	if words := t.words(); len(words) > 0 {
		for i, w := range words {
			words[i] = wordExpr(w, i)
		}
		expr = strings.Join(words, "|")
	}
	return termMatcher{Term: t, re: regexp.MustCompile(expr)}
}

func newTermMatchers(terms []Term) []termMatcher {
	matchers := make([]termMatcher, len(terms))
	for i, t := range terms {
		matchers[i] = newTermMatcher(t)
	}
	return matchers
}

func (m *termMatcher) matches(text string) bool { return m.re.MatchString(text) }

// nearName is the least strength at which the term is in the declaration's name.
const nearName = 5

// strength says how well a declaration fits the term, from 0 to 12.
func (m *termMatcher) strength(s *Signature) int {
	if m.Kind == TermFile {
		return m.fileStrength(s.Path)
	}
	name := m.Text[strings.LastIndexByte(m.Text, '.')+1:]
	// A plain word in small letters does not say how the name is spelled.
	spelled := m.Kind != TermWord || m.Text != strings.ToLower(m.Text)
	switch {
	case spelled && (s.Qualified() == m.Text || strings.HasSuffix(s.Qualified(), "."+m.Text)):
		return 12
	case s.Name == name || !spelled && (strings.EqualFold(s.Name, name) || strings.EqualFold(s.Name, stemOf(name))):
		return 10
	case strings.EqualFold(s.Name, name):
		return 9
	case m.matches(s.Name) && m.fills(s.Name):
		return 7
	case m.matches(s.Name):
		return nearName
	case m.matches(s.Scope):
		return 3
	case m.matches(s.Path), m.matches(s.Signature):
		return 2
	}
	return 0
}

// fills tells whether the match is most of the name: retryPolicy fills
// newRetryPolicy, not retryPolicyTestServerFactory.
func (m *termMatcher) fills(name string) bool {
	at := findWord(m.re, []byte(name))
	return at != nil && 2*(at[1]-at[0]) >= len(name)
}

// fileStrength says how well a path fits a file or folder that the question names.
func (m *termMatcher) fileStrength(path string) int {
	switch {
	case isFile(path, m.Text):
		return 12
	case strings.Contains("/"+path, "/"+m.Text+"/"):
		return 4
	case m.matches(path):
		return 2
	}
	return 0
}

// isFile tells whether a name that someone wrote means the file at path.
func isFile(path, name string) bool { return path == name || strings.HasSuffix(path, "/"+name) }

// fileKind is the kind of a place that is a whole file.
const fileKind scan.Kind = "file"

// maxNamedFiles is how many files of one name are taken for the one meant.
const maxNamedFiles = 3

// namedFiles lists the files that the question names and a search found, those
// nearest to the top first.
func namedFiles(q Question, outcomes []Outcome) []Place {
	var places []Place
	for _, t := range q.Terms {
		var files []string
		for _, o := range outcomes {
			if o.Find == nil || t.Kind != TermFile {
				continue
			}
			for _, f := range o.Find.Files {
				if isFile(f.Path, t.Text) && !slices.Contains(files, f.Path) {
					files = append(files, f.Path)
				}
			}
		}
		slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")) })
		for _, path := range files[:min(len(files), maxNamedFiles)] {
			p := Place{Signature: Signature{Path: path}, Score: 12 * t.Weight, Why: t.Text}
			p.Name, p.Kind, p.Line, p.End = path[strings.LastIndexByte(path, '/')+1:], fileKind, 1, 1
			places = append(places, p)
		}
	}
	return places
}

// rankPlaces orders every declaration found by how well it answers the question.
func rankPlaces(q Question, outcomes []Outcome) []Place {
	matchers := newTermMatchers(q.Terms)
	lines := hitLines(outcomes)
	seen := map[string]bool{}
	var places []Place
	for _, o := range outcomes {
		for _, s := range o.declarations() {
			key := s.Path + "\x00" + s.Qualified() + "\x00" + s.Signature
			if seen[key] {
				continue
			}
			seen[key] = true
			if p := scorePlace(s, matchers, lines[s.Path]); p.Score > 0 {
				places = append(places, p)
			}
		}
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return places
}

// kindRank orders declarations that fit alike: what a name is defined as comes
// before what works with it.
func kindRank(k scan.Kind) int {
	switch k {
	case scan.Function, scan.Macro:
		return 1
	case scan.Method:
		return 2
	case scan.Constant, scan.Variable:
		return 3
	case scan.Prototype, scan.Module:
		return 4
	}
	return 0
}

// declarations lists the declarations that an outcome holds.
func (o *Outcome) declarations() []Signature {
	if o.Signatures != nil {
		return o.Signatures.Signatures
	}
	var out []Signature
	if o.Static != nil {
		for _, s := range o.Static.Subjects {
			out = append(out, s.Signature)
		}
	}
	return out
}

// hitLines are the lines that a search found, by file.
func hitLines(outcomes []Outcome) map[string][]Hit {
	lines := map[string][]Hit{}
	for _, o := range outcomes {
		if o.Grep != nil {
			for _, h := range o.Grep.Hits {
				lines[h.Path] = append(lines[h.Path], h)
			}
		}
	}
	return lines
}

// remarkLines is how far above a declaration its remark may begin.
const remarkLines = 3

// remarked says that a searched line of the declaration, or of the remark above
// it, has the term.
func (m *termMatcher) remarked(s *Signature, lines []Hit) bool {
	return slices.ContainsFunc(lines, func(h Hit) bool {
		return s.Line-remarkLines <= h.Line && h.Line <= s.End && m.matches(h.Text)
	})
}

// scorePlace weighs a declaration: the terms it fits, how many of them, the
// searched lines inside it, and whether it is the code itself or a test of it.
func scorePlace(s Signature, matchers []termMatcher, lines []Hit) Place {
	score, covered, total := 0, 0, 0
	var why []string
	for i := range matchers {
		m := &matchers[i]
		total += m.Weight
		n := m.strength(&s)
		if n > 0 {
			score += n * m.Weight
			if n >= nearName {
				why = append(why, m.Text)
			}
		}
		if n > 0 || m.remarked(&s, lines) {
			covered += m.Weight
		}
	}
	if score == 0 {
		return Place{}
	}
	inside := 0
	for _, l := range lines {
		if s.Line <= l.Line && l.Line <= s.End {
			inside++
		}
	}
	score = score*(40+60*covered/max(total, 1))/100 + min(inside, 5)
	switch {
	case isSidePath(s.Path):
		score /= 10
	case isTestPath(s.Path):
		score = score * 4 / 10
	}
	switch s.Kind {
	case scan.Prototype, scan.Module:
		score = score * 7 / 10
	case scan.Constant, scan.Variable:
		score = score * 9 / 10
	}
	return Place{Signature: s, Score: score, Why: strings.Join(why, ", ")}
}

// rankHits orders the lines found: those with more terms first, code before
// tests.
func rankHits(q Question, outcomes []Outcome) []Hit {
	matchers := newTermMatchers(q.Terms)
	type ranked struct {
		Hit
		score int
	}
	var all []ranked
	type place struct {
		path string
		line int
	}
	seen := map[place]bool{}
	for _, o := range outcomes {
		if o.Grep == nil {
			continue
		}
		for _, h := range o.Grep.Hits {
			if at := (place{h.Path, h.Line}); seen[at] {
				continue
			} else {
				seen[at] = true
			}
			score := 0
			for i := range matchers {
				if matchers[i].matches(h.Text) {
					score += 3 * matchers[i].Weight
				}
				if matchers[i].matches(h.Path) {
					score += matchers[i].Weight
				}
			}
			switch {
			case isSidePath(h.Path):
				score /= 10
			case isTestPath(h.Path), strings.HasSuffix(h.Text, "…"): // a line that long was not written by hand
				score /= 2
			}
			all = append(all, ranked{h, score})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	out := make([]Hit, len(all))
	for i, r := range all {
		out[i] = r.Hit
	}
	return out
}
