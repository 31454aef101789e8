package scan

// scriptFile reads JavaScript and TypeScript, with or without JSX.
func scriptFile(src []byte, lang Language) Facts {
	l := lexer{src: src, dialect: dialect{regexps: true, templates: true}}
	p := &scriptParser{parser: newParser(src, l.run()), typed: lang == TypeScript}
	p.code(0, len(p.toks), "")
	p.values()
	return p.facts
}

type scriptParser struct {
	*parser
	typed bool
}

// code reads statements and expressions alike: it looks for the few shapes that
// declare something and passes over everything else.
func (p *scriptParser) code(i, end int, scope string) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	for i < end {
		i = max(p.piece(i, end, scope), i+1)
	}
}

func (p *scriptParser) piece(i, end int, scope string) int {
	if !p.isWord(i) {
		if p.mark(i) == '=' && p.isWord(i-1) {
			return p.assigned(i-1, i, end, scope)
		}
		if p.mark(i) == ':' && (p.isWord(i-1) || p.toks[max(i-1, 0)].kind == text) && p.isKey(i-1) {
			return p.assigned(i-1, i, end, scope)
		}
		return i + 1
	}
	if p.mark(i-1) == '.' && p.mark(i-2) != '.' {
		return i + 1
	}
	switch {
	case p.is(i, "function"):
		return p.function(i, end, scope)
	case p.is(i, "class") && p.mark(i+1) != ':' && p.mark(i+1) != '=' && p.mark(i+1) != '(':
		return p.class(i, end, scope, -1)
	case p.is(i, "import"):
		return p.imports(i, end)
	case p.is(i, "export"):
		p.reexport(i, end)
		return i + 1
	case p.is(i, "require") && p.mark(i+1) == '(' && i+2 < end && p.toks[i+2].kind == text:
		p.addImport(unquote(p.text(i+2)), i)
		return i + 2
	case p.is(i, "const") || p.is(i, "let") || p.is(i, "var"):
		return p.variable(i, end, scope)
	case p.typed && p.isWord(i+1) && p.startsStatement(i):
		if next := p.typeDecl(i, end, scope); next > i {
			return next
		}
	}
	if p.mark(i+1) == '(' || p.mark(i+1) == '<' && p.typed {
		return p.shorthand(i, end, scope)
	}
	return i + 1
}

// startsStatement keeps `type` and `interface` as plain names from counting.
func (p *scriptParser) startsStatement(i int) bool {
	if i == 0 {
		return true
	}
	switch p.mark(i - 1) {
	case ';', '}', '{', ')':
		return true
	}
	return p.is(i-1, "export") || p.is(i-1, "declare") || p.is(i-1, "default") || p.is(i-1, "abstract") || p.is(i-1, "const") ||
		p.toks[i].line > p.toks[i-1].line
}

// isKey tells whether the name at i can be a key of an object literal.
func (p *scriptParser) isKey(i int) bool {
	c := p.mark(i - 1)
	return c == '{' || c == ','
}

// function reads a function with the keyword at i.
func (p *scriptParser) function(i, end int, scope string) int {
	k := i + 1
	if p.mark(k) == '*' {
		k++
	}
	if !p.isWord(k) {
		return p.functionTail(found{scope: scope}, k, end)
	}
	from := i
	for p.is(from-1, "async") || p.is(from-1, "export") || p.is(from-1, "default") || p.is(from-1, "declare") {
		from--
	}
	return p.functionTail(found{kind: Function, name: p.text(k), at: k, from: from, scope: scope}, k+1, end)
}

// functionTail reads type parameters, parameters, the return type and the body,
// and adds the function. Where there are no parameters it adds nothing.
func (p *scriptParser) functionTail(f found, i, end int) int {
	if p.mark(i) == '<' {
		i = p.skipAngles(i, end)
	}
	if p.mark(i) != '(' {
		return i
	}
	i = p.skip(i, end)
	if p.mark(i) == ':' {
		i = p.skipType(i+1, end)
	}
	if p.mark(i) == '=' && p.mark(i+1) == '>' {
		i += 2
	}
	f.to, f.end = i, max(i-1, f.at)
	body := p.mark(i) == '{' && i < end
	if body {
		f.end = p.skip(i, end) - 1
	}
	p.add(f)
	inner := join(f.scope, f.name)
	if f.name == "" {
		inner = f.scope
	}
	if body {
		p.code(i+1, f.end, inner)
		return f.end + 1
	}
	return i
}

// shorthand reads name(…) {…}: a method of an object literal. A call looks the
// same up to the brace.
func (p *scriptParser) shorthand(i, end int, scope string) int {
	if isControl(p.parser, i) || p.is(i-1, "new") || p.is(i-1, "function") {
		return i + 1
	}
	open := i + 1
	if p.mark(open) == '<' {
		open = p.skipAngles(open, end)
		if p.mark(open) != '(' {
			return i + 1
		}
	}
	behind := p.skip(open, end)
	if p.mark(behind) == ':' && p.typed && !p.is(i-1, "case") && p.mark(i-1) != '?' {
		behind = p.skipType(behind+1, end)
	}
	if p.mark(behind) != '{' || behind >= end || !p.memberMayStart(i) {
		return i + 1
	}
	return p.functionTail(found{kind: Method, name: p.text(i), at: i, from: i, scope: scope}, i+1, end)
}

// memberMayStart looks at what stands before a key: an object's brace, a comma,
// or a modifier.
func (p *scriptParser) memberMayStart(i int) bool {
	switch p.mark(i - 1) {
	case '{', ',', '*':
		return true
	}
	return p.is(i-1, "async") || p.is(i-1, "get") || p.is(i-1, "set")
}

func isControl(p *parser, i int) bool {
	switch p.text(i) {
	case "if", "for", "while", "switch", "catch", "with", "return", "function", "super", "await", "typeof", "import", "new", "delete", "void", "yield", "do", "else":
		return true
	}
	return false
}

// variable reads const, let and var: name, perhaps a type, perhaps a function.
func (p *scriptParser) variable(i, end int, scope string) int {
	if p.is(i+1, "enum") {
		return i + 1
	}
	name := i + 1
	if !p.isWord(name) {
		return i + 1
	}
	k := name + 1
	if p.mark(k) == '!' {
		k++
	}
	if p.mark(k) == ':' {
		k = p.skipType(k+1, end)
	}
	if p.mark(k) != '=' {
		return name + 1
	}
	return p.assigned(name, k, end, scope)
}

// assigned reads the value behind "=" or ":" at i; a function or class there
// takes its name from the target.
func (p *scriptParser) assigned(name, i, end int, scope string) int {
	if p.mark(i+1) == '=' || p.mark(i+1) == '>' {
		return i + 2
	}
	k := i + 1
	f := found{kind: Function, name: unquote(p.text(name)), at: name, from: name, scope: scope}
	if p.is(k, "async") && p.toks[min(k+1, len(p.toks)-1)].line == p.toks[k].line {
		k++
	}
	switch {
	case p.is(k, "function"):
		k++
		if p.mark(k) == '*' {
			k++
		}
		if p.isWord(k) {
			k++
		}
		return p.functionTail(f, k, end)
	case p.is(k, "class"):
		return p.class(k, end, scope, name)
	case p.arrowFollows(k, end):
		if p.isWord(k) {
			f.to, f.end = k+3, p.arrowEnd(k+3, end)
			p.add(f)
			return k + 3
		}
		return p.functionTail(f, k, end)
	}
	return i + 1
}
