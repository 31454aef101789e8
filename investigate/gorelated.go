package investigate

import (
	"fmt"
	"go/types"
)

// namedTypes calls visit for each type declared in the checked packages.
func (g *goGraph) namedTypes(visit func(*types.TypeName, *types.Named)) {
	for p := range g.loader.full {
		scope := g.loader.load(p).types.Scope()
		for _, name := range scope.Names() {
			tn, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() {
				continue
			}
			if named, ok := tn.Type().(*types.Named); ok && named.TypeParams() == nil {
				visit(tn, named)
			}
		}
	}
}

// related lists the implementers of an interface, or the interfaces that a type
// implements, among the checked packages.
func (g *goGraph) related(t *types.TypeName) []Ref {
	var out []Ref
	own := t.Type()
	iface, isInterface := own.Underlying().(*types.Interface)
	if isInterface && iface.NumMethods() == 0 {
		return nil
	}
	g.namedTypes(func(tn *types.TypeName, other *types.Named) {
		if tn == t {
			return
		}
		target, otherIsInterface := other.Underlying().(*types.Interface)
		switch {
		case isInterface && !otherIsInterface && implements(other, iface):
			out = append(out, g.ref(tn.Pos(), fmt.Sprintf(g.say.ImplementedBy, objectName(tn))))
		case !isInterface && otherIsInterface && target.NumMethods() > 0 && implements(own, target):
			out = append(out, g.ref(tn.Pos(), fmt.Sprintf(g.say.Implements, objectName(tn))))
		}
	})
	sortRefs(out)
	return out
}

func implements(t types.Type, iface *types.Interface) bool {
	return types.Implements(t, iface) || types.Implements(types.NewPointer(t), iface)
}

// interfaceMethods lists the methods of interfaces through which a method may be
// called.
func (g *goGraph) interfaceMethods(f *types.Func) []types.Object {
	recv := f.Signature().Recv()
	if recv == nil {
		return nil
	}
	named := namedOf(recv.Type())
	if named == nil || types.IsInterface(named) || named.TypeParams() != nil {
		return nil
	}
	var out []types.Object
	g.namedTypes(func(_ *types.TypeName, other *types.Named) {
		iface, ok := other.Underlying().(*types.Interface)
		if !ok || !implements(named, iface) {
			return
		}
		for i := range iface.NumExplicitMethods() {
			if m := iface.ExplicitMethod(i); m.Name() == f.Name() {
				out = append(out, m)
			}
		}
	})
	return out
}
