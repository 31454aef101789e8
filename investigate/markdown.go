package investigate

import (
	"encoding/json"
	"fmt"
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
	w.line("# %s: %s", w.l.Title, oneLine(r.Question, 200))
	w.section(w.l.Answer)
	for _, c := range r.Answer {
		w.line("- %s%s", c.Text, refList(c.Refs))
	}
	w.survey(r.Survey)
	w.places(r.Places)
	for i := range r.Subjects {
		w.subject(&r.Subjects[i])
	}
	w.mentions(r.Mentions)
	if len(r.Named) > 0 && r.Survey == nil {
		w.section(w.l.Named)
		for _, f := range r.Named {
			w.line("- `%s`", f.Path)
		}
	}
	w.gaps(&r)
	w.steps(&r)
	return w.String()
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
		w.line("- `%s:%d` %s **%s**\n  `%s`", p.Path, p.Line, p.Kind, p.Qualified(), inCode(p.Signature.Signature))
	}
}

// inCode keeps a signature from ending its own code span.
func inCode(s string) string { return strings.ReplaceAll(s, "`", "'") }

func (w *reportWriter) subject(s *Subject) {
	w.section(fmt.Sprintf("%s: %s", w.l.Inside, s.Qualified()))
	w.line("%s: `%s` (`%s:%d`)\n", w.l.Signature, inCode(s.Signature.Signature), s.Path, s.Line)
	figures := fmt.Sprintf(w.l.Figures, s.Lines)
	if s.Complexity > 0 {
		figures += fmt.Sprintf(w.l.Complexity, s.Complexity)
	}
	if !s.Typed {
		figures += "; " + w.l.ByName
	}
	w.line("%s: %s\n", w.l.Quality, figures)
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
		w.line("- %s `%s`%s", r.Name, r.place(), text)
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

func (w *reportWriter) survey(s *Survey) {
	if s == nil {
		return
	}
	w.section(w.l.Survey)
	w.refs(w.l.Entries, s.Entries)
	w.line("%s:\n", w.l.Packages)
	for _, p := range s.Packages {
		w.line("- %s: %d lines, %d files, %d declarations `%s:1`", p.Path, p.Lines, p.Files, p.Decls, p.First)
	}
	w.line("\n%s:\n", w.l.HotSpots)
	for _, h := range s.HotSpots {
		w.line("- %s `%s:%d` (%d lines)", h.Qualified(), h.Path, h.Line, h.End-h.Line+1)
	}
	w.line("\n%s:\n", w.l.Central)
	for _, c := range s.Central {
		w.line("- %s (%d)", c.Path, c.Count)
	}
}

func (w *reportWriter) gaps(r *Report) {
	w.section(w.l.Gaps)
	for _, g := range r.Gaps {
		w.line("- %s", oneLine(g, 300))
	}
	for _, p := range r.Problems[:min(len(r.Problems), 10)] {
		w.line("- %s: `%s` (%s)", w.l.Problems, p.Path, p.Reason)
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
