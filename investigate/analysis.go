package investigate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// analysis fills in the subjects of one StaticResult. What concerns all
// languages is here; Go's types and the others' names have files of their own.
type analysis struct {
	root *Root
	ctx  context.Context
	res  *StaticResult
	say  notes
	read map[string]*fileFacts
	hits map[string][]Hit // by name: several subjects often share one
}

// fileFacts is one file read for the analysis; several questions ask for the same.
type fileFacts struct {
	file  *File
	src   []byte
	facts scan.Facts
	words []scan.Word
}

func (a *analysis) run() {
	a.read, a.hits = map[string]*fileFacts{}, map[string][]Hit{}
	var inGo []*Subject
	for i := range a.res.Subjects {
		s := &a.res.Subjects[i]
		f := a.file(s.Path)
		if f == nil || a.ctx.Err() != nil {
			continue
		}
		if isCallable(s.Kind) {
			s.Complexity = scan.Complexity(f.file.Language, f.src, s.Line, s.End)
		}
		s.Todos = a.todos(f, s)
		if f.file.Language == scan.Go {
			inGo = append(inGo, s)
			continue
		}
		s.Tests = a.tests(f, s, "")
		a.byText(f, s)
	}
	if len(inGo) > 0 && a.ctx.Err() == nil {
		a.byTypes(inGo)
	}
}

func isCallable(k scan.Kind) bool {
	return k == scan.Function || k == scan.Method || k == scan.Macro
}

// file reads a file of the tree once; nil where it cannot be read, which becomes
// a Problem.
func (a *analysis) file(path string) *fileFacts {
	if f, ok := a.read[path]; ok {
		return f
	}
	i, ok := a.root.fileIndex(path)
	if !ok {
		return nil
	}
	f := &fileFacts{file: &a.root.files[i]}
	var err error
	if f.facts, f.src, err = a.root.facts(f.file); err != nil {
		a.read[path] = nil
		if !errors.Is(err, errBinary) && len(a.res.Problems) < maxProblems {
			a.res.Problems = append(a.res.Problems, Problem{Path: path, Reason: reason(err)})
		}
		return nil
	}
	a.read[path] = f
	return f
}

func (r *Root) fileIndex(path string) (int, bool) {
	return slices.BinarySearchFunc(r.files, path, func(f File, p string) int { return strings.Compare(f.Path, p) })
}

func (f *fileFacts) wordList() []scan.Word {
	if f.words == nil {
		f.words = scan.Words(f.file.Language, f.src)
	}
	return f.words
}

func (f *fileFacts) imports(path string) bool {
	return slices.ContainsFunc(f.facts.Imports, func(i scan.Import) bool { return i.Path == path })
}

// around names the declaration that a line is in.
func (f *fileFacts) around(line int) string {
	if d := enclosing(f.facts.Decls, line); d != nil {
		return Signature{Path: f.file.Path, Decl: *d}.Qualified()
	}
	return ""
}

// markers are the words by which authors leave work undone. They are put
// together here so that a search for them in this code finds none.
var markers = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X{3}|HA` + `CK)\b`)

// todos lists the marked lines inside the subject.
func (a *analysis) todos(f *fileFacts, s *Subject) []Ref {
	var out []Ref
	line := 0
	for text := range strings.Lines(string(f.src)) {
		line++
		if line >= s.Line && line <= s.End && markers.MatchString(text) {
			out = append(out, Ref{Path: s.Path, Line: line, Name: s.Name, Text: shown([]byte(text), 0)})
		}
		if line > s.End || len(out) == maxRefs {
			break
		}
	}
	return out
}

// maxMentions bounds how many lines that hold a name are looked at.
const maxMentions = 6000

// mentions lists the lines that hold the name as a word.
func (a *analysis) mentions(name string) []Hit {
	if hits, ok := a.hits[name]; ok {
		return hits
	}
	res, err := a.root.Grep(a.ctx, GrepQuery{
		Pattern: `\b` + regexp.QuoteMeta(name) + `\b`, Limits: Limits{Lines: maxMentions},
	})
	if err == nil && res.Total > len(res.Hits) {
		a.res.Notes = append(a.res.Notes, fmt.Sprintf(a.say.Looked, name, len(res.Hits), res.Total))
	}
	a.hits[name] = res.Hits
	return res.Hits
}

// language is the language of a file of the tree.
func (a *analysis) language(path string) scan.Language {
	if i, ok := a.root.fileIndex(path); ok {
		return a.root.files[i].Language
	}
	return scan.None
}

// tests lists the tests that mention the subject, one line for each. In Go a test
// counts only beside the subject or where it imports the subject's package.
func (a *analysis) tests(f *fileFacts, s *Subject, importPath string) []Ref {
	var out []Ref
	seen := map[string]bool{}
	for _, hit := range a.mentions(s.Name) {
		if len(out) == maxRefs {
			a.res.Notes = append(a.res.Notes, fmt.Sprintf(a.say.TestsOf, s.Name, maxRefs))
			break
		}
		inTestFile := isTestPath(hit.Path)
		if !inTestFile && f.file.Language != scan.Rust || !sameFamily(a.language(hit.Path), f.file.Language) {
			continue
		}
		t := a.file(hit.Path)
		if t == nil || importPath != "" && dirOf(hit.Path) != dirOf(s.Path) && !t.imports(importPath) {
			continue
		}
		name := t.around(hit.Line)
		if name == "" || !inTestFile && !strings.Contains(name, "test") || seen[hit.Path+name] {
			continue
		}
		if hit.Path == s.Path && hit.Line >= s.Line && hit.Line <= s.End {
			continue
		}
		seen[hit.Path+name] = true
		out = append(out, Ref{Path: hit.Path, Line: hit.Line, Name: name})
	}
	return out
}

// bound cuts a list and says so: what of whom it is a list of.
func (a *analysis) bound(refs []Ref, what, whom string) []Ref {
	if len(refs) <= maxRefs {
		return refs
	}
	a.res.Notes = append(a.res.Notes, fmt.Sprintf(a.say.Shown, fmt.Sprintf(what, whom), maxRefs, len(refs)))
	return refs[:maxRefs]
}
