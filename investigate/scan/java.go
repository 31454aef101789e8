package scan

import "strings"

func javaFile(src []byte) Facts {
	l := lexer{src: src, dialect: dialect{textBlocks: true}}
	p := &javaParser{newParser(src, l.run())}
	p.members(0, len(p.toks), "", "")
	return p.facts
}

type javaParser struct{ *parser }

// members reads the declarations of a class body or of the whole file.
func (p *javaParser) members(i, end int, scope, class string) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	for i < end {
		next := p.member(i, end, scope, class)
		i = max(next, i+1)
	}
}

// member reads one declaration that begins at start and returns the index behind it.
func (p *javaParser) member(start, end int, scope, class string) int {
	from := start
	for i := start; i < end; {
		switch c := p.mark(i); {
		case c == '@' && !p.is(i+1, "interface"):
			i = p.annotation(i, end)
			if i >= end {
				return end
			}
			if p.mark(from) == '@' {
				from = i
			}
		case c == ';' || c == '}':
			return i + 1
		case c == '{':
			p.locals(i+1, p.skip(i, end)-1, scope) // an initializer
			return p.skip(i, end)
		case c == '=':
			behind := p.initializer(i, end, scope)
			p.field(from, i, behind-1, scope)
			return behind
		case c == '<':
			i = p.skipAngles(i, end)
		case c == '(':
			return p.method(from, i, end, scope, class)
		case p.isWord(i) && p.typeFollows(i):
			return p.typeDecl(from, i, end, scope)
		case (p.is(i, "import") || p.is(i, "package")) && scope == "":
			return p.header(i, end)
		default:
			i++
		}
	}
	return end
}

func (p *javaParser) annotation(i, end int) int {
	i++
	for i < end && (p.isWord(i) || p.mark(i) == '.') {
		if p.isWord(i) && p.isWord(i+1) {
			i++
			break
		}
		i++
	}
	if p.mark(i) == '(' {
		i = p.skip(i, end)
	}
	return i
}

func (p *javaParser) typeFollows(i int) bool {
	switch {
	case p.is(i, "class"), p.is(i, "interface"), p.is(i, "enum"):
		return p.isWord(i+1) && p.mark(i-1) != '.'
	case p.is(i, "record"):
		return p.isWord(i+1) && (p.mark(i+2) == '(' || p.mark(i+2) == '<')
	}
	return false
}

func (p *javaParser) typeDecl(from, i, end int, scope string) int {
	kind := Class
	switch {
	case p.is(i, "interface"):
		kind = Interface
	case p.is(i, "enum"):
		kind = Enum
	}
	name := p.text(i + 1)
	open := i + 2
	for open < end && p.mark(open) != '{' && p.mark(open) != ';' {
		if p.mark(open) == '(' {
			open = p.skip(open, end)
			continue
		}
		open++
	}
	if p.mark(open) != '{' {
		return open + 1
	}
	behind := p.skip(open, end)
	p.add(found{kind, name, i + 1, from, open, behind - 1, scope})
	body := open + 1
	if kind == Enum {
		body = p.constants(body, behind-1, join(scope, name))
	}
	p.members(body, behind-1, join(scope, name), name)
	return behind
}

// constants reads the constants of an enum, whose bodies may hold methods, and
// returns where its other members begin.
func (p *javaParser) constants(i, end int, scope string) int {
	for i < end {
		switch p.mark(i) {
		case ';':
			return i + 1
		case '(', '[':
			i = p.skip(i, end)
		case '{':
			p.members(i+1, p.skip(i, end)-1, scope, "")
			i = p.skip(i, end)
		default:
			i++
		}
	}
	return end
}

// method reads a method or constructor whose parameters open at paren.
func (p *javaParser) method(from, paren, end int, scope, class string) int {
	name := paren - 1
	behind := p.skip(paren, end)
	i := behind
	for i < end && p.mark(i) != '{' && p.mark(i) != ';' {
		if p.mark(i) == '=' || p.mark(i) == '}' {
			return i + 1
		}
		i++
	}
	isCtor := p.is(name, class)
	if p.isWord(name) && scope != "" && (name > from || isCtor) {
		last := i
		if p.mark(i) == '{' {
			last = p.skip(i, end) - 1
		}
		p.add(found{Method, p.text(name), name, from, i, last, scope})
	}
	if p.mark(i) == '{' {
		stop := p.skip(i, end)
		p.locals(i+1, stop-1, join(scope, p.text(name)))
		return stop
	}
	return i + 1
}

// field adds a static field: one of the class, not of its objects.
func (p *javaParser) field(from, equals, last int, scope string) {
	static, final := false, false
	for i := from; i < equals; i++ {
		static = static || p.is(i, "static")
		final = final || p.is(i, "final")
	}
	if !static || !p.isWord(equals-1) || scope == "" {
		return
	}
	kind := Variable
	if final {
		kind = Constant
	}
	p.add(found{kind, p.text(equals - 1), equals - 1, from, p.lineEnd(equals, last), last, scope})
}

// initializer skips a field's value.
func (p *javaParser) initializer(i, end int, scope string) int {
	start := i
	for i < end && p.mark(i) != ';' {
		switch p.mark(i) {
		case '(', '[', '{':
			i = p.skip(i, end)
		case '}':
			return i
		default:
			i++
		}
	}
	p.locals(start, i, scope)
	return i + 1
}

// locals looks in code for the classes declared there, and for the bodies of
// anonymous ones.
func (p *javaParser) locals(i, end int, scope string) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	for i < end {
		switch {
		case p.isWord(i) && p.typeFollows(i) && (p.isWord(i + 1)):
			i = p.typeDecl(i, i, end, scope)
		case p.is(i, "new"):
			i = p.anonymous(i+1, end, scope)
		default:
			i++
		}
	}
}

// anonymous reads what follows new: a class body behind the arguments is read
// as members.
func (p *javaParser) anonymous(i, end int, scope string) int {
	name := i
	for i < end && (p.isWord(i) || p.mark(i) == '.') {
		name = i
		i++
	}
	if p.mark(i) == '<' {
		i = p.skipAngles(i, end)
	}
	if p.mark(i) != '(' {
		return i
	}
	behind := p.skip(i, end)
	p.locals(i+1, behind-1, scope)
	if p.mark(behind) != '{' || behind >= end {
		return behind
	}
	stop := p.skip(behind, end)
	p.members(behind+1, stop-1, join(scope, p.text(name)), "")
	return stop
}

func (p *javaParser) header(i, end int) int {
	stop := i
	var path strings.Builder
	for stop < end && p.mark(stop) != ';' {
		if stop > i && !p.is(stop, "static") {
			path.WriteString(p.text(stop))
		}
		stop++
	}
	if p.is(i, "package") {
		p.facts.Package = path.String()
	} else {
		p.addImport(path.String(), i)
	}
	return stop + 1
}
