package scan

// members reads the body of a class or an interface.
func (p *scriptParser) members(i, end int, scope string) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	for i < end {
		i = max(p.member(i, end, scope), i+1)
	}
}

// member reads one member and returns the index behind it.
func (p *scriptParser) member(i, end int, scope string) int {
	from := i
	for i < end && p.isModifier(i, end) {
		i++
	}
	name := i
	switch c := p.mark(i); {
	case c == '@':
		return p.decorator(i, end)
	case c == ';' || c == ',' || c == '}':
		return i + 1
	case c == '{':
		p.code(i+1, p.skip(i, end)-1, scope) // a static block
		return p.skip(i, end)
	case c == '[':
		i = p.skip(i, end)
		name = -1
	case c == '#' && p.isWord(i+1):
		name = i + 1
		i += 2
	case c == '(' || c == '<':
		name = -1 // a call signature
	case p.is(i, "new") && (p.mark(i+1) == '(' || p.mark(i+1) == '<'):
		name = -1 // a construct signature
		i++
	default:
		i++
	}
	if c := p.mark(i); c == '?' || c == '!' {
		i++
	}
	if c := p.mark(i); c == '(' || c == '<' && p.mark(p.skipAngles(i, end)) == '(' {
		return p.methodTail(from, name, i, end, scope)
	}
	return p.property(name, i, end, scope)
}

func (p *scriptParser) methodTail(from, name, i, end int, scope string) int {
	f := found{scope: scope}
	if name >= 0 {
		f = found{kind: Method, name: unquote(p.text(name)), at: name, from: from, scope: scope}
		if p.mark(name-1) == '#' {
			f.name = "#" + f.name
		}
	}
	return p.functionTail(f, i, end)
}

// isModifier tells whether the word at i stands before a name rather than being it.
func (p *scriptParser) isModifier(i, end int) bool {
	if p.mark(i) == '*' {
		return true
	}
	switch p.text(i) {
	case "public", "private", "protected", "static", "readonly", "abstract", "override", "async", "get", "set", "declare", "accessor", "new":
	default:
		return false
	}
	if i+1 >= end {
		return false
	}
	switch p.mark(i + 1) {
	case '(', '=', ';', ':', '?', '!', ',', '}', '<':
		return false
	case '{':
		return false // a static block
	}
	return p.toks[i+1].line == p.toks[i].line || !p.is(i, "get") && !p.is(i, "set") && !p.is(i, "async")
}

// decorator passes over @name(…).
func (p *scriptParser) decorator(i, end int) int {
	i++
	for i < end && (p.isWord(i) || p.mark(i) == '.') {
		i++
		if p.mark(i) != '.' && p.mark(i-1) != '.' {
			break
		}
	}
	if p.mark(i) == '(' {
		p.code(i+1, p.skip(i, end)-1, "")
		i = p.skip(i, end)
	}
	return i
}

// property reads the type and the value of a field. Without a semicolon it ends
// with the line, unless the value plainly goes on.
func (p *scriptParser) property(name, i, end int, scope string) int {
	if p.mark(i) == ':' {
		i = p.skipType(i+1, end)
	}
	if p.mark(i) != '=' || i >= end {
		return i
	}
	stop := p.valueEnd(i+1, end)
	if name >= 0 {
		if next := p.assigned(name, i, stop, scope); next > i+1 {
			p.markMethod(name)
			p.code(next, stop, scope)
			return stop
		}
	}
	p.code(i+1, stop, scope)
	return stop
}

// markMethod calls a function that is a class's field a method.
func (p *scriptParser) markMethod(name int) {
	line, title := p.line(name), unquote(p.text(name))
	for k := len(p.facts.Decls) - 1; k >= 0; k-- {
		if d := &p.facts.Decls[k]; d.Line == line && d.Name == title && d.Kind == Function {
			d.Kind = Method
			return
		}
	}
}

// valueEnd finds the end of a field's value.
func (p *scriptParser) valueEnd(i, end int) int {
	start := i
	for i < end {
		switch c := p.mark(i); {
		case c == ';':
			return i
		case c == '(' || c == '[' || c == '{':
			if i > start && p.newLine(i) && c != '{' && p.endsValue(i-1) && c == '[' {
				return i
			}
			i = p.skip(i, end)
			continue
		case i > start && p.newLine(i) && p.endsValue(i-1) && (p.isWord(i) && !p.continues(i) || c == '@' || c == '#' || c == '*'):
			return i
		}
		i++
	}
	return end
}

func (p *scriptParser) newLine(i int) bool { return p.toks[i].line > p.toks[i-1].line }

// continues tells whether a word at the start of a line goes on with a value.
func (p *scriptParser) continues(i int) bool {
	return p.is(i, "in") || p.is(i, "instanceof") || p.is(i, "as") || p.is(i, "satisfies")
}

// endsValue tells whether a value may end with the token at i.
func (p *scriptParser) endsValue(i int) bool {
	switch p.mark(i) {
	case 0, ')', ']', '}':
		return true
	}
	return false
}
