package investigate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Report is the answer to a question. Every statement in it names the place in
// the code that backs it.
type Report struct {
	Note      string         `json:"note,omitempty"` // what to know before believing the rest
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

// Sources are the files that the report rests on, each once: those its answer
// names, then those with the places it lists.
func (r Report) Sources() []string {
	var paths []string
	add := func(path string) {
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, claim := range r.Answer {
		for _, ref := range claim.Refs {
			add(ref.Path)
		}
	}
	for _, place := range r.Places {
		add(place.Path)
	}
	return paths
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
			r.addNamed(q, o.Find)
		}
	}
	r.Places = append(namedFiles(q, outcomes), ownCode(rankPlaces(q, outcomes))...)
	r.Places = r.Places[:min(len(r.Places), maxPlaces)]
	r.Mentions = r.mentionsOutside(rankHits(q, outcomes))
	r.orderSubjects()
	r.findGaps(q, outcomes)
	r.Answer = r.claims(q)
	r.Note = r.caution(q)
	return r
}

// note keeps what a step did, so that a cut or a failure is visible.
func (r *Report) note(o Outcome) {
	r.Steps = append(r.Steps, StepNote{Command: o.Command.String(), Summary: o.summary(r.label()), Digest: o.Digest, Failed: o.Failed()})
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

// addNamed keeps the files that are named like a term; what merely holds the
// text inside a word is not.
func (r *Report) addNamed(q Question, f *FindResult) {
	matchers := newTermMatchers(q.Terms)
	for _, file := range f.Files {
		if !q.Overview() && !slices.ContainsFunc(matchers, func(m termMatcher) bool { return m.matches(file.Path) }) {
			continue
		}
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

// mentionsOutside keeps the best lines that no place covers; those of others only
// where there are no own ones.
func (r *Report) mentionsOutside(hits []Hit) []Hit {
	var out []Hit
	own := slices.ContainsFunc(hits, func(h Hit) bool { return !isSidePath(h.Path) })
	for _, h := range hits {
		if own && isSidePath(h.Path) {
			continue
		}
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
	l := r.label()
	succeeded := map[string]bool{}
	for _, o := range outcomes {
		if o.Tree != nil && o.Tree.Files == 0 && o.Tree.Total == 0 {
			r.Gaps = append(r.Gaps, fmt.Sprintf(l.EmptyTree, o.Tree.Root))
		}
		if !o.Failed() {
			succeeded[o.Command.String()] = true
		}
	}
	for _, o := range outcomes {
		switch {
		case o.Failed() && !succeeded[o.Command.String()]:
			r.Gaps = append(r.Gaps, o.Command.String()+": "+o.Error)
		case o.Partial() != "":
			r.Gaps = append(r.Gaps, o.Command.String()+": "+cmp.Or(l.Sums.Partial, o.Partial()))
		}
	}
	for _, t := range q.Terms {
		switch {
		case t.Kind == TermPhrase || r.has(t):
		case t.Kind != TermFile:
			r.Gaps = append(r.Gaps, fmt.Sprintf(l.NotFound, t.Text))
		case strings.Contains(path.Base(t.Text), "."): // a/b may be two words
			r.Gaps = append(r.Gaps, fmt.Sprintf(l.NoFile, t.Text))
		}
	}
	if q.Cut {
		r.Gaps = append(r.Gaps, l.QuestionCut)
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
