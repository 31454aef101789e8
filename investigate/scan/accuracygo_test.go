//go:build accuracy

package scan

import (
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// goReference lists functions, methods, types and the methods of interfaces, with
// a walk over the syntax tree that shares nothing with goFile but the parser.
func goReference(t *testing.T, root string) reference {
	t.Helper()
	ref := reference{files: map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".go") {
			return err
		}
		set := gotoken.NewFileSet()
		file, err := goparser.ParseFile(set, path, nil, goparser.SkipObjectResolution)
		if err != nil {
			return nil // only what parses without a mistake is a reference
		}
		rel, _ := filepath.Rel(root, path)
		ref.files[rel] = true
		add := func(name *ast.Ident) {
			ref.decls = append(ref.decls, declaration{rel, name.Name, set.Position(name.Pos()).Line})
		}
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					add(n.Name)
					return false
				case *ast.TypeSpec:
					add(n.Name)
					if it, ok := n.Type.(*ast.InterfaceType); ok {
						for _, m := range it.Methods.List {
							if _, ok := m.Type.(*ast.FuncType); ok {
								for _, name := range m.Names {
									add(name)
								}
							}
						}
					}
					return false
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
