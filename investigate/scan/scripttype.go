package scan

import "strings"

// arrowFollows tells whether an arrow function begins at k.
func (p *scriptParser) arrowFollows(k, end int) bool {
	if p.isWord(k) {
		return p.mark(k+1) == '=' && p.mark(k+2) == '>'
	}
	if p.mark(k) == '<' {
		k = p.skipAngles(k, end)
	}
	if p.mark(k) != '(' || k >= end {
		return false
	}
	k = p.skip(k, end)
	if p.mark(k) == ':' && p.typed {
		k = p.skipType(k+1, end)
	}
	return p.mark(k) == '=' && p.mark(k+1) == '>' && k < end
}

// arrowEnd finds the last token of an arrow function's body where it is a block.
func (p *scriptParser) arrowEnd(i, end int) int {
	if p.mark(i) == '{' && i < end {
		return p.skip(i, end) - 1
	}
	return i
}

// skipType returns the index behind the type that begins at i. A type is a chain
// of operands and operators; a brace is an operand only where one is expected.
func (p *scriptParser) skipType(i, end int) int {
	operand := true
	for i < end {
		c := p.mark(i)
		switch {
		case operand && (c == '{' || c == '[' || c == '('):
			i = p.skip(i, end)
			operand = false
			if c == '(' && p.mark(i) == '=' && p.mark(i+1) == '>' {
				i += 2 // a function type
				operand = true
			}
		case operand && c == '<':
			i = p.skipAngles(i, end) // a generic function type
		case operand && (p.is(i, "keyof") || p.is(i, "typeof") || p.is(i, "readonly") || p.is(i, "unique") || p.is(i, "infer") || p.is(i, "new") || p.is(i, "asserts") || p.is(i, "abstract")):
			i++
			operand = p.mark(i) != '=' && p.mark(i) != ';' // a type may bear the name
		case operand && c == 0:
			i++
			operand = false
		case operand && (c == '|' || c == '&' || c == '-' || c == '@'):
			i++
		case operand:
			return i
		case c == '|' || c == '&' || c == '?' || c == ':':
			i++
			operand = true
		case c == '.':
			i++
			operand = true
		case p.is(i, "is") || p.is(i, "extends"):
			i++
			operand = true
		case c == '<':
			i = p.skipAngles(i, end)
		case c == '[' && p.toks[i].line == p.toks[i-1].line:
			i = p.skip(i, end)
		default:
			return i
		}
	}
	return end
}

// typeDecl reads interface, type, enum, namespace and module at i; it returns i
// where the word is a plain name.
func (p *scriptParser) typeDecl(i, end int, scope string) int {
	f := found{name: p.text(i + 1), at: i + 1, from: i, scope: scope}
	k := i + 2
	switch {
	case p.is(i, "interface"):
		f.kind = Interface
		for k < end && p.mark(k) != '{' {
			if p.mark(k) == '<' {
				k = p.skipAngles(k, end)
				continue
			}
			if c := p.mark(k); c == ';' || c == '=' || c == '(' {
				return i
			}
			k++
		}
	case p.is(i, "type"):
		if p.mark(k) == '<' {
			k = p.skipAngles(k, end)
		}
		if p.mark(k) != '=' {
			return i
		}
		f.kind, f.to = Type, k
		behind := p.skipType(k+1, end)
		f.end = behind - 1
		p.add(f)
		p.objectTypes(k+1, behind, join(scope, f.name))
		return behind
	case p.is(i, "enum"):
		f.kind = Enum
	case p.is(i, "namespace"), p.is(i, "module"), p.is(i, "global"):
		f.kind = Module
		for p.mark(k) == '.' && p.isWord(k+1) {
			k += 2
			f.name, f.at = p.text(k-1), k-1
		}
	}
	if f.kind == "" || p.mark(k) != '{' || k >= end {
		return i
	}
	f.to, f.end = k, p.skip(k, end)-1
	p.add(f)
	switch f.kind {
	case Interface:
		p.members(k+1, f.end, join(scope, f.name))
	case Module:
		p.code(k+1, f.end, join(scope, f.name))
	}
	return f.end + 1
}

// objectTypes reads the methods of the object types that a type is made of.
func (p *scriptParser) objectTypes(i, end int, scope string) {
	for i < end {
		switch p.mark(i) {
		case '{':
			behind := p.skip(i, end)
			p.members(i+1, behind-1, scope)
			i = behind
		case '(', '[':
			i = p.skip(i, end)
		case '<':
			i = p.skipAngles(i, end)
		default:
			i++
		}
	}
}

// class reads a class; named is the token that names a class expression, or -1.
func (p *scriptParser) class(i, end int, scope string, named int) int {
	f := found{kind: Class, at: i, from: i, scope: scope}
	k := i + 1
	if p.isWord(k) && !p.is(k, "extends") && !p.is(k, "implements") {
		f.name, f.at = p.text(k), k
		k++
	} else if named >= 0 {
		f.name, f.at, f.from = unquote(p.text(named)), named, named
	}
	for k < end && p.mark(k) != '{' {
		switch p.mark(k) {
		case '<':
			k = p.skipAngles(k, end)
		case '(', '[':
			k = p.skip(k, end)
		case ';', '}', '=':
			return i + 1
		default:
			k++
		}
	}
	if k >= end {
		return i + 1
	}
	for p.is(f.from-1, "abstract") || p.is(f.from-1, "export") || p.is(f.from-1, "default") || p.is(f.from-1, "declare") {
		f.from--
	}
	f.to, f.end = k, p.skip(k, end)-1
	p.add(f)
	p.members(k+1, f.end, join(scope, f.name))
	return f.end + 1
}

// imports reads an import statement or an import(…) expression.
func (p *scriptParser) imports(i, end int) int {
	for k := i + 1; k < min(end, i+400); k++ {
		if p.toks[k].kind == text {
			p.addImport(unquote(p.text(k)), i)
			return k + 1
		}
		if p.mark(k) == ';' || p.mark(k) == '=' {
			return k
		}
	}
	return i + 1
}

// reexport reads export … from "x".
func (p *scriptParser) reexport(i, end int) {
	k := i + 1
	switch p.mark(k) {
	case '{':
		k = p.skip(k, end)
	case '*':
		k++
		if p.is(k, "as") {
			k += 2
		}
	default:
		return
	}
	if p.is(k, "from") && k+1 < end && p.toks[k+1].kind == text {
		p.addImport(unquote(p.text(k+1)), i)
	}
}

func unquote(s string) string {
	if len(s) >= 2 && strings.ContainsRune("\"'`", rune(s[0])) {
		return s[1 : len(s)-1]
	}
	return s
}
