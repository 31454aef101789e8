package scan

import (
	"bytes"
	"strings"
)

func pythonFile(src []byte) Facts {
	p := pythonParser{src: src, line: 1}
	for p.pos < len(p.src) {
		p.logicalLine()
	}
	p.close(-1, p.last)
	return p.facts
}

// pythonParser reads logical lines: a line goes on inside brackets, inside
// triple-quoted strings and after a backslash.
type pythonParser struct {
	src   []byte
	pos   int
	line  int
	facts Facts
	open  []pythonScope
	last  int // last line that had code
	// assigned is the names that the module has given values to.
	assigned map[string]bool
}

type pythonScope struct {
	indent int
	decl   int
	name   string
	class  bool
}

func (p *pythonParser) logicalLine() {
	indent := p.indent()
	start, line := p.pos, p.line
	colon := p.skipLogical()
	if p.pos == start && p.pos < len(p.src) {
		p.pos++
		return
	}
	code := bytes.TrimSpace(p.src[start:p.pos])
	if len(code) == 0 || code[0] == '#' {
		return
	}
	p.close(indent, p.last)
	p.last = p.line
	if p.pos > 0 && p.pos <= len(p.src) && p.src[p.pos-1] == '\n' {
		p.last--
	}
	p.statement(code, pythonHead{indent, line, colon - start})
}

// pythonHead is where a logical line stands and where its first colon outside
// brackets is.
type pythonHead struct{ indent, line, colon int }

func (p *pythonParser) statement(code []byte, h pythonHead) {
	first, rest := cutWord(code)
	if first == "async" {
		first, rest = cutWord(rest)
	}
	switch first {
	case "def", "class":
		name, _ := cutWord(rest)
		if name == "" {
			return
		}
		sig := code
		if h.colon > 0 && h.colon < len(code) {
			sig = code[:h.colon]
		}
		p.declare(first, name, string(squeeze(sig)), h)
	case "import":
		for part := range strings.SplitSeq(stripPythonNote(rest), ",") {
			module, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			p.addImport(module, h.line)
		}
	case "from":
		text := strings.TrimSpace(string(rest))
		module, names, ok := strings.Cut(text, " ")
		if ok {
			p.addImport(module, h.line)
			p.relativeNames(module, names, h.line)
		}
	default:
		if h.indent == 0 && first != "" {
			p.assignment(first, code, h)
		}
	}
}

// assignment declares what a module gives a value to, the first time: a
// constant by the custom of writing those in capitals, else a variable.
func (p *pythonParser) assignment(name string, code []byte, h pythonHead) {
	rest := bytes.TrimLeft(code[len(name):], " \t")
	if h.colon > 0 && bytes.HasPrefix(rest, []byte(":")) {
		rest = rest[max(bytes.IndexByte(rest, '='), 0):] // behind the annotation
	}
	if !bytes.HasPrefix(rest, []byte("=")) || bytes.HasPrefix(rest, []byte("==")) || p.assigned[name] {
		return
	}
	if p.assigned == nil {
		p.assigned = map[string]bool{}
	}
	p.assigned[name] = true
	kind := Variable
	if strings.ToUpper(name) == name && strings.ToLower(name) != name {
		kind = Constant
	}
	text, _, _ := bytes.Cut(code, []byte("\n"))
	p.facts.Decls = append(p.facts.Decls, Decl{Name: name, Kind: kind, Line: h.line, End: max(p.last, h.line), Signature: squeeze(text)})
}

// relativeNames adds `from . import name` and `from pkg import name` as pkg.name
// too: the name may be a module.
func (p *pythonParser) relativeNames(module, names string, line int) {
	names = strings.TrimPrefix(strings.TrimSpace(names), "import")
	names = strings.Trim(stripPythonNote([]byte(names)), "() \n")
	for part := range strings.SplitSeq(names, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		if name != "" && name != "*" && !strings.ContainsAny(name, "#\n") {
			p.addImport(strings.TrimSuffix(module, ".")+"."+name, line)
		}
	}
}

func stripPythonNote(b []byte) string {
	if i := bytes.IndexByte(b, '#'); i >= 0 && bytes.IndexByte(b, '\n') < 0 {
		b = b[:i]
	}
	return string(bytes.TrimRight(b, " ;\n\r"))
}

func (p *pythonParser) addImport(path string, line int) {
	if path != "" && len(path) < maxSignature {
		p.facts.Imports = append(p.facts.Imports, Import{Path: path, Line: line})
	}
}

func (p *pythonParser) declare(keyword, name, signature string, h pythonHead) {
	d := Decl{Name: name, Kind: Function, Line: h.line, End: h.line, Signature: signature}
	if keyword == "class" {
		d.Kind = Class
	}
	for _, s := range p.open {
		d.Scope = join(d.Scope, s.name)
	}
	if n := len(p.open); n > 0 && p.open[n-1].class && keyword == "def" {
		d.Kind = Method
	}
	p.facts.Decls = append(p.facts.Decls, d)
	p.open = append(p.open, pythonScope{h.indent, len(p.facts.Decls) - 1, name, keyword == "class"})
}

// close ends the declarations whose body is over when a line begins at indent.
func (p *pythonParser) close(indent, line int) {
	for n := len(p.open); n > 0 && p.open[n-1].indent >= indent; n = len(p.open) {
		p.facts.Decls[p.open[n-1].decl].End = max(line, p.facts.Decls[p.open[n-1].decl].Line)
		p.open = p.open[:n-1]
	}
}

// indent reads the blanks at the start of a line; a tab goes to the next eighth
// column, as in Python.
func (p *pythonParser) indent() int {
	n := 0
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		case '\f', 0xEF, 0xBB, 0xBF:
		default:
			return n
		}
		p.pos++
	}
	return n
}

// skipLogical moves to the start of the next logical line and returns the
// position of the first colon outside brackets.
func (p *pythonParser) skipLogical() (colon int) {
	depth := 0
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case '\n':
			p.line++
			p.pos++
			if depth <= 0 {
				return colon
			}
			continue
		case '#':
			for p.pos < len(p.src) && p.src[p.pos] != '\n' {
				p.pos++
			}
			continue
		case '\\':
			if p.pos+1 < len(p.src) && p.src[p.pos+1] == '\r' {
				p.pos++
			}
			if p.pos+1 < len(p.src) && p.src[p.pos+1] == '\n' {
				p.line++
			}
			p.pos++
		case '"', '\'':
			p.skipString(c)
			continue
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth <= 0 && colon == 0 {
				colon = p.pos
			}
		}
		p.pos++
	}
	p.pos = min(p.pos, len(p.src))
	return colon
}

func (p *pythonParser) skipString(quote byte) {
	raw := p.pos
	triple := p.pos+2 < len(p.src) && p.src[p.pos+1] == quote && p.src[p.pos+2] == quote
	if triple {
		p.pos += 3
	} else {
		p.pos++
	}
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '\\':
			p.pos++
			if p.pos < len(p.src) && p.src[p.pos] == '\n' {
				p.line++
			}
		case c == '\n':
			if !triple && p.pos > raw {
				return // an unfinished string ends with its line
			}
			p.line++
		case c == quote && !triple:
			p.pos++
			return
		case c == quote && p.pos+2 < len(p.src) && p.src[p.pos+1] == quote && p.src[p.pos+2] == quote:
			p.pos += 3
			return
		}
		p.pos++
	}
	p.pos = min(p.pos, len(p.src))
}

// cutWord splits off the identifier at the start of b.
func cutWord(b []byte) (string, []byte) {
	b = bytes.TrimLeft(b, " \t\\\r\n")
	i := 0
	for i < len(b) && b[i] != '$' && isWordByte(b[i]) {
		i++
	}
	return string(b[:i]), b[i:]
}
