package scan

import "strings"

// cStatement is one declaration of C or C++ while it is read: what kind of
// thing it is shows only at its end.
type cStatement struct {
	p       *cParser
	from    int
	end     int
	scope   string
	class   string
	typedef bool
	name    int // token of the function's name, or -1
	params  int // its opening parenthesis
	behind  int // behind its closing parenthesis
	valued  bool
}

// paren looks at a parenthesis: behind a name it may hold the parameters of a
// function. The last such name wins, because macros come first.
func (s *cStatement) paren(i int) int {
	p := s.p
	behind := p.skip(i, s.end)
	name := i - 1
	for name > s.from && p.mark(name) != 0 && !s.isWordOrTilde(name) && s.isOperator(name) {
		name--
	}
	switch {
	case s.valued || name < s.from:
		return behind
	case p.is(name, "operator"):
		if p.mark(i-1) == 0 && p.mark(behind) == '(' && name == i-1 {
			return s.accept(name, behind, p.skip(behind, s.end)) // operator()
		}
		return s.accept(name, i, behind)
	case !p.isWord(name) || notAFunction(p.parser, name):
		return behind
	case s.name >= 0 && (s.behind == name || !s.macroLike()):
		// A second name behind complete parameters is an attribute: f(int) NAME(x).
		if !s.looksTyped(s.behind, name) {
			return behind
		}
	}
	return s.accept(name, i, behind)
}

func (s *cStatement) accept(name, params, behind int) int {
	s.name, s.params, s.behind = name, params, behind
	return behind
}

// macroLike is true where the name found so far stands first in its statement:
// MACRO(x) static int f(int).
func (s *cStatement) macroLike() bool { return s.name == s.from }

// looksTyped tells whether tokens between parameters and the next name are a
// type, so that what came before was a macro: EXPORT(int) static char *f(void).
func (s *cStatement) looksTyped(from, name int) bool {
	if s.macroLike() {
		return true
	}
	return from < name && s.isUpper(s.name) && !s.isUpper(name)
}

// isUpper tells a name in capitals, which by custom is a macro.
func (s *cStatement) isUpper(i int) bool {
	name := s.p.text(i)
	return name == strings.ToUpper(name)
}

func (s *cStatement) isWordOrTilde(i int) bool { return s.p.isWord(i) }

// isOperator tells whether the punctuation at i belongs to an operator's name.
func (s *cStatement) isOperator(i int) bool {
	for k := i; k >= s.from && k > i-4; k-- {
		if s.p.is(k, "operator") {
			return true
		}
		if s.p.mark(k) == 0 {
			return false
		}
	}
	return false
}

func notAFunction(p *parser, i int) bool {
	switch p.text(i) {
	case "if", "for", "while", "switch", "return", "sizeof", "catch", "do", "else", "case",
		"__attribute__", "__attribute", "__declspec", "alignas", "_Alignas", "alignof", "decltype", "typeof", "__typeof__",
		"noexcept", "throw", "static_assert", "_Static_assert", "__asm__", "asm", "__asm", "defined", "explicit", "requires",
		"int", "char", "void", "long", "short", "unsigned", "signed", "double", "float", "bool", "const", "volatile", "static", "__extension__":
		return true
	}
	return false
}

// finish ends a statement at a semicolon: a typedef, or a function's prototype.
func (s *cStatement) finish(i int) {
	p := s.p
	switch {
	case s.typedef:
		s.typedefNames(i)
	case s.name > s.from && !s.valued && s.behind <= i && s.plausibleReturn():
		p.add(found{Prototype, s.fullName(), s.name, s.from, i, i, s.ownScope()})
	}
}

// maxOldParams bounds how far the body of an old-style function is looked for.
const maxOldParams = 80

// oldStyleBody finds the brace of a function in the style of the first C, where
// the parameters' types stand between parentheses and body: f(a) int a; {
func (s *cStatement) oldStyleBody() int {
	p := s.p
	if s.name < 0 || s.valued || !p.isWord(s.behind) {
		return 0
	}
	for i := s.behind; i < min(s.end, s.behind+maxOldParams); i++ {
		switch c := p.mark(i); c {
		case '{':
			if p.mark(i-1) == ';' {
				return i
			}
			return 0
		case '(', '=', '}':
			return 0
		}
	}
	return 0
}

// plausibleReturn keeps calls of macros with a semicolon from being prototypes.
func (s *cStatement) plausibleReturn() bool {
	return (s.p.isWord(s.from) || s.p.mark(s.from) == '~') && !s.p.is(s.from, "return") && !s.p.is(s.from, "goto")
}

// typedefNames adds each name that a typedef introduces.
func (s *cStatement) typedefNames(semicolon int) {
	p := s.p
	for i := s.from; i <= semicolon; {
		switch c := p.mark(i); {
		case c == '(' && p.mark(p.skip(i, semicolon)) == '(' && (p.mark(i+1) == '*' || p.mark(i+2) == '*' || p.mark(i+2) == ')'):
			k := i + 1
			for k < semicolon && p.mark(k) != ')' && p.mark(k) != '(' && p.mark(k) != '[' {
				k++
			}
			if p.isWord(k - 1) {
				s.addTypedef(k-1, semicolon)
				return
			}
			i = p.skip(i, semicolon)
		case c == '{' || c == '(':
			i = p.skip(i, semicolon+1)
		case c == '<':
			i = p.skipAngles(i, semicolon)
		case (c == ';' || c == ',' || c == '[') && p.isWord(i-1):
			s.addTypedef(i-1, semicolon)
			if c == '[' {
				i = p.skip(i, semicolon)
				continue
			}
			i++
		case (c == ';' || c == ',') && p.mark(i-1) == ')' && s.name >= 0 && s.behind == i:
			s.addTypedef(s.name, semicolon) // typedef int f(int);
			i++
		default:
			i++
		}
	}
}

func (s *cStatement) addTypedef(name, semicolon int) {
	s.p.add(found{Type, s.p.text(name), name, s.from, min(semicolon, s.from+30), semicolon, s.scope})
}

// brace decides what an opening brace begins: a function's body or nothing known.
func (s *cStatement) brace(i int) int {
	p := s.p
	behind := p.skip(i, s.end)
	if s.name < 0 || s.valued || !s.isBody(i) {
		return s.restOfStatement(behind)
	}
	kind := Function
	if s.ownScope() != "" && (s.class != "" || strings.Contains(s.qualifier(), "::")) {
		kind = Method
	}
	p.add(found{kind, s.fullName(), s.name, s.from, i, behind - 1, s.ownScope()})
	return behind
}

// isBody tells a function's body from other braces. Without a return type it is
// old C or a macro that makes a function; then its parameters end at the brace.
func (s *cStatement) isBody(i int) bool {
	if s.from == s.name && s.class == "" && s.qualifier() == "" {
		return s.p.mark(i-1) == ')'
	}
	return true
}

// initializers passes over what a constructor initializes: name(…) or name{…},
// with commas in between. It returns the index of the body's brace, or i+1 where
// the colon meant something else.
func (s *cStatement) initializers(i int) int {
	p := s.p
	for k := i + 1; k < s.end; {
		for k < s.end && (p.isWord(k) || p.mark(k) == ':' || p.mark(k) == '<') {
			if p.mark(k) == '<' {
				k = p.skipAngles(k, s.end)
				continue
			}
			k++
		}
		if c := p.mark(k); c != '(' && c != '{' {
			break
		}
		k = p.skip(k, s.end)
		for p.mark(k) == '.' { // a pack: base(args)...
			k++
		}
		switch p.mark(k) {
		case '{':
			return k
		case ',':
			k++
		default:
			return i + 1
		}
	}
	return i + 1
}

// restOfStatement goes on behind a brace that is no body: up to the semicolon
// where one follows soon, else right behind the brace.
func (s *cStatement) restOfStatement(i int) int {
	if s.p.mark(i) == ';' {
		return i + 1
	}
	return i
}

// initializer passes over a value up to the semicolon or comma.
func (s *cStatement) initializer(i int) int {
	p := s.p
	if s.name >= 0 && (p.is(i+1, "default") || p.is(i+1, "delete") || p.toks[min(i+1, len(p.toks)-1)].kind == number) {
		return i + 2 // = default, = delete, = 0 keep it a function
	}
	s.valued = true
	for i < s.end && p.mark(i) != ';' {
		switch p.mark(i) {
		case '(', '[', '{':
			i = p.skip(i, s.end)
		case '}':
			return i
		default:
			i++
		}
	}
	return i
}
