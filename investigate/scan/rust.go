package scan

import "strings"

func rustFile(src []byte) Facts {
	l := lexer{src: src, dialect: dialect{lifetimes: true, nestedNote: true}}
	p := &rustParser{parser: newParser(src, l.run())}
	p.items(0, len(p.toks), "", false)
	return p.facts
}

type rustParser struct {
	*parser
	bodies int // functions around the item; what they declare as constant is their own
}

// items reads everything declared between i and end. Keywords of items occur
// nowhere else in Rust, so expressions are simply passed over.
func (p *rustParser) items(i, end int, scope string, inImpl bool) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	start := i
	for i < end {
		switch c := p.mark(i); {
		case c == '#' && (p.mark(i+1) == '[' || p.mark(i+1) == '!' && p.mark(i+2) == '['):
			for p.mark(i) != '[' {
				i++
			}
			i = p.skip(i, end)
			start = i
		case c == ';' || c == '{' || c == '}' || c == ',':
			i++
			start = i
		case c == '!' && p.isWord(i-1) && !p.is(i-1, "return"):
			i = p.macroCall(i, end, scope, inImpl)
			start = i
		case p.isWord(i):
			next := p.item(start, i, end, found{scope: scope}, inImpl)
			if next > i {
				start = next
			}
			i = max(next, i+1)
		default:
			i++
		}
	}
}

// macroCall passes over the arguments of a macro, which are not Rust; only the
// definition of a macro and conditional compilation are read.
func (p *rustParser) macroCall(i, end int, scope string, inImpl bool) int {
	name := i - 1
	arg := i + 1
	if p.is(name, "macro_rules") && p.isWord(arg) {
		arg++
	}
	c := p.mark(arg)
	if c != '(' && c != '[' && c != '{' {
		return i + 1
	}
	behind := p.skip(arg, end)
	switch {
	case p.is(name, "macro_rules"):
		p.add(found{Macro, p.text(i + 1), i + 1, name, arg, behind - 1, scope})
	case p.is(name, "cfg_if"):
		p.items(arg+1, behind-1, scope, inImpl)
	}
	return behind
}

// item reads the item whose keyword stands at i; it returns i where there is none.
func (p *rustParser) item(start, i, end int, f found, inImpl bool) int {
	if p.is(i, "impl") {
		return p.impl(i, end, f.scope)
	}
	if !p.isWord(i + 1) {
		return i
	}
	f.from, f.at = start, i+1
	if p.is(i, "static") && p.is(i+1, "mut") {
		f.at++
	}
	f.name = p.text(f.at)
	if f.kind = p.itemKind(i, inImpl); f.kind != "" {
		return p.block(f, f.at+1, end, f.kind == Interface)
	}
	switch {
	case p.is(i, "use"):
		return p.use(i, end)
	case p.is(i, "crate") && p.is(i-1, "extern"):
		p.addImport(f.name, i)
	}
	return i
}

// itemKind is what the keyword at i declares, or "".
func (p *rustParser) itemKind(i int, inImpl bool) Kind {
	switch p.text(i) {
	case "fn":
		if inImpl {
			return Method
		}
		return Function
	case "struct":
		return Struct
	case "union":
		if p.mark(i+2) == '{' || p.mark(i+2) == '<' {
			return Union
		}
	case "enum":
		return Enum
	case "trait":
		return Interface
	case "mod":
		return Module
	case "type":
		return Type
	case "const", "static":
		return p.valueKind(i)
	}
	return ""
}

// valueKind tells a constant or a static from the other uses of the words: raw
// pointers, functions, parameters of types.
func (p *rustParser) valueKind(i int) Kind {
	name := i + 1
	if p.is(name, "mut") {
		name++
	}
	if p.bodies > 0 || p.mark(i-1) == '*' || p.mark(i-1) == '<' || p.mark(name+1) != ':' || p.mark(name+2) == ':' || p.is(name, "_") {
		return ""
	}
	if p.is(i, "const") {
		return Constant
	}
	return Variable
}

// block adds an item and reads what its braces hold. The head ends at the first
// brace or semicolon outside other brackets.
func (p *rustParser) block(f found, i, end int, inImpl bool) int {
	head := i
	for head < end && p.mark(head) != '{' && p.mark(head) != ';' {
		switch c := p.mark(head); {
		case c == '(' || c == '[':
			head = p.skip(head, end)
		case c == '}':
			return head
		case c == '=' && (f.kind == Type || f.kind == Constant || f.kind == Variable):
			for head < end && p.mark(head) != ';' {
				if c := p.mark(head); c == '(' || c == '[' || c == '{' {
					head = p.skip(head, end)
					continue
				}
				head++
			}
		default:
			head++
		}
	}
	f.to, f.end = head, head
	if p.mark(head) == '{' && head < end {
		f.end = p.skip(head, end) - 1
	}
	p.add(f)
	if f.end > head && f.kind != Struct && f.kind != Enum && f.kind != Union {
		if isBody := f.kind == Function || f.kind == Method; isBody {
			p.bodies++
			defer func() { p.bodies-- }()
		}
		p.items(head+1, f.end, join(f.scope, f.name), inImpl)
	}
	return f.end + 1
}

// impl reads the methods of an implementation; their scope is the type.
func (p *rustParser) impl(i, end int, scope string) int {
	head := i + 1
	if p.mark(head) == '<' {
		head = p.skipAngles(head, end)
	}
	name := ""
	inWhere := false
	for head < end && p.mark(head) != '{' && p.mark(head) != ';' {
		switch c := p.mark(head); {
		case c == '<':
			head = p.skipAngles(head, end)
			continue
		case c == '(' || c == '[':
			head = p.skip(head, end)
			continue
		case p.is(head, "where"):
			inWhere = true
		case p.isWord(head) && !inWhere && !p.is(head, "for") && !p.is(head, "dyn") && !p.is(head, "mut"):
			name = p.text(head)
		}
		head++
	}
	if p.mark(head) != '{' {
		return head + 1
	}
	behind := p.skip(head, end)
	p.items(head+1, behind-1, join(scope, name), true)
	return behind
}

func (p *rustParser) use(i, end int) int {
	var path strings.Builder
	stop := i + 1
	for stop < end && p.mark(stop) != ';' {
		path.WriteString(p.text(stop))
		stop++
	}
	p.addImport(clipImport(path.String()), i)
	return stop + 1
}

func clipImport(s string) string {
	if len(s) > maxSignature {
		return s[:maxSignature]
	}
	return s
}
