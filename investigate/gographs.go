package investigate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// goGraph is what the fully checked packages say about calls and uses.
type goGraph struct {
	loader *goLoader
	say    notes
	calls  map[*types.Func][]goUse // what a function calls
	uses   map[types.Object][]goUse
	decls  map[*types.Func]*ast.FuncDecl
}

// goUse is one use of an object.
type goUse struct {
	object types.Object
	in     *types.Func // nil at package level
	pos    token.Pos
}

func newGoGraph(l *goLoader, say notes) *goGraph {
	g := &goGraph{loader: l, say: say, calls: map[*types.Func][]goUse{}, uses: map[types.Object][]goUse{}, decls: map[*types.Func]*ast.FuncDecl{}}
	for _, p := range l.order {
		if pkg := l.load(p); pkg.info != nil {
			for _, file := range pkg.files {
				g.addFile(pkg.info, file)
			}
		}
	}
	return g
}

func (g *goGraph) addFile(info *types.Info, file *ast.File) {
	for _, decl := range file.Decls {
		var in *types.Func
		if f, ok := decl.(*ast.FuncDecl); ok {
			if in, _ = info.Defs[f.Name].(*types.Func); in != nil {
				g.decls[in] = f
			}
		}
		called := map[*ast.Ident]bool{}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id := calledName(n.Fun); id != nil {
					called[id] = true
				}
			case *ast.Ident:
				if obj := info.Uses[n]; obj != nil && obj.Pkg() != nil {
					g.addUse(goUse{origin(obj), in, n.Pos()}, called[n])
				}
			}
			return true
		})
	}
}

func (g *goGraph) addUse(u goUse, isCall bool) {
	switch u.object.(type) {
	case *types.Func, *types.TypeName, *types.Var, *types.Const:
		g.uses[u.object] = append(g.uses[u.object], u)
	}
	if _, ok := u.object.(*types.Func); ok && isCall && u.in != nil {
		g.calls[u.in] = append(g.calls[u.in], u)
	}
}

// calledName is the identifier that a call expression calls.
func calledName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.ParenExpr:
		return calledName(e.X)
	case *ast.IndexExpr:
		return calledName(e.X)
	case *ast.IndexListExpr:
		return calledName(e.X)
	}
	return nil
}

// origin is the generic object that an instance was made of.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

func (g *goGraph) ref(pos token.Pos, name string) Ref {
	if !pos.IsValid() {
		return Ref{Name: name}
	}
	p := g.loader.fset.Position(pos)
	return Ref{Path: p.Filename, Line: p.Line, Name: name}
}

// objectName is the name as people write it: pkg.Func or pkg.Type.Method.
func objectName(o types.Object) string {
	name := o.Name()
	if f, ok := o.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil {
			if t := namedOf(recv.Type()); t != nil {
				name = t.Obj().Name() + "." + name
			}
		}
	}
	if o.Pkg() != nil {
		name = o.Pkg().Name() + "." + name
	}
	return name
}

func namedOf(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := t.(*types.Named)
	return n
}

const (
	treeDepth  = 3
	treeFanout = 8
)

// callTree writes what a function calls, depth first, each function once.
func (g *goGraph) callTree(f *types.Func, depth int, seen map[types.Object]bool) []Call {
	var out []Call
	if depth > treeDepth {
		return nil
	}
	width := 0
	for _, u := range g.calls[f] {
		if seen[u.object] || width == treeFanout {
			continue
		}
		seen[u.object] = true
		callee := u.object.(*types.Func)
		if _, inside := g.loader.paths[callee.Pkg().Path()]; !inside && depth > 1 {
			continue
		}
		width++
		out = append(out, Call{Depth: depth, Ref: g.ref(u.pos, objectName(callee))})
		out = append(out, g.callTree(callee, depth+1, seen)...)
	}
	return out
}
