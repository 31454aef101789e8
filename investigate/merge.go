package investigate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is the answer to a question. Every statement in it names the place in
// the code that backs it.
type Report struct {
	Question  string         `json:"question"`
	Language  string         `json:"language"`
	Root      string         `json:"root"`
	Terms     []Term         `json:"terms,omitempty"`
	Answer    []Claim        `json:"answer"`
	Places    []Place        `json:"places,omitempty"`   // where it is implemented, best first
	Subjects  []Subject      `json:"subjects,omitempty"` // how it works inside
	Mentions  []Hit          `json:"mentions,omitempty"` // lines elsewhere
	Named     []FoundFile    `json:"named,omitempty"`    // files named like it
	Survey    *Survey        `json:"survey,omitempty"`   // for a question that names nothing
	Files     int            `json:"files"`
	Languages map[string]int `json:"languages,omitempty"`
	Folders   []Folder       `json:"folders,omitempty"`
	Steps     []StepNote     `json:"steps"`
	Gaps      []string       `json:"gaps,omitempty"` // what could not be found out
	Problems  []Problem      `json:"problems,omitempty"`
	Elapsed   time.Duration  `json:"elapsed,omitempty"`
}

// Claim is one statement of the answer with its evidence.
type Claim struct {
	Text string `json:"text"`
	Refs []Ref  `json:"refs,omitempty"`
}

// StepNote says what was done for the report, and what was cut.
type StepNote struct {
	Command string  `json:"command"`
	Summary string  `json:"summary"`
	Digest  *Digest `json:"digest,omitempty"`
	Failed  bool    `json:"failed,omitempty"`
}

const (
	maxPlaces     = 10
	maxLinesShown = 12
	maxNamed      = 10
	maxFolders    = 12
)

// Merge puts the outcomes of all rounds together.
func Merge(q Question, outcomes []Outcome) Report {
	r := Report{Question: q.Text, Language: q.Language, Terms: q.Terms}
	for _, o := range outcomes {
		r.note(o)
		if o.Tree != nil && r.Root == "" {
			r.Root, r.Files, r.Languages = o.Tree.Root, o.Tree.Files, o.Tree.Languages
			r.Folders = biggest(o.Tree.Folders)
		}
		if o.Static != nil {
			r.addStatic(o.Static)
		}
		if o.Find != nil {
			r.addNamed(o.Find)
		}
	}
	r.Places = ownCode(rankPlaces(q, outcomes))
	r.Places = r.Places[:min(len(r.Places), maxPlaces)]
	r.Mentions = r.mentionsOutside(rankHits(q, outcomes))
	r.orderSubjects()
	r.findGaps(q, outcomes)
	r.Answer = r.claims(q)
	return r
}

// note keeps what a step did, so that a cut or a failure is visible.
func (r *Report) note(o Outcome) {
	r.Steps = append(r.Steps, StepNote{Command: o.Command.String(), Summary: o.Summary(), Digest: o.Digest, Failed: o.Failed()})
	for _, p := range o.Problems() {
		if len(r.Problems) < maxProblems && !slices.Contains(r.Problems, p) {
			r.Problems = append(r.Problems, p)
		}
	}
}

func biggest(folders []Folder) []Folder {
	sorted := slices.Clone(folders)
	slices.SortStableFunc(sorted, func(a, b Folder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return sorted[:min(len(sorted), maxFolders)]
}

func (r *Report) addStatic(s *StaticResult) {
	if s.Survey != nil {
		r.Survey = s.Survey
	}
	for _, sub := range s.Subjects {
		known := slices.ContainsFunc(r.Subjects, func(have Subject) bool {
			return have.Path == sub.Path && have.Line == sub.Line && have.Name == sub.Name
		})
		if !known {
			r.Subjects = append(r.Subjects, sub)
		}
	}
	r.Gaps = append(r.Gaps, s.Notes...)
}

func (r *Report) addNamed(f *FindResult) {
	for _, file := range f.Files {
		if len(r.Named) < maxNamed && !slices.Contains(r.Named, file) && !isSidePath(file.Path) {
			r.Named = append(r.Named, file)
		}
	}
}

// ownCode leaves out what others wrote and what tests feed on, unless nothing
// else was found.
func ownCode(places []Place) []Place {
	own := slices.DeleteFunc(slices.Clone(places), func(p Place) bool { return isSidePath(p.Path) })
	if len(own) == 0 {
		return places
	}
	return own
}

// mentionsOutside keeps the best lines that no place covers.
func (r *Report) mentionsOutside(hits []Hit) []Hit {
	var out []Hit
	for _, h := range hits {
		covered := slices.ContainsFunc(r.Places, func(p Place) bool { return p.Path == h.Path && p.Line <= h.Line && h.Line <= p.End })
		if !covered && len(out) < maxLinesShown {
			out = append(out, h)
		}
	}
	return out
}

// orderSubjects puts the analysed declarations in the order of the places.
func (r *Report) orderSubjects() {
	rank := func(s Subject) int {
		for i, p := range r.Places {
			if p.Path == s.Path && p.Line == s.Line {
				return i
			}
		}
		return len(r.Places)
	}
	slices.SortStableFunc(r.Subjects, func(a, b Subject) int { return cmp.Compare(rank(a), rank(b)) })
	r.Subjects = r.Subjects[:min(len(r.Subjects), maxSubjects)]
}

// findGaps says what the outcomes leave open.
func (r *Report) findGaps(q Question, outcomes []Outcome) {
	succeeded := map[string]bool{}
	for _, o := range outcomes {
		if !o.Failed() {
			succeeded[o.Command.String()] = true
		}
	}
	for _, o := range outcomes {
		switch {
		case o.Failed() && !succeeded[o.Command.String()]:
			r.Gaps = append(r.Gaps, o.Command.String()+": "+o.Error)
		case o.Partial() != "":
			r.Gaps = append(r.Gaps, o.Command.String()+": "+o.Partial())
		}
	}
	for _, t := range q.Terms {
		if t.Kind != TermPhrase && t.Kind != TermFile && !r.has(t) {
			r.Gaps = append(r.Gaps, fmt.Sprintf(r.label().NotFound, t.Text))
		}
	}
	if q.Cut {
		r.Gaps = append(r.Gaps, r.label().QuestionCut)
	}
	if r.Files == 0 {
		r.Gaps = append(r.Gaps, r.label().EmptyTree)
	}
	slices.Sort(r.Gaps)
	r.Gaps = slices.Compact(r.Gaps)
}

func (r *Report) has(t Term) bool {
	m := newTermMatcher(t)
	return slices.ContainsFunc(r.Places, func(p Place) bool { return m.strength(&p.Signature) > 0 }) ||
		slices.ContainsFunc(r.Mentions, func(h Hit) bool { return m.matches(h.Text) }) ||
		slices.ContainsFunc(r.Named, func(f FoundFile) bool { return m.matches(f.Path) })
}

// claims writes the short answer.
func (r *Report) claims(q Question) []Claim {
	l := r.label()
	switch {
	case q.Overview():
		return r.overviewClaims()
	case len(r.Places) == 0 && len(r.Mentions) == 0 && len(r.Named) == 0:
		return []Claim{{Text: fmt.Sprintf(l.Nothing, termList(q.Terms), r.Files)}}
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
	best := r.Places[0]
	out := []Claim{{Text: fmt.Sprintf(l.Implemented, best.Qualified(), best.Kind), Refs: []Ref{{Path: best.Path, Line: best.Line, Name: best.Name}}}}
	if also := r.Places[1:min(len(r.Places), 4)]; len(also) > 0 {
		c := Claim{Text: l.SeeAlso}
		for _, p := range also {
			c.Refs = append(c.Refs, Ref{Path: p.Path, Line: p.Line, Name: p.Qualified()})
		}
		out = append(out, c)
	}
	if len(r.Subjects) > 0 {
		out = append(out, r.subjectClaims(&r.Subjects[0])...)
	}
	return out
}

func (r *Report) subjectClaims(s *Subject) []Claim {
	l := r.label()
	var out []Claim
	add := func(format string, refs []Ref) {
		if len(refs) > 0 {
			out = append(out, Claim{Text: fmt.Sprintf(format, s.Qualified(), len(refs)), Refs: refs[:min(len(refs), 3)]})
		}
	}
	add(l.CalledBy, s.Callers)
	add(l.CallsOut, s.Callees)
	add(l.TestedBy, s.Tests)
	return out
}

func (r *Report) overviewClaims() []Claim {
	l := r.label()
	out := []Claim{{Text: fmt.Sprintf(l.Overview, r.Files, languageList(r.Languages))}}
	if r.Survey == nil {
		return out
	}
	if len(r.Survey.Entries) > 0 {
		out = append(out, Claim{Text: l.BeginsAt, Refs: r.Survey.Entries[:min(len(r.Survey.Entries), 4)]})
	}
	if len(r.Survey.Packages) > 0 {
		p := r.Survey.Packages[0]
		out = append(out, Claim{Text: fmt.Sprintf(l.Biggest, p.Path, p.Lines), Refs: []Ref{{Path: p.First, Line: 1}}})
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
