package scan

import (
	"bytes"
	"strings"
)

func cFile(src []byte) Facts {
	var heads directives
	l := lexer{src: src, dialect: dialect{directives: true, rawStrings: true}}
	l.directive = func(text []byte, line int) { heads.read(&l, text, line) }
	toks := l.run()
	p := &cParser{newParser(src, toks)}
	p.facts = heads.facts
	p.statements(0, len(p.toks), "", "")
	return p.facts
}

// directives reads the preprocessor's lines: includes, macros, and branches. Of
// a conditional whose first branch leaves a bracket open, the other branches are
// skipped: they open the same one.
type directives struct {
	facts Facts
	open  []int // brace depth at each #if
}

func (d *directives) read(l *lexer, text []byte, line int) {
	body := bytes.TrimLeft(text[1:], " \t")
	name, rest := cutWord(body)
	switch name {
	case "include", "include_next", "import":
		path := strings.TrimSpace(string(rest))
		if end := strings.IndexAny(path[min(1, len(path)):], `">`); end > 0 {
			d.facts.Imports = append(d.facts.Imports, Import{Path: path[1 : end+1], Line: line})
		}
	case "define":
		macro, after := cutWord(rest)
		if macro != "" && len(after) > 0 && after[0] == '(' {
			sig, _, _ := bytes.Cut(text, []byte{')'})
			d.facts.Decls = append(d.facts.Decls, Decl{
				Name: macro, Kind: Macro, Line: line, End: int(l.line), Signature: squeeze(append(bytes.Clone(sig), ')')),
			})
		}
	case "if", "ifdef", "ifndef":
		d.open = append(d.open, l.depth)
		if name == "if" && strings.TrimSpace(string(rest)) == "0" {
			d.skipBranch(l)
		}
	case "else", "elif", "elifdef", "elifndef":
		if n := len(d.open); n > 0 && d.open[n-1] != l.depth {
			d.skipBranch(l)
		}
	case "endif":
		if n := len(d.open); n > 0 {
			d.open = d.open[:n-1]
		}
	}
}

// skipBranch moves to the next #else, #elif or #endif of the same conditional.
func (d *directives) skipBranch(l *lexer) {
	nested := 0
	for l.pos < len(l.src) {
		if l.src[l.pos] == '\n' {
			l.line++
			l.pos++
		}
		end := l.pos
		for end < len(l.src) && l.src[end] != '\n' {
			end++
		}
		text := bytes.TrimLeft(l.src[l.pos:end], " \t")
		if len(text) > 0 && text[0] == '#' {
			name, _ := cutWord(text[1:])
			switch {
			case strings.HasPrefix(name, "if"):
				nested++
			case name == "endif" && nested > 0:
				nested--
			case nested == 0 && (name == "endif" || strings.HasPrefix(name, "el")):
				return // the lexer reads this line next
			}
		}
		l.pos = end
	}
}

type cParser struct{ *parser }

// statements reads a file, a namespace or a class body.
func (p *cParser) statements(i, end int, scope, class string) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	for i < end {
		next := p.statement(i, end, scope, class)
		i = max(next, i+1)
	}
}

// statement reads one declaration and returns the index behind it.
func (p *cParser) statement(start, end int, scope, class string) int {
	s := cStatement{p: p, from: start, end: end, scope: scope, class: class, name: -1}
	for i := start; i < end; {
		switch c := p.mark(i); {
		case c == ';':
			if body := s.oldStyleBody(); body > 0 {
				return s.brace(body)
			}
			s.finish(i)
			return i + 1
		case c == '}':
			return i + 1
		case c == ':' && p.mark(i+1) != ':' && p.mark(i-1) != ':' && isAccess(p.parser, i-1) && i-1 == start:
			return i + 1 // public:
		case c == ':' && s.name >= 0 && !s.valued && p.mark(i+1) != ':' && p.mark(i-1) != ':' && p.mark(i-1) != '?':
			i = s.initializers(i)
		case c == '{':
			return s.brace(i)
		case c == '(':
			i = s.paren(i)
		case c == '[':
			i = p.skip(i, end)
		case c == '=' && !p.is(i-1, "operator") && !s.isOperator(i):
			i = s.initializer(i)
		case p.is(i, "template") && p.mark(i+1) == '<':
			i = p.skipAngles(i+1, end)
		case p.is(i, "namespace"):
			return s.namespace(i)
		case p.is(i, "using") && (i == s.from || p.mark(i-1) == '>'):
			return s.using(i)
		case p.is(i, "extern") && i+2 < end && p.toks[i+1].kind == text && p.mark(i+2) == '{':
			p.statements(i+3, p.skip(i+2, end)-1, scope, class)
			return p.skip(i+2, end)
		case p.is(i, "typedef"):
			s.typedef = true
			i++
		case isTag(p.parser, i):
			i = s.tag(i)
		default:
			i++
		}
	}
	return end
}

func isAccess(p *parser, i int) bool {
	return p.is(i, "public") || p.is(i, "private") || p.is(i, "protected") || p.is(i, "signals") || p.is(i, "slots")
}

func isTag(p *parser, i int) bool {
	return p.is(i, "struct") || p.is(i, "class") || p.is(i, "union") || p.is(i, "enum")
}

func tagKind(p *parser, i int) Kind {
	switch {
	case p.is(i, "class"):
		return Class
	case p.is(i, "union"):
		return Union
	case p.is(i, "enum"):
		return Enum
	}
	return Struct
}
