package investigate

import (
	"bytes"
	"context"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// goLoader type-checks packages of the tree from their source, without the go
// command. What is not in the tree, or beyond the budget, is an empty package:
// the checker reports the names it then misses, and goes on.
type goLoader struct {
	root   *Root
	ctx    context.Context
	fset   *token.FileSet
	dirs   map[string][]string // folder -> Go files that are no tests
	paths  map[string]string   // import path -> folder
	pkgs   map[string]*goPackage
	full   map[string]bool // import paths that are checked with function bodies
	order  []string        // the same, in the order they were wanted
	budget int64           // bytes of source still to be read
	cut    bool            // the budget did not suffice
	buf    bytes.Buffer
}

// goPackage is one checked package. files and info are kept for full ones only.
type goPackage struct {
	path  string
	dir   string
	types *types.Package
	files []*ast.File
	info  *types.Info
}

// maxChecked bounds the source that one analysis parses and checks, in bytes: it
// is what keeps it below a second or two and below 200 MB. Packages without
// bodies count a third.
const maxChecked = 9 << 20

func newGoLoader(ctx context.Context, r *Root) *goLoader {
	l := &goLoader{
		root: r, ctx: ctx, fset: token.NewFileSet(), budget: maxChecked,
		dirs: map[string][]string{}, paths: map[string]string{}, pkgs: map[string]*goPackage{}, full: map[string]bool{},
	}
	r.stat()
	modules := l.modules()
	for i := range r.files {
		f := &r.files[i]
		if f.Language == scan.Go && !strings.HasSuffix(f.Path, "_test.go") {
			dir := dirOf(f.Path)
			l.dirs[dir] = append(l.dirs[dir], f.Path)
		}
	}
	for dir := range l.dirs {
		l.paths[importPath(modules, dir)] = dir
	}
	return l
}

// want has a package checked with its function bodies. What is wanted first gets
// the budget first.
func (l *goLoader) want(p string) {
	if !l.full[p] {
		l.full[p] = true
		l.order = append(l.order, p)
	}
}

// modules maps the folders of go.mod files to their module paths.
func (l *goLoader) modules() map[string]string {
	out := map[string]string{}
	for i := range l.root.files {
		f := &l.root.files[i]
		if path.Base(f.Path) != "go.mod" || source(l.root.abs(f.Path), &l.buf) != nil {
			continue
		}
		for line := range strings.Lines(l.buf.String()) {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
				out[dirOf(f.Path)] = strings.Trim(strings.TrimSpace(name), `"`)
				break
			}
		}
	}
	return out
}

// importPath is how a folder is imported: by the nearest module around it. The
// standard library's module has no part in its packages' paths.
func importPath(modules map[string]string, dir string) string {
	for at := dir; ; at = dirOf(at) {
		if module, ok := modules[at]; ok {
			rel := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
			if module == "std" {
				return strings.TrimPrefix(rel, "vendor/")
			}
			return path.Join(module, rel)
		}
		if at == "" {
			return dir
		}
	}
}

// pathOf is the import path of a folder.
func (l *goLoader) pathOf(dir string) string {
	for p, d := range l.paths {
		if d == dir {
			return p
		}
	}
	return dir
}

// Import makes the loader the checker's source of packages.
func (l *goLoader) Import(p string) (*types.Package, error) {
	if p == "unsafe" {
		return types.Unsafe, nil
	}
	return l.load(p).types, nil
}

var _ types.Importer = (*goLoader)(nil)

// load checks a package once. A package that imports itself on the way gets the
// empty one.
func (l *goLoader) load(p string) *goPackage {
	if pkg, ok := l.pkgs[p]; ok {
		return pkg
	}
	pkg := &goPackage{path: p, types: types.NewPackage(p, guessName(p))}
	pkg.types.MarkComplete()
	l.pkgs[p] = pkg
	dir, ok := l.paths[p]
	if !ok || l.ctx.Err() != nil {
		return pkg
	}
	if l.budget -= l.cost(p, dir); l.budget < 0 {
		l.cut = true
		return pkg
	}
	pkg.dir = dir
	files := l.parse(dir, l.full[p])
	if len(files) == 0 {
		return pkg
	}
	conf := types.Config{
		Importer: l, FakeImportC: true, IgnoreFuncBodies: !l.full[p], DisableUnusedImportCheck: true,
		Error: func(error) {}, // missing dependencies are expected
		Sizes: types.SizesFor("gc", build.Default.GOARCH),
	}
	var info *types.Info
	if l.full[p] {
		info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
		pkg.files, pkg.info = files, info
	}
	if checked, _ := conf.Check(p, l.fset, files, info); checked != nil {
		pkg.types = checked
	}
	return pkg
}

// cost is what a package takes of the budget.
func (l *goLoader) cost(p, dir string) int64 {
	size := int64(0)
	for _, name := range l.dirs[dir] {
		if i, ok := l.root.fileIndex(name); ok {
			size += l.root.files[i].size
		}
	}
	if l.full[p] {
		return size
	}
	return size / 3
}

// guessName is the name of a package that is not there: the last part of its
// path that is no version.
func guessName(p string) string {
	name := path.Base(p)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(p))
	}
	return strings.TrimPrefix(name, "go-")
}

// parse reads the files of a folder that belong to one build of it, this
// machine's, and to the package that most of them are of.
func (l *goLoader) parse(dir string, bodies bool) []*ast.File {
	var files []*ast.File
	names := map[string]int{}
	for _, name := range l.dirs[dir] {
		if ok, err := build.Default.MatchFile(l.root.abs(dir), path.Base(name)); err != nil || !ok {
			continue
		}
		if source(l.root.abs(name), &l.buf) != nil {
			continue
		}
		file := l.parseFile(name, bodies)
		if file == nil || file.Name == nil {
			continue
		}
		names[file.Name.Name]++
		files = append(files, file)
	}
	main := ""
	for name, n := range names {
		if n > names[main] || n == names[main] && name < main {
			main = name
		}
	}
	return slices.DeleteFunc(files, func(f *ast.File) bool { return f.Name.Name != main })
}

// parseFile parses what the buffer holds; without bodies most of the text is not
// even read.
func (l *goLoader) parseFile(name string, bodies bool) *ast.File {
	if !bodies {
		if file, err := parser.ParseFile(l.fset, name, scan.GoHeads(l.buf.Bytes()), parser.SkipObjectResolution); err == nil {
			return file
		}
	}
	file, _ := parser.ParseFile(l.fset, name, l.buf.Bytes(), parser.SkipObjectResolution)
	return file
}
