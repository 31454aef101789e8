package house_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// mutableVariables wants package variables to be constants in all but name:
// sentinel errors, compiled patterns, embedded files, tables that nobody
// writes to. What is declared empty, made to be filled, open to other
// packages, or written to anywhere in its package is state, and state belongs
// to a value that somebody owns.
func mutableVariables(h house) []string {
	var found []string
	for dir, sources := range h.packages() {
		if !sources[0].product() {
			continue
		}
		var files []*ast.File
		for _, s := range sources {
			files = append(files, s.file)
			found = append(found, h.declared(s)...)
		}
		found = append(found, h.written(dir, files)...)
	}
	return found
}

// declared looks at the declarations alone.
func (h house) declared(s source) []string {
	var found []string
	for _, decl := range s.file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || embeds(gen.Doc) || embeds(value.Doc) {
				continue
			}
			for i, name := range value.Names {
				if reason := state(name.Name, value, i); reason != "" {
					found = append(found, fmt.Sprintf("%s:%d: package variable %s %s", s.path, h.line(name.Pos()), name.Name, reason))
				}
			}
		}
	}
	return found
}

func embeds(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// state says what makes a variable more than a constant, or "".
func state(name string, spec *ast.ValueSpec, i int) string {
	if i >= len(spec.Values) {
		return "has no value, so it is there to be changed"
	}
	if strings.HasPrefix(name, "Err") || strings.HasPrefix(name, "err") || name == "_" {
		return ""
	}
	if ast.IsExported(name) {
		return "can be changed by other packages"
	}
	value := spec.Values[i]
	if address, ok := value.(*ast.UnaryExpr); ok && address.Op == token.AND {
		return "points to something that can be changed"
	}
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if fn, ok := call.Fun.(*ast.Ident); ok && (fn.Name == "make" || fn.Name == "new") {
		return "is made to be filled"
	}
	return ""
}

// nothing imports no package: the variables of one package are all we ask for,
// and the checker finds them without knowing the types of others.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

// written finds every place where a package variable is assigned to.
func (h house) written(dir string, files []*ast.File) []string {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, h.fset, files, info) // the missing imports are errors, and expected
	var found []string
	report := func(target ast.Expr) {
		name := owner(target)
		if name == nil {
			return
		}
		if v, ok := info.Uses[name].(*types.Var); ok && v.Parent() == pkg.Scope() {
			place := h.fset.Position(name.Pos())
			found = append(found, fmt.Sprintf("%s:%d: package variable %s is written to", place.Filename, place.Line, name.Name))
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			for _, target := range targets(n) {
				report(target)
			}
			return true
		})
	}
	return found
}

// targets lists what a node writes to, or lets others write to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.SendStmt:
		return []ast.Expr{n.Chan}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (fn.Name == "delete" || fn.Name == "clear" || fn.Name == "copy") {
			return n.Args[:1]
		}
	}
	return nil
}

// owner is the variable at the root of an expression such as table[i].field.
func owner(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.IndexExpr:
		return owner(e.X)
	case *ast.SelectorExpr:
		return owner(e.X)
	case *ast.SliceExpr:
		return owner(e.X)
	case *ast.StarExpr:
		return owner(e.X)
	case *ast.ParenExpr:
		return owner(e.X)
	}
	return nil
}
