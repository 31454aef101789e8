package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// house is all Go files, parsed.
type house struct {
	fset    *token.FileSet
	sources []source
}

type source struct {
	path   string
	dir    string
	room   string // the top-level folder; "" for the root
	test   bool   // a _test.go file
	helper bool   // part of a package for tests, whose name ends in "test"
	text   string
	file   *ast.File
}

// product tells whether a file becomes part of the program.
func (s source) product() bool { return !s.test && !s.helper }

// rule finds what breaks one habit of the house, a complaint each.
type rule struct {
	name string
	find func(h house) []string
}

func rules() []rule {
	return []rule{
		{"rooms are in the plan", unknownRooms},
		{"doors", closedDoors},
		{"depth", tooDeep},
		{"package names", vagueNames},
		{"package comments", missingComments},
		{"sizes", tooLong},
		{"sleeps and inits", sleepsAndInits},
		{"package variables", mutableVariables},
		{"agent programs", strayPrograms},
		{"unfinished work", unfinishedWork},
	}
}

// build parses files, given by their path. What cannot be parsed is left out
// and complained about.
func build(files map[string]string) (house, []string) {
	h := house{fset: token.NewFileSet()}
	var complaints []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, err := parser.ParseFile(h.fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			complaints = append(complaints, err.Error())
			continue
		}
		s := source{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), text: files[name], file: file}
		if top, _, below := strings.Cut(name, "/"); below {
			s.room = top
		}
		s.helper = strings.HasSuffix(s.dir, "test")
		h.sources = append(h.sources, s)
	}
	return h, complaints
}

func (h house) line(pos token.Pos) int { return h.fset.Position(pos).Line }

// packages groups the files that are no tests by their folder.
func (h house) packages() map[string][]source {
	byDir := map[string][]source{}
	for _, s := range h.sources {
		if !s.test {
			byDir[s.dir] = append(byDir[s.dir], s)
		}
	}
	return byDir
}

func unknownRooms(h house) []string {
	var found []string
	for _, s := range h.sources {
		if _, ok := plan()[s.room]; !ok && !(s.room == "" && s.test) {
			found = append(found, fmt.Sprintf("%s: room %q is not in the plan; add it to house_test.go", s.path, s.room))
		}
	}
	return found
}

func closedDoors(h house) []string {
	var found []string
	for _, s := range h.sources {
		if !s.product() {
			continue
		}
		for _, name := range imports(s) {
			if reason := closed(s.room, name); reason != "" {
				found = append(found, fmt.Sprintf("%s: %s", s.path, reason))
			}
		}
	}
	return found
}

// closed says why a room may not import a package, or "" when it may.
func closed(from, name string) string {
	first, _, _ := strings.Cut(name, "/")
	if first != module {
		foreign := strings.Contains(first, ".")
		if foreign && !slices.ContainsFunc(append(plan()[from].foreign, everywhere), func(lib string) bool { return within(name, lib) }) {
			return fmt.Sprintf("library %s does not belong into room %s", name, from)
		}
		return ""
	}
	to := roomOf(name)
	switch {
	case strings.HasSuffix(name, "test"):
		return fmt.Sprintf("%s is for tests only", name)
	case to == from || plan()[from].all || slices.Contains(plan()[from].doors, to):
		return ""
	}
	return fmt.Sprintf("room %s has no door to %s", from, to)
}

func imports(s source) []string {
	var names []string
	for _, spec := range s.file.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			names = append(names, name)
		}
	}
	return names
}

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func roomOf(name string) string {
	inner, _ := strings.CutPrefix(name, module+"/")
	top, _, _ := strings.Cut(inner, "/")
	return top
}

// tooDeep follows the doors from every room. A circle of rooms is endlessly
// deep, so it is found here too.
func tooDeep(h house) []string {
	doors := map[string][]string{}
	for _, s := range h.sources {
		for _, name := range imports(s) {
			if to := roomOf(name); s.product() && within(name, module) && to != s.room && !slices.Contains(doors[s.room], to) {
				doors[s.room] = append(doors[s.room], to)
			}
		}
	}
	var found []string
	for _, from := range slices.Sorted(maps.Keys(doors)) {
		if walk := longest(doors, []string{from}); len(walk)-1 > maxDepth {
			found = append(found, fmt.Sprintf("%s: more than %d doors in a row", strings.Join(walk, " -> "), maxDepth))
		}
	}
	return found
}

// longest extends a walk as far as it goes, and a little beyond what is allowed.
func longest(doors map[string][]string, walk []string) []string {
	best := walk
	if len(walk) > maxDepth+1 {
		return best
	}
	for _, next := range doors[walk[len(walk)-1]] {
		if further := longest(doors, append(slices.Clone(walk), next)); len(further) > len(best) {
			best = further
		}
	}
	return best
}

func vagueNames(h house) []string {
	vague := []string{"util", "utils", "common", "shared", "types", "helper", "helpers", "misc", "base", "lib", "core"}
	var found []string
	for dir, files := range h.packages() {
		name := files[0].file.Name.Name
		if slices.Contains(vague, name) || slices.Contains(vague, path.Base(dir)) {
			found = append(found, fmt.Sprintf("%s: package %s does not say what it holds", dir, name))
		}
		if name != "main" && name != path.Base(dir) {
			found = append(found, fmt.Sprintf("%s: package %s is not named like its folder", dir, name))
		}
	}
	return found
}

func missingComments(h house) []string {
	var found []string
	for dir, files := range h.packages() {
		name := files[0].file.Name.Name
		home := path.Join(dir, name+".go")
		documented := false
		for _, s := range files {
			switch {
			case s.path == home:
				documented = s.file.Doc != nil
			case s.file.Doc != nil:
				found = append(found, fmt.Sprintf("%s: the package comment belongs into %s", s.path, home))
			}
		}
		if !documented {
			found = append(found, fmt.Sprintf("%s: the package comment is missing", home))
		}
	}
	return found
}

func tooLong(h house) []string {
	var found []string
	for _, s := range h.sources {
		if n := strings.Count(s.text, "\n"); n > maxFileLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", s.path, n, maxFileLines))
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || s.test {
				continue
			}
			if n := h.line(fn.End()) - h.line(fn.Pos()) + 1; n > maxFuncLines {
				found = append(found, fmt.Sprintf("%s:%d: %s has %d lines, at most %d", s.path, h.line(fn.Pos()), fn.Name.Name, n, maxFuncLines))
			}
		}
	}
	return found
}

func sleepsAndInits(h house) []string {
	var found []string
	for _, s := range h.sources {
		if !s.product() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && n.Sel.Name == "Sleep" {
					found = append(found, fmt.Sprintf("%s:%d: time.Sleep; wait for a condition, with a deadline", s.path, h.line(n.Pos())))
				}
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					found = append(found, fmt.Sprintf("%s:%d: func init; build things where they are used", s.path, h.line(n.Pos())))
				}
			}
			return true
		})
	}
	return found
}

// strayPrograms looks at names and strings; comments may speak of anything.
func strayPrograms(h house) []string {
	known := regexp.MustCompile(`(?i)claude|codex|gemini|opencode`)
	var found []string
	for _, s := range h.sources {
		if !s.product() || plan()[s.room].programs {
			continue
		}
		var sc scanner.Scanner
		file := token.NewFileSet().AddFile(s.path, -1, len(s.text))
		sc.Init(file, []byte(s.text), nil, 0)
		for pos, tok, lit := sc.Scan(); tok != token.EOF; pos, tok, lit = sc.Scan() {
			if name := known.FindString(lit); name != "" {
				found = append(found, fmt.Sprintf("%s:%d: %q is an agent program, which only agents and config know", s.path, file.Line(pos), name))
			}
		}
	}
	return found
}

func unfinishedWork(h house) []string {
	word := regexp.MustCompile(`(?i)(?:^|[^a-z])(todo|fixme|stub|placeholder)`)
	var found []string
	for _, s := range h.sources {
		if s.test {
			continue
		}
		for i, line := range strings.Split(s.text, "\n") {
			for _, m := range word.FindAllStringSubmatch(line, -1) {
				if w := strings.ToLower(m[1]); !slices.Contains(plan()[s.room].words, w) {
					found = append(found, fmt.Sprintf("%s:%d: the word %q; finish it, or say what it is", s.path, i+1, m[1]))
				}
			}
		}
	}
	return found
}
