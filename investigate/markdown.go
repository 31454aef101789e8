package investigate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// JSON is the report for programs.
func (r Report) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write report as JSON: %w", err)
	}
	return append(data, '\n'), nil
}

// Markdown is the report for people.
func (r Report) Markdown() string {
	w := &reportWriter{l: r.label()}
	if r.Note != "" {
		w.line("> %s\n", r.Note)
	}
	w.line("# %s: %s", w.l.Title, oneLine(r.Question, 200))
	w.section(w.l.Answer)
	for _, c := range r.Answer {
		w.line("- %s%s", c.Text, refList(c.Refs))
	}
	w.survey(r.Survey)
	w.places(r.Places)
	subjects, mentions := len(r.Subjects), len(r.Mentions)
	if r.Note != "" || asksWhere.MatchString(r.Question) {
		subjects, mentions = min(subjects, shortSubjects), min(mentions, shortMentions)
	}
	for i := range subjects {
		w.subject(r.heading(i), &r.Subjects[i])
	}
	if left := len(r.Subjects) - subjects; left > 0 {
		w.line(w.l.Rest, left)
	}
	w.mentions(r.Mentions[:mentions])
	if r.Survey == nil {
		w.named(&r)
	}
	w.gaps(&r)
	w.steps(&r)
	return strings.ReplaceAll(w.String(), "\n\n\n", "\n\n") // two lists may each end with an empty line
}

// Who asks where something is wants to go there, and what may be beside the point
// is not worth reading: two explanations and a few more lines are enough.
const (
	shortSubjects = 2
	shortMentions = 8
)

// heading names a subject so that no other has the same heading.
func (r Report) heading(i int) string {
	s := &r.Subjects[i]
	name, double, near := s.Qualified(), false, false
	for k := range r.Subjects {
		if o := &r.Subjects[k]; k != i && o.Qualified() == name {
			double = true
			near = near || o.Path == s.Path
		}
	}
	switch {
	case near:
		return fmt.Sprintf("%s (%s:%d)", name, s.Path, s.Line)
	case double:
		return fmt.Sprintf("%s (%s)", name, s.Path)
	}
	return name
}

// reportWriter writes lines of Markdown.
type reportWriter struct {
	strings.Builder
	l labels
}

func (w *reportWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *reportWriter) section(title string) { w.line("\n## %s\n", title) }

// oneLine makes any text fit a heading or a list entry.
func oneLine(text string, n int) string {
	return clip(strings.Join(strings.Fields(text), " "), n)
}

// place writes path:line, by which every claim is backed.
func (r Ref) place() string {
	if r.Path == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.Path, r.Line)
}

func refList(refs []Ref) string {
	var parts []string
	for _, r := range refs {
		part := "`" + r.place() + "`"
		if r.Name != "" {
			part = r.Name + " " + part
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ")
}

func (w *reportWriter) places(places []Place) {
	if len(places) == 0 {
		return
	}
	w.section(w.l.Places)
	for _, p := range places {
		if p.Kind == fileKind {
			w.line("- `%s:%d` %s", p.Path, p.Line, w.l.Kind(p.Kind))
			continue
		}
		w.line("- `%s:%d` %s **%s**\n  `%s`", p.Path, p.Line, w.l.Kind(p.Kind), p.Qualified(), inCode(p.Signature.Signature))
	}
}

// inCode keeps a signature from ending its own code span.
func inCode(s string) string { return strings.ReplaceAll(s, "`", "'") }

func (w *reportWriter) subject(heading string, s *Subject) {
	w.section(fmt.Sprintf("%s: %s", w.l.Inside, heading))
	w.line("%s: `%s` (`%s:%d`)\n", w.l.Signature, inCode(s.Signature.Signature), s.Path, s.Line)
	w.line("%s: %s\n", w.l.Quality, w.l.Figures(*s))
	w.refs(w.l.Callers, s.Callers)
	if len(s.CallTree) > 0 {
		w.line("%s:\n", w.l.Tree)
		for _, c := range s.CallTree[:min(len(s.CallTree), 30)] {
			w.line("%s- %s `%s`", strings.Repeat("  ", c.Depth-1), c.Name, c.place())
		}
		w.line("")
	} else {
		w.refs(w.l.Callees, s.Callees)
	}
	w.refs(w.l.Variables, s.Variables)
	w.refs(w.l.Related, s.Related)
	w.refs(w.l.Depends, s.DependsOn)
	w.refs(w.l.Dependents, s.Dependents)
	w.refs(w.l.Tests, s.Tests)
	w.refs(w.l.Todos, s.Todos)
}

// refs writes a list of places, at most a dozen.
func (w *reportWriter) refs(title string, refs []Ref) {
	if len(refs) == 0 {
		return
	}
	const most = 12
	note := ""
	if len(refs) > most {
		note = " (" + fmt.Sprintf(w.l.Cut, most, len(refs)) + ")"
	}
	w.line("%s%s:\n", title, note)
	for _, r := range refs[:min(len(refs), most)] {
		text := ""
		if r.Text != "" && r.Text != r.Name {
			text = " `" + inCode(oneLine(r.Text, 120)) + "`"
		}
		name := r.Name + " "
		if r.Name == "" || r.Name == r.Path {
			name = ""
		}
		w.line("- %s`%s`%s", name, r.place(), text)
	}
	w.line("")
}

func (w *reportWriter) mentions(hits []Hit) {
	if len(hits) == 0 {
		return
	}
	w.section(w.l.Mentions)
	for _, h := range hits {
		w.line("- `%s:%d` `%s`", h.Path, h.Line, inCode(oneLine(h.Text, 160)))
	}
}

// named lists the files that are named like a term and are no places already.
func (w *reportWriter) named(r *Report) {
	var names []string
	for _, f := range r.Named {
		if !slices.ContainsFunc(r.Places, func(p Place) bool { return p.Kind == fileKind && p.Path == f.Path }) {
			names = append(names, f.Path)
		}
	}
	if len(names) == 0 {
		return
	}
	w.section(w.l.Named)
	for _, name := range names {
		w.line("- `%s`", name)
	}
}

func (w *reportWriter) survey(s *Survey) {
	if s == nil {
		return
	}
	if len(s.Entries)+len(s.Packages)+len(s.HotSpots)+len(s.Central) == 0 {
		return
	}
	w.section(w.l.Survey)
	w.refs(w.l.Entries, s.Entries)
	w.list(w.l.Packages, len(s.Packages), func(i int) string {
		p := s.Packages[i]
		figures := []string{w.l.Lines.say(p.Lines), w.l.Files.say(p.Files), w.l.Decls.say(p.Decls)}
		return fmt.Sprintf("%s: %s `%s:1`", p.Path, strings.Join(figures, w.l.Comma), p.First)
	})
	w.list(w.l.HotSpots, len(s.HotSpots), func(i int) string {
		h := s.HotSpots[i]
		return fmt.Sprintf("%s `%s:%d` (%s)", h.Qualified(), h.Path, h.Line, w.l.Lines.say(h.End-h.Line+1))
	})
	w.list(w.l.Central, len(s.Central), func(i int) string {
		return fmt.Sprintf("%s (%d)", s.Central[i].Path, s.Central[i].Count)
	})
}

// list writes a titled list, nothing where it is empty.
func (w *reportWriter) list(title string, n int, entry func(i int) string) {
	if n == 0 {
		return
	}
	w.line("%s:\n", title)
	for i := range n {
		w.line("- %s", entry(i))
	}
	w.line("")
}

func (w *reportWriter) gaps(r *Report) {
	w.section(w.l.Gaps)
	for _, g := range r.Gaps {
		w.line("- %s", oneLine(g, 300))
	}
	for _, p := range r.Problems[:min(len(r.Problems), 10)] {
		w.line("- %s: `%s` (%s)", w.l.Problems, p.Path, w.l.Reason(p.Reason))
	}
	if len(r.Gaps)+len(r.Problems) == 0 {
		w.line("%s", w.l.None)
	}
}

func (w *reportWriter) steps(r *Report) {
	w.section(w.l.Done)
	for _, s := range r.Steps {
		w.line("- `%s`\n  %s", inCode(oneLine(s.Command, 160)), s.Summary)
		if s.Digest == nil {
			continue
		}
		if s.Digest.Spill != "" {
			w.line("  %s `%s`", w.l.Spilled, s.Digest.Spill)
		}
		w.line("  %s `%s`", w.l.More, inCode(s.Digest.More))
	}
	if r.Elapsed > 0 {
		w.line("\n%s, %s", r.Root, r.Elapsed.Round(time.Millisecond))
	}
}
