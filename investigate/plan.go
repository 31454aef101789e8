package investigate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// Role is the specialist that a step is for, by the name of its agent.
type Role string

// The specialists: who searches text, who reads declarations, who analyses and
// looks at tests. Manager plans and merges.
const (
	Manager  Role = "middle_manager"
	Research Role = "research_analysis_specialist"
	Coding   Role = "coding_writing_specialist"
	Testing  Role = "testing_specialist"
)

// Step is one command for one specialist. Steps whose After is done may run at
// the same time.
type Step struct {
	ID      string   `json:"id"`
	Role    Role     `json:"role"`
	Command Command  `json:"command"`
	After   []string `json:"after,omitempty"`
	Why     string   `json:"why"`
	Round   int      `json:"round"` // 1 for the plan, 2 and more for feedback
}

// planner numbers the steps of one round.
type planner struct {
	round int
	steps []Step
}

func (p *planner) add(role Role, query any, why string, after ...string) string {
	c, err := NewCommand(query)
	if err != nil {
		return ""
	}
	// The same command twice in a round would only cost time.
	for _, s := range p.steps {
		if s.Command.String() == c.String() {
			return s.ID
		}
	}
	id := fmt.Sprintf("step-%d-%d", p.round, len(p.steps)+1)
	p.steps = append(p.steps, Step{ID: id, Role: role, Command: c, After: after, Why: why, Round: p.round})
	return id
}

// Plan decides who runs what for a question: from the question's terms, the
// shape of the tree, and earlier reports on the same code.
func Plan(q Question, t TreeResult, earlier []Report) []Step {
	p := &planner{round: 1}
	p.add(Research, TreeQuery{Depth: 2}, "the shape of the code base")
	if q.Overview() {
		p.overview(t)
		return p.steps
	}
	var names SignatureQuery
	var after []string
	for _, term := range q.Terms {
		if term.Kind == TermFile {
			after = append(after, p.add(Research, FindQuery{Where: Where{Name: term.Text}}, "the question names the file "+term.Text))
			continue
		}
		lines := GrepQuery{Words: term.words()}
		if len(lines.Words) == 0 {
			lines.Pattern = regexp.QuoteMeta(term.Text)
		}
		p.add(Research, lines, "lines with "+term.Text)
		if term.Kind != TermQuoted {
			names.include(term)
		}
		if term.Kind == TermWord || term.Kind == TermPhrase {
			p.add(Research, FindQuery{Where: Where{Name: fileStem(term)}}, "files named like "+term.Text)
		}
	}
	if names.Pattern != "" || len(names.Words) > 0 {
		// One pass for all terms: parsing is what costs.
		after = append(after, p.add(Coding, names, "declarations named like "+termList(q.Terms)))
	}
	known := targetsOf(q, earlier)
	if len(known) > 0 {
		p.add(Testing, StaticQuery{Targets: known, Locale: q.locale()}, "an earlier report on this code found these")
	}
	p.add(Testing, StaticQuery{Targets: termNames(q), Locale: q.locale()}, "dependencies, callers, tests and quality of the best hits", after...)
	return p.steps
}

func (p *planner) overview(t TreeResult) {
	p.add(Research, FindQuery{Where: Where{Name: "readme"}}, "what the authors say about it")
	p.add(Coding, SignatureQuery{Pattern: "^main$"}, "where programs begin")
	p.add(Testing, StaticQuery{}, "entry points, biggest packages, hot spots")
	if t.Languages[string(scan.Go)] > 0 {
		p.add(Research, FindQuery{Where: Where{Name: "go.mod"}}, "the modules")
	}
}

// include has the query find declarations named like a term. Of Type.Method it
// takes the method, and that exactly: a method's name is often part of many
// others.
func (q *SignatureQuery) include(t Term) {
	if words := t.words(); len(words) > 0 {
		q.Words = append(q.Words, words...)
		return
	}
	expr := regexp.QuoteMeta(t.Text)
	if _, method, ok := cutLast(t.Text, "."); ok && t.Kind == TermIdentifier {
		expr = "^(?-i:" + regexp.QuoteMeta(method) + ")$"
	}
	if q.Pattern != "" {
		expr = q.Pattern + "|" + expr
	}
	q.Pattern, q.IgnoreCase = expr, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// fileStem is the part of a term that file names tend to have.
func fileStem(t Term) string {
	for _, a := range t.Also {
		if isASCII(a) {
			return strings.TrimSuffix(a, "-")
		}
	}
	first, _, _ := strings.Cut(strings.ToLower(t.Text), " ")
	return stemOf(first)
}

// termNames are the targets of an analysis before anything is found.
func termNames(q Question) []string {
	var out []string
	for _, t := range q.Terms {
		switch {
		case t.Kind == TermQuoted || t.Kind == TermPhrase:
			continue
		case len(t.Also) > 0:
			out = append(out, strings.TrimSuffix(t.Also[0], "-"))
		default:
			out = append(out, t.Text)
		}
	}
	if len(out) == 0 {
		out = append(out, q.Terms[0].Text)
	}
	return out[:min(len(out), 3)]
}

// targetsOf lists the best places of earlier reports that were about the same
// terms.
func targetsOf(q Question, earlier []Report) []string {
	var out []string
	for _, r := range earlier {
		shared := slices.ContainsFunc(r.Terms, func(e Term) bool {
			return slices.ContainsFunc(q.Terms, func(t Term) bool { return strings.EqualFold(t.Text, e.Text) })
		})
		if !shared {
			continue
		}
		for _, place := range r.Places[:min(len(r.Places), 2)] {
			if name := place.Name; !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out[:min(len(out), 3)]
}

// maxTargets is how many declarations one analysis is asked about.
const maxTargets = 4

// Refine completes a step with what the steps before it found: an analysis is
// aimed at the best declarations.
func Refine(q Question, s Step, outcomes []Outcome) Step {
	if s.Command.Name != CommandStatic || len(s.After) == 0 {
		return s
	}
	targets := bestTargets(q, outcomes)
	if len(targets) == 0 {
		return s
	}
	if c, err := NewCommand(StaticQuery{Targets: targets, Locale: q.locale()}); err == nil {
		s.Command = c
	}
	return s
}

// bestTargets names the places to analyse: the best declarations, else the
// declarations around the best lines.
func bestTargets(q Question, outcomes []Outcome) []string {
	var out []string
	files := namedFiles(q, outcomes)
	for _, p := range ownCode(rankPlaces(q, outcomes)) {
		inNamed := slices.ContainsFunc(files, func(f Place) bool { return f.Path == p.Path })
		if len(files) > 0 && (!inNamed || len(out) == maxTargets-1) {
			continue // a named file is what the question is about
		}
		if len(out) < maxTargets && p.Kind != scan.Prototype && p.Kind != scan.Module {
			out = append(out, fmt.Sprintf("%s:%d", p.Path, p.Line))
		}
	}
	for _, f := range files {
		if scan.LanguageOf(f.Path) != scan.None {
			out = append(out, f.Path)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, h := range rankHits(q, outcomes) {
		if len(out) < maxTargets && scan.LanguageOf(h.Path) != scan.None {
			out = append(out, fmt.Sprintf("%s:%d", h.Path, h.Line))
		}
	}
	return out
}
