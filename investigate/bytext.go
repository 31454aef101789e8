package investigate

import (
	"fmt"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// maxCallerFiles bounds how many files are scanned for one name: a name that
// more files mention is too common to be matched by name alone.
const maxCallerFiles = 60

// byText analyses a subject of a language without type checker: calls are
// matched by name.
func (a *analysis) byText(f *fileFacts, s *Subject) {
	s.DependsOn = a.bound(a.imports(f), a.say.ImportsOf, s.Path)
	s.Dependents = a.bound(a.importers(f), a.say.DependentsOf, s.Path)
	if isCallable(s.Kind) {
		s.Callees = a.bound(a.calleesByName(f, s), a.say.CallsIn, s.Name)
		for _, c := range s.Callees {
			s.CallTree = append(s.CallTree, Call{Depth: 1, Ref: c})
		}
	}
	s.Callers = a.bound(a.callersByName(f, s), a.say.CallersOf, s.Name)
}

// imports lists what a file imports; what lies in the tree has its path.
func (a *analysis) imports(f *fileFacts) []Ref {
	var out []Ref
	seen := map[string]bool{}
	for _, imp := range f.facts.Imports {
		target := a.root.resolveImport(f.file, imp.Path)
		name := imp.Path
		if target != "" {
			name = target
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		out = append(out, Ref{Path: f.file.Path, Line: imp.Line, Name: name, Text: imp.Path})
	}
	return out
}

// importers lists the files that import the given one: those that mention its
// stem are read, and their imports resolved.
func (a *analysis) importers(f *fileFacts) []Ref {
	stem := moduleStem(f.file.Path)
	var out []Ref
	seen := map[string]bool{f.file.Path: true}
	for _, hit := range a.mentions(stem) {
		if seen[hit.Path] || len(seen) > maxCallerFiles {
			continue
		}
		if !sameFamily(a.language(hit.Path), f.file.Language) {
			continue
		}
		seen[hit.Path] = true
		other := a.file(hit.Path)
		if other == nil {
			continue
		}
		for _, imp := range other.facts.Imports {
			if a.root.resolveImport(other.file, imp.Path) == f.file.Path {
				out = append(out, Ref{Path: hit.Path, Line: imp.Line, Name: hit.Path})
				break
			}
		}
	}
	return out
}

// moduleStem is the word by which others import a file.
func moduleStem(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "__init__", "index", "mod", "lib", "main":
		if dir := dirOf(path); dir != "" {
			return dir[strings.LastIndexByte(dir, '/')+1:]
		}
	}
	return stem
}

func sameFamily(a, b scan.Language) bool {
	family := func(l scan.Language) scan.Language {
		switch l {
		case scan.JavaScript:
			return scan.TypeScript
		case scan.CPP:
			return scan.C
		}
		return l
	}
	return family(a) == family(b)
}

// calleesByName lists the calls in the subject's body. Where exactly the called
// name is declared in the same file, the place is given.
func (a *analysis) calleesByName(f *fileFacts, s *Subject) []Ref {
	var out []Ref
	seen := map[string]bool{s.Name: true}
	for _, w := range f.wordList() {
		if w.Line < s.Line || w.Line > s.End || !w.Call || scan.IsKeyword(w.Text) || seen[w.Text] {
			continue
		}
		seen[w.Text] = true
		ref := Ref{Path: s.Path, Line: w.Line, Name: w.Text}
		for i := range f.facts.Decls {
			if d := &f.facts.Decls[i]; d.Name == w.Text {
				ref.Text = d.Signature
				break
			}
		}
		out = append(out, ref)
	}
	return out
}

// callersByName lists the declarations that call the subject, or name it where
// it is a type.
func (a *analysis) callersByName(f *fileFacts, s *Subject) []Ref {
	var out []Ref
	seen := map[string]bool{}
	files := map[string]bool{}
	for _, hit := range a.mentions(s.Name) {
		if isTestPath(hit.Path) && !isTestPath(s.Path) {
			continue // listed as tests
		}
		if !sameFamily(a.language(hit.Path), f.file.Language) {
			continue
		}
		files[hit.Path] = true
		if len(files) > maxCallerFiles {
			a.res.Notes = append(a.res.Notes, fmt.Sprintf(a.say.TooCommon, fmt.Sprintf(a.say.CallersOf, s.Name)))
			break
		}
		other := a.file(hit.Path)
		if other == nil || !other.uses(s, hit.Line) {
			continue
		}
		name := other.around(hit.Line)
		if key := hit.Path + " " + name; name != "" && !seen[key] {
			seen[key] = true
			out = append(out, Ref{Path: hit.Path, Line: hit.Line, Name: name, Text: hit.Text})
		}
	}
	return out
}

// uses tells whether a line has the subject's name in code, as a call where the
// subject can be called, and is not its declaration.
func (f *fileFacts) uses(s *Subject, line int) bool {
	for _, d := range f.facts.Decls {
		if d.Name == s.Name && d.Line == line {
			return false
		}
	}
	for _, w := range f.wordList() {
		if w.Line == line && w.Text == s.Name && (w.Call || !isCallable(s.Kind)) {
			return true
		}
	}
	return false
}
