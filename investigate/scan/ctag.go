package scan

import "strings"

// qualifier is what stands before the function's name: "A::B::" or "".
func (s *cStatement) qualifier() string {
	p := s.p
	i := s.name
	if p.mark(i-1) == '~' {
		i--
	}
	var parts []string
	for i-3 >= s.from && p.mark(i-1) == ':' && p.mark(i-2) == ':' {
		k := i - 3
		if p.mark(k) == '>' {
			for k > s.from && p.mark(k) != '<' {
				k--
			}
			k--
		}
		if !p.isWord(k) {
			break
		}
		parts = append([]string{p.text(k)}, parts...)
		i = k
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "::") + "::"
}

// ownScope is the scope of the function: around it, and what qualifies its name.
func (s *cStatement) ownScope() string {
	scope := s.scope
	for part := range strings.SplitSeq(s.qualifier(), "::") {
		if part != "" {
			scope = join(scope, part)
		}
	}
	return scope
}

// fullName is the function's own name, with ~ and operator signs.
func (s *cStatement) fullName() string {
	p := s.p
	if p.is(s.name, "operator") {
		name := "operator "
		for i := s.name + 1; i < s.params; i++ {
			name += p.text(i)
		}
		return name
	}
	if p.mark(s.name-1) == '~' {
		return "~" + p.text(s.name)
	}
	return p.text(s.name)
}

// tag reads struct, class, union or enum at i. With a body it is a declaration;
// without, it is only part of a type's name.
func (s *cStatement) tag(i int) int {
	p := s.p
	kind := tagKind(p.parser, i)
	k := i + 1
	if kind == Enum && (p.is(k, "class") || p.is(k, "struct")) {
		k++
	}
	name := -1
	for k < s.end {
		switch c := p.mark(k); {
		case p.isWord(k) && p.mark(k+1) == '(' && name >= 0 && !s.isUpper(k):
			return i + 1 // a function that returns struct name
		case p.isWord(k) && p.mark(k+1) == '(':
			k = p.skip(k+1, s.end) // an attribute or a macro
			continue
		case c == '[' && p.mark(k+1) == '[':
			k = p.skip(k, s.end)
			continue
		case p.isWord(k) && p.is(k, "final"):
		case p.isWord(k):
			name = k
		case c == ':' && p.mark(k+1) == ':':
			k++
		case c == '<':
			k = p.skipAngles(k, s.end)
			continue
		default:
			return s.tagBody(i, k, name, kind)
		}
		k++
	}
	return k
}

func (s *cStatement) tagBody(i, k, name int, kind Kind) int {
	p := s.p
	if p.mark(k) == ':' && p.mark(k+1) != ':' {
		for k < s.end && p.mark(k) != '{' && p.mark(k) != ';' && p.mark(k) != ')' {
			k++
		}
	}
	if p.mark(k) != '{' {
		return i + 1
	}
	behind := p.skip(k, s.end)
	title := ""
	if name > i {
		title = p.text(name)
		p.add(found{kind, title, name, s.from, k, behind - 1, s.scope})
	}
	if kind != Enum {
		inner := s.scope
		if title != "" {
			inner = join(s.scope, title)
		}
		p.statements(k+1, behind-1, inner, title)
	}
	// Declarators may follow the body, so the statement goes on, but a name in
	// front of the body is no function.
	s.name = -1
	return behind
}

func (s *cStatement) namespace(i int) int {
	p := s.p
	k := i + 1
	var parts []string
	for k < s.end && p.mark(k) != '{' && p.mark(k) != ';' && p.mark(k) != '=' {
		if p.isWord(k) && p.mark(k+1) == '(' {
			k = p.skip(k+1, s.end)
			continue
		}
		if p.isWord(k) && !p.is(k, "inline") {
			parts = append(parts, p.text(k))
		}
		k++
	}
	if p.mark(k) != '{' {
		for k < s.end && p.mark(k) != ';' {
			k++
		}
		return k + 1
	}
	behind := p.skip(k, s.end)
	scope := s.scope
	for _, part := range parts {
		p.add(found{Module, part, i, i, k, behind - 1, scope})
		scope = join(scope, part)
	}
	p.statements(k+1, behind-1, scope, "")
	return behind
}

// using reads `using Name = type;`.
func (s *cStatement) using(i int) int {
	p := s.p
	stop := i
	for stop < s.end && p.mark(stop) != ';' {
		if p.mark(stop) == '{' {
			stop = p.skip(stop, s.end)
			continue
		}
		stop++
	}
	if p.isWord(i+1) && p.mark(i+2) == '=' {
		p.add(found{Type, p.text(i + 1), i + 1, i, stop, stop, s.scope})
	}
	return stop + 1
}
