package investigate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// claims writes the short answer.
func (r *Report) claims(q Question) []Claim {
	l := r.label()
	switch {
	case q.Overview():
		return r.overviewClaims()
	case len(r.Places) == 0 && len(r.Mentions) == 0 && len(r.Named) == 0:
		return []Claim{{Text: fmt.Sprintf(l.Nothing, termList(q.Terms), l.Files.say(r.Files))}}
	case len(r.Places) == 0:
		refs := []Ref{}
		for _, h := range r.Mentions[:min(len(r.Mentions), 3)] {
			refs = append(refs, Ref{Path: h.Path, Line: h.Line, Text: h.Text})
		}
		for _, f := range r.Named[:min(len(r.Named), 3)] {
			refs = append(refs, Ref{Path: f.Path, Line: 1})
		}
		return []Claim{{Text: fmt.Sprintf(l.OnlyLines, termList(q.Terms)), Refs: refs}}
	}
	files, declared := r.splitPlaces()
	var out []Claim
	if len(files) > 0 {
		c := Claim{Text: l.NamesFile}
		for _, f := range files {
			c.Refs = append(c.Refs, Ref{Path: f.Path, Line: f.Line})
		}
		out = append(out, c)
	}
	if len(declared) > 0 {
		out = append(out, r.placeClaims(q, declared)...)
	}
	if len(r.Subjects) > 0 {
		out = append(out, r.subjectClaims(&r.Subjects[0])...)
	}
	return out
}

// splitPlaces tells the files that the question names from the declarations.
func (r *Report) splitPlaces() (files, declared []Place) {
	n := slices.IndexFunc(r.Places, func(p Place) bool { return p.Kind != fileKind })
	if n < 0 {
		return r.Places, nil
	}
	return r.Places[:n], r.Places[n:]
}

// placeClaims names the best declaration and its neighbours. Where only the file
// is named in the question, it lists what the file declares.
func (r *Report) placeClaims(q Question, places []Place) []Claim {
	l := r.label()
	list := func(text string, places []Place) Claim {
		c := Claim{Text: text}
		for _, p := range places {
			c.Refs = append(c.Refs, Ref{Path: p.Path, Line: p.Line, Name: p.Qualified()})
		}
		return c
	}
	best := places[0]
	byName := slices.ContainsFunc(newTermMatchers(q.Terms), func(m termMatcher) bool { return m.Kind != TermFile && m.strength(&best.Signature) >= nearName })
	if !byName && len(r.Places) > len(places) {
		return []Claim{list(l.Declares, places[:min(len(places), 5)])}
	}
	out := []Claim{{Text: fmt.Sprintf(l.Implemented, best.Qualified(), l.Kind(best.Kind)), Refs: []Ref{{Path: best.Path, Line: best.Line}}}}
	if also := places[1:min(len(places), 4)]; len(also) > 0 {
		out = append(out, list(l.SeeAlso, also))
	}
	return out
}

// caution is what a reader must know first: that something else was wanted than
// a search can give, or that nothing fits well. Most reports need none.
func (r *Report) caution(q Question) string {
	l := r.label()
	switch {
	case q.Work:
		return l.ForWork
	case q.Chat:
		return l.ForChat + " " + l.ForMore
	case !q.Overview() && r.weak(q):
		return l.ForWeak + " " + l.ForMore
	}
	return ""
}

// weak tells whether the best place fits the question badly: no word of it is in
// the name, or less than a third of the words is anywhere near. What was named
// exactly and found is never weak.
func (r *Report) weak(q Question) bool {
	matchers := newTermMatchers(q.Terms)
	for i := range matchers {
		if k := matchers[i].Kind; (k == TermQuoted || k == TermIdentifier || k == TermFile) && r.has(matchers[i].Term) {
			return false
		}
	}
	if r.Files == 0 {
		return false // said more plainly elsewhere
	}
	if len(r.Places) == 0 {
		return true
	}
	best, covered, total := 0, 0, 0
	for i := range matchers {
		n := matchers[i].strength(&r.Places[0].Signature)
		best = max(best, n)
		if matchers[i].Kind == TermWord {
			total++
			covered += min(n, 1)
		}
	}
	return best < nearName || 3*covered < total
}

func (r *Report) subjectClaims(s *Subject) []Claim {
	l := r.label()
	var out []Claim
	add := func(format plural, refs []Ref) {
		if len(refs) > 0 {
			out = append(out, Claim{Text: fmt.Sprintf(format.Of(len(refs)), s.Qualified(), len(refs)), Refs: refs[:min(len(refs), 3)]})
		}
	}
	add(l.CalledBy, s.Callers)
	add(l.CallsOut, s.Callees)
	add(l.TestedBy, s.Tests)
	return out
}

func (r *Report) overviewClaims() []Claim {
	l := r.label()
	if r.Files == 0 {
		return []Claim{{Text: fmt.Sprintf(l.Empty, r.Root)}}
	}
	out := []Claim{{Text: fmt.Sprintf(l.Overview, l.Files.say(r.Files), languageList(r.Languages))}}
	if r.Survey == nil {
		return out
	}
	if len(r.Survey.Entries) > 0 {
		out = append(out, Claim{Text: l.BeginsAt, Refs: r.Survey.Entries[:min(len(r.Survey.Entries), 4)]})
	}
	if len(r.Survey.Packages) > 0 {
		p := r.Survey.Packages[0]
		out = append(out, Claim{Text: fmt.Sprintf(l.Biggest, p.Path, l.Lines.say(p.Lines)), Refs: []Ref{{Path: p.First, Line: 1}}})
	}
	return out
}

func termList(terms []Term) string {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.Text
	}
	return strings.Join(names, ", ")
}

func languageList(languages map[string]int) string {
	names := make([]string, 0, len(languages))
	for name := range languages {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(languages[b], languages[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, languages[name])
	}
	return cmp.Or(strings.Join(names, ", "), "-")
}
