package scan

import (
	"cmp"
	"slices"
)

// values adds the constants and variables of the module itself, those outside
// all brackets. What the walk before took for a function or a class stays that.
func (p *scriptParser) values() {
	known := map[string]bool{}
	for _, d := range p.facts.Decls {
		if d.Scope == "" {
			known[d.Name] = true
		}
	}
	before := len(p.facts.Decls)
	for i := 0; i < len(p.toks); {
		switch p.mark(i) {
		case '(', '[', '{':
			i = p.skip(i, len(p.toks))
			continue
		}
		if f, ok := p.value(i); ok && !known[f.name] {
			known[f.name] = true
			p.add(f)
		}
		i++
	}
	if len(p.facts.Decls) > before {
		slices.SortStableFunc(p.facts.Decls, func(a, b Decl) int { return cmp.Compare(a.Line, b.Line) })
	}
}

// value reads const, let or var with a name and a value at i. Of several in one
// statement it takes the first.
func (p *scriptParser) value(i int) (found, bool) {
	f := found{kind: Variable, name: p.text(i + 1), at: i + 1, from: i}
	switch {
	case p.is(i, "const"):
		f.kind = Constant
	case !p.is(i, "let") && !p.is(i, "var"):
		return found{}, false
	}
	if !p.isWord(i+1) || p.mark(i-1) == '.' || p.mark(i+2) != '=' && p.mark(i+2) != ':' {
		return found{}, false
	}
	if p.is(i-1, "export") {
		f.from = i - 1
	}
	f.to = p.lineEnd(f.at, len(p.toks))
	f.end = f.to - 1
	for k := f.at; k < f.to; k++ {
		switch p.mark(k) {
		case ';':
			f.to, f.end = k, k
		case '(', '[', '{':
			f.end = max(f.end, p.skip(k, len(p.toks))-1)
		}
	}
	return f, true
}
