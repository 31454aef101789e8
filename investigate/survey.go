package investigate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// Survey is a first look at a whole tree: where it starts, what is big, what is
// tangled, what many others lean on.
type Survey struct {
	Entries  []Ref       `json:"entries,omitempty"`   // where programs begin
	Packages []Package   `json:"packages,omitempty"`  // biggest first
	HotSpots []Signature `json:"hot_spots,omitempty"` // longest functions outside tests
	Central  []FileCount `json:"central,omitempty"`   // what is imported most
	Decls    int         `json:"decls"`
	Tests    int         `json:"tests"` // test files
	Partial  string      `json:"partial,omitempty"`
}

// Package is a folder with code.
type Package struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
	Decls int    `json:"decls"`
	Lines int    `json:"lines"`
	First string `json:"first"` // one of its files, to look at
}

const surveyRows = 12

// survey scans every source file and keeps only the summits.
func (r *Root) survey(ctx context.Context, q StaticQuery) (Survey, error) {
	chosen, err := r.choose(q.Where)
	if err != nil {
		return Survey{}, err
	}
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return r.files[i].Language == scan.None })
	parts := make([]filePart, len(chosen))
	parallelWorkers(len(chosen), func(next func() (int, bool)) {
		var buf bytes.Buffer
		for i, ok := next(); ok && ctx.Err() == nil; i, ok = next() {
			parts[i] = r.surveyFile(&r.files[chosen[i]], &buf)
		}
	})
	s := Survey{}
	if ctx.Err() != nil {
		s.Partial = fmt.Sprintf("time limit of %s reached", q.Limits.Time)
	}
	s.join(parts)
	return s, nil
}

// filePart is what one file adds to the survey.
type filePart struct {
	path    string
	test    bool
	lines   int
	decls   int
	entries []Ref
	imports []string
	longest []Signature
}

func (r *Root) surveyFile(f *File, buf *bytes.Buffer) filePart {
	part := filePart{path: f.Path, test: isTestPath(f.Path)}
	if source(r.abs(f.Path), buf) != nil {
		return part
	}
	src := buf.Bytes()
	facts := scan.File(f.Language, src)
	part.lines = bytes.Count(src, []byte{'\n'})
	part.decls = len(facts.Decls)
	for _, imp := range facts.Imports {
		name := imp.Path
		if to := r.localImport(f, imp.Path); to != "" {
			name = to
		}
		part.imports = append(part.imports, name)
	}
	for _, d := range facts.Decls {
		if isEntry(f.Language, facts.Package, &d) {
			part.entries = append(part.entries, Ref{Path: f.Path, Line: d.Line, Name: d.Name, Text: d.Signature})
		}
		if isCallable(d.Kind) && !part.test {
			part.longest = append(part.longest, Signature{Path: f.Path, Decl: d})
		}
	}
	if i := bytes.Index(src, []byte("if __name__ ==")); i >= 0 && f.Language == scan.Python {
		part.entries = append(part.entries, Ref{Path: f.Path, Line: bytes.Count(src[:i], []byte{'\n'}) + 1, Name: path.Base(f.Path), Text: "if __name__ == \"__main__\""})
	}
	slices.SortFunc(part.longest, longerFirst)
	part.longest = slices.Clone(part.longest[:min(len(part.longest), 3)])
	return part
}

// localImport resolves only what is cheap to resolve: imports relative to the file.
func (r *Root) localImport(f *File, spec string) string {
	if strings.HasPrefix(spec, ".") {
		return r.resolveImport(f, spec)
	}
	return ""
}

func isEntry(lang scan.Language, pkg string, d *scan.Decl) bool {
	if d.Name != "main" || d.Kind == scan.Prototype {
		return false
	}
	switch lang {
	case scan.Go:
		return pkg == "main" && d.Scope == ""
	case scan.Java:
		return strings.Contains(d.Signature, "static")
	case scan.Rust, scan.C, scan.CPP:
		return d.Scope == ""
	}
	return false
}

func longerFirst(a, b Signature) int {
	return cmp.Or(cmp.Compare(b.End-b.Line, a.End-a.Line), strings.Compare(a.Path, b.Path))
}

func (s *Survey) join(parts []filePart) {
	packages := map[string]*Package{}
	imported := map[string]int{}
	for _, p := range parts {
		s.Decls += p.decls
		if p.test {
			s.Tests++
			continue
		}
		if isSidePath(p.path) {
			continue
		}
		dir := cmp.Or(dirOf(p.path), ".")
		pkg := packages[dir]
		if pkg == nil {
			pkg = &Package{Path: dir, First: p.path}
			packages[dir] = pkg
		}
		pkg.Files++
		pkg.Decls += p.decls
		pkg.Lines += p.lines
		s.Entries = append(s.Entries, p.entries...)
		s.HotSpots = append(s.HotSpots, p.longest...)
		for _, name := range p.imports {
			imported[name]++
		}
	}
	for _, pkg := range packages {
		s.Packages = append(s.Packages, *pkg)
	}
	slices.SortFunc(s.Packages, func(a, b Package) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Path, b.Path))
	})
	slices.SortFunc(s.HotSpots, longerFirst)
	for name, n := range imported {
		s.Central = append(s.Central, FileCount{Path: name, Count: n})
	}
	slices.SortFunc(s.Central, func(a, b FileCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Path, b.Path))
	})
	s.Entries = s.Entries[:min(len(s.Entries), surveyRows)]
	s.Packages = s.Packages[:min(len(s.Packages), surveyRows)]
	s.HotSpots = s.HotSpots[:min(len(s.HotSpots), surveyRows)]
	s.Central = s.Central[:min(len(s.Central), surveyRows)]
}
