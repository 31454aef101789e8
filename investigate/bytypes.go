package investigate

import (
	"cmp"
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// maxImporters bounds the packages checked as users of one subject; those with
// most mentions of its name come first.
const maxImporters = 8

// byTypes analyses Go subjects: the packages they are in and the packages that
// import those and mention them are type-checked, nothing else.
func (a *analysis) byTypes(subjects []*Subject) {
	l := newGoLoader(a.ctx, a.root)
	var users []string
	for _, s := range subjects {
		dir := dirOf(s.Path)
		own := l.pathOf(dir)
		l.want(own)
		f := a.file(s.Path)
		s.Tests = a.tests(f, s, own)
		s.DependsOn = a.bound(a.goImports(l, f), a.say.ImportsOf, s.Path)
		importers := a.goImporters(own, dir)
		s.Dependents = a.bound(importers, a.say.DependentsOf, own)
		users = append(users, a.usersOf(l, s, importers)...)
	}
	for _, p := range users {
		l.want(p)
	}
	g := newGoGraph(l, a.say)
	for _, s := range subjects {
		if a.ctx.Err() != nil {
			return
		}
		a.typed(g, s)
	}
	if l.cut {
		a.res.Notes = append(a.res.Notes, a.say.TooLarge)
	}
}

// goImports lists what the subject's file imports; a package of the tree is
// named by its folder.
func (a *analysis) goImports(l *goLoader, f *fileFacts) []Ref {
	var out []Ref
	for _, imp := range f.facts.Imports {
		ref := Ref{Path: f.file.Path, Line: imp.Line, Name: imp.Path, Text: imp.Path}
		if dir, ok := l.paths[imp.Path]; ok {
			ref.Name = dir
		}
		out = append(out, ref)
	}
	return out
}

// goImporters lists the import lines of a package, one per importing folder.
func (a *analysis) goImporters(own, dir string) []Ref {
	if own == "" {
		return nil
	}
	res, err := a.root.Grep(a.ctx, GrepQuery{
		Pattern: `^\s*(import\s+)?([\w.]+\s+)?"` + regexp.QuoteMeta(own) + `"\s*(//.*)?$`, Where: Where{Language: scan.Go}, Limits: Limits{Lines: 4000},
	})
	if err != nil {
		return nil
	}
	var out []Ref
	seen := map[string]bool{dir: true}
	for _, hit := range res.Hits {
		from := dirOf(hit.Path)
		if seen[from] || isTestPath(hit.Path) || strings.Contains("/"+from+"/", "/testdata/") {
			continue
		}
		seen[from] = true
		out = append(out, Ref{Path: hit.Path, Line: hit.Line, Name: cmp.Or(from, ".")})
	}
	return out
}

// usersOf chooses the importing packages that mention the subject, those with
// most mentions first.
func (a *analysis) usersOf(l *goLoader, s *Subject, importers []Ref) []string {
	counts := map[string]int{}
	for _, hit := range a.mentions(s.Name) {
		if !isTestPath(hit.Path) {
			counts[dirOf(hit.Path)]++
		}
	}
	var users []string
	for _, imp := range importers {
		if dir := dirOf(imp.Path); counts[dir] > 0 {
			users = append(users, dir)
		}
	}
	slices.SortStableFunc(users, func(x, y string) int { return cmp.Compare(counts[y], counts[x]) })
	if len(users) > maxImporters {
		a.res.Notes = append(a.res.Notes, fmt.Sprintf(a.say.Checked, fmt.Sprintf(a.say.UsersOf, s.Name), maxImporters, len(users)))
		users = users[:maxImporters]
	}
	for i, dir := range users {
		users[i] = l.pathOf(dir)
	}
	return users
}

// typed fills in what the type checker knows about a subject.
func (a *analysis) typed(g *goGraph, s *Subject) {
	obj := g.find(s)
	if obj == nil {
		f := a.file(s.Path)
		s.Callers = a.bound(a.callersByName(f, s), a.say.CallersOf, s.Name)
		s.Callees = a.bound(a.calleesByName(f, s), a.say.CallsIn, s.Name)
		a.res.Notes = append(a.res.Notes, fmt.Sprintf(a.say.Untyped, s.Name, s.Path, s.Line))
		return
	}
	s.Typed = true
	targets := []types.Object{obj}
	if f, ok := obj.(*types.Func); ok {
		s.Callees, s.Variables = g.body(f)
		s.Callees = a.bound(s.Callees, a.say.CallsIn, s.Name)
		s.CallTree = g.callTree(f, 1, map[types.Object]bool{f: true})
		targets = append(targets, g.interfaceMethods(f)...)
	}
	if t, ok := obj.(*types.TypeName); ok {
		s.Related = a.bound(g.related(t), a.say.RelatedTo, s.Name)
	}
	s.Callers = a.bound(g.users(targets), a.say.UsersOf, s.Name)
}

// find is the object that the subject's declaration declares.
func (g *goGraph) find(s *Subject) types.Object {
	for p := range g.loader.full {
		pkg := g.loader.load(p)
		if pkg.info == nil || pkg.dir != dirOf(s.Path) {
			continue
		}
		for id, obj := range pkg.info.Defs {
			if obj == nil || id.Name != s.Name {
				continue
			}
			// A method's own line, or the line of its func keyword.
			if pos := g.loader.fset.Position(id.Pos()); pos.Filename == s.Path && pos.Line == s.Line {
				return obj
			}
		}
	}
	return nil
}

// body lists what a function calls and which package variables it uses.
func (g *goGraph) body(f *types.Func) (callees, variables []Ref) {
	seen := map[types.Object]bool{}
	for _, u := range g.calls[f] {
		if !seen[u.object] {
			seen[u.object] = true
			callees = append(callees, g.ref(u.pos, objectName(u.object)))
		}
	}
	for obj, uses := range g.uses {
		v, ok := obj.(*types.Var)
		if !ok || v.IsField() || v.Parent() != v.Pkg().Scope() {
			continue
		}
		for _, u := range uses {
			if u.in == f {
				variables = append(variables, g.ref(u.pos, objectName(v)))
				break
			}
		}
	}
	sortRefs(variables)
	return callees, variables
}

// users lists where the objects are used, one place per function.
func (g *goGraph) users(targets []types.Object) []Ref {
	var out []Ref
	for i, target := range targets {
		seen := map[*types.Func]bool{}
		for _, u := range g.uses[target] {
			name := g.say.TopLevel
			if u.in != nil {
				if seen[u.in] || types.Object(u.in) == targets[0] {
					continue
				}
				seen[u.in] = true
				name = objectName(u.in)
			}
			ref := g.ref(u.pos, name)
			if i > 0 {
				ref.Text = fmt.Sprintf(g.say.Through, objectName(target))
			}
			out = append(out, ref)
		}
	}
	sortRefs(out)
	return out
}

func sortRefs(refs []Ref) {
	slices.SortStableFunc(refs, func(a, b Ref) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
}
