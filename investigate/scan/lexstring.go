package scan

import (
	"bytes"
	"unicode/utf8"
)

// readQuoted reads a string up to its closing quote. Outside Rust a string ends
// with its line at the latest, so that one stray quote spoils one line only.
func (l *lexer) readQuoted(quote byte) {
	l.pos++
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
			if l.peek(0) == '\n' {
				l.line++
			}
		case c == quote:
			l.pos++
			return
		case c == '\n':
			if !l.lifetimes {
				return
			}
			l.line++
		}
		l.pos++
	}
	l.pos = min(l.pos, len(l.src))
}

// readApostrophe tells a character from a Rust lifetime and from a C++ digit
// separator (which the number before has not taken).
func (l *lexer) readApostrophe() tokenKind {
	if !l.lifetimes {
		if n := len(l.tokens); l.rawStrings && n > 0 && l.tokens[n-1].kind == number && int(l.tokens[n-1].to) == l.pos {
			l.pos++
			for isWordByte(l.peek(0)) {
				l.pos++
			}
			return number
		}
		l.readQuoted('\'')
		return text
	}
	if l.peek(1) == '\\' {
		l.readQuoted('\'')
		return text
	}
	_, size := utf8.DecodeRune(l.src[min(l.pos+1, len(l.src)):])
	if l.peek(1+size) == '\'' {
		if l.peek(1) == '\n' {
			l.line++
		}
		l.pos += size + 2
		return text
	}
	l.pos++
	for isWordByte(l.peek(0)) {
		l.pos++
	}
	return text
}

// readTemplate reads a template up to its end or to the next ${.
func (l *lexer) readTemplate() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
			if l.peek(0) == '\n' {
				l.line++
			}
		case c == '`':
			l.pos++
			return
		case c == '$' && l.peek(1) == '{':
			l.pos += 2
			l.templateDepth = append(l.templateDepth, l.depth)
			return
		case c == '\n':
			l.line++
		}
		l.pos++
	}
	l.pos = min(l.pos, len(l.src))
}

// regexpFollows decides whether a slash begins a literal: after a value it
// divides, after anything else it does not. A closing parenthesis is taken as a
// value, although `if (x) /re/` exists.
func (l *lexer) regexpFollows() bool {
	n := len(l.tokens)
	if n == 0 {
		return true
	}
	last := l.tokens[n-1]
	switch last.kind {
	case number, text:
		return false
	case word:
		switch string(l.src[last.from:last.to]) {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "instanceof", "yield", "await":
			return true
		}
		return false
	}
	c := l.src[last.from]
	if c == '}' {
		// A block's end or an object's: a literal only where the line says so.
		return !bytes.ContainsAny(l.src[l.pos:min(l.pos+2, len(l.src))], " =") && l.closesOnLine()
	}
	return c != ')' && c != ']' && c != '<' && l.peek(1) != '>'
}

// closesOnLine tells whether another slash follows on the same line.
func (l *lexer) closesOnLine() bool {
	rest := l.src[l.pos+1:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return bytes.IndexByte(rest, '/') >= 0
}

func (l *lexer) readRegexp() {
	l.pos++
	inClass := false
	for l.pos < len(l.src) && l.src[l.pos] != '\n' {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			l.pos++
			for isWordByte(l.peek(0)) {
				l.pos++
			}
			return
		}
		l.pos++
	}
	l.pos = min(l.pos, len(l.src))
}
