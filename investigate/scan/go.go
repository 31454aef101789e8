package scan

import (
	"bytes"
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"strconv"
	"strings"
)

func goFile(src []byte) Facts {
	files := gotoken.NewFileSet()
	heads := GoHeads(src)
	file, err := goparser.ParseFile(files, "", heads, goparser.SkipObjectResolution)
	if err == nil {
		src = heads
	} else if file, _ = goparser.ParseFile(files, "", src, goparser.SkipObjectResolution); file == nil {
		return Facts{} // a file with other mistakes gives what could be parsed of it
	}
	g := goReader{src: src, file: files.File(file.FileStart)}
	facts := Facts{}
	if file.Name != nil {
		facts.Package = file.Name.Name
	}
	for _, imp := range file.Imports {
		if p, err := strconv.Unquote(imp.Path.Value); err == nil {
			facts.Imports = append(facts.Imports, Import{Path: p, Line: g.line(imp.Pos())})
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			facts.Decls = append(facts.Decls, g.function(d))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					facts.Decls = g.typeSpec(facts.Decls, spec)
				case *ast.ValueSpec:
					facts.Decls = g.valueSpec(facts.Decls, d.Tok, spec)
				}
			}
		}
	}
	return facts
}

type goReader struct {
	src  []byte
	file *gotoken.File
}

func (g *goReader) line(pos gotoken.Pos) int {
	if !pos.IsValid() || int(pos) > g.file.Base()+g.file.Size() {
		return 0
	}
	return g.file.Line(pos)
}

func (g *goReader) text(from, to gotoken.Pos) []byte {
	a, b := int(from)-g.file.Base(), int(to)-g.file.Base()
	if a < 0 || b > len(g.src) || a > b {
		return nil
	}
	return g.src[a:b]
}

func (g *goReader) function(d *ast.FuncDecl) Decl {
	out := Decl{Name: d.Name.Name, Kind: Function, Line: g.line(d.Pos()), End: g.line(d.End() - 1)}
	out.Signature = squeeze(g.text(d.Pos(), d.Type.End()))
	if d.Recv != nil {
		out.Kind = Method
		if len(d.Recv.List) > 0 {
			out.Scope = receiverName(d.Recv.List[0].Type)
		}
	}
	return out
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.ParenExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// typeSpec adds a type and, for an interface, its methods.
func (g *goReader) typeSpec(decls []Decl, spec *ast.TypeSpec) []Decl {
	out := Decl{Name: spec.Name.Name, Kind: Type, Line: g.line(spec.Pos()), End: g.line(spec.End() - 1)}
	head := spec.End()
	switch t := spec.Type.(type) {
	case *ast.StructType:
		out.Kind, head = Struct, t.Pos()+gotoken.Pos(len("struct"))
	case *ast.InterfaceType:
		out.Kind, head = Interface, t.Pos()+gotoken.Pos(len("interface"))
	}
	text := g.text(spec.Pos(), head)
	if i := bytes.IndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	out.Signature = "type " + squeeze(text)
	decls = append(decls, out)
	if t, ok := spec.Type.(*ast.InterfaceType); ok && t.Methods != nil {
		for _, m := range t.Methods.List {
			if _, isFunc := m.Type.(*ast.FuncType); !isFunc {
				continue
			}
			for _, name := range m.Names {
				decls = append(decls, Decl{
					Name: name.Name, Kind: Method, Line: g.line(name.Pos()), End: g.line(m.End() - 1),
					Signature: strings.TrimSpace(squeeze(g.text(m.Pos(), m.End()))), Scope: spec.Name.Name,
				})
			}
		}
	}
	return decls
}

// valueSpec adds the constants or variables of one line of a declaration.
func (g *goReader) valueSpec(decls []Decl, tok gotoken.Token, spec *ast.ValueSpec) []Decl {
	kind := Variable
	if tok == gotoken.CONST {
		kind = Constant
	}
	for _, name := range spec.Names {
		if name.Name == "_" {
			continue
		}
		text := g.text(spec.Pos(), spec.End())
		if i := bytes.IndexByte(text, '\n'); i > 0 {
			text = text[:i]
		}
		decls = append(decls, Decl{
			Name: name.Name, Kind: kind, Line: g.line(name.Pos()), End: g.line(spec.End() - 1), Signature: tok.String() + " " + squeeze(text),
		})
	}
	return decls
}
