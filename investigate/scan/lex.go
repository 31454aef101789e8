package scan

import "unicode/utf8"

// tokenKind tells the tokens apart that matter for declarations.
type tokenKind uint8

const (
	word   tokenKind = iota // identifiers and keywords
	number                  // numbers
	text                    // strings and characters, whole
	mark                    // one byte of punctuation
)

// token is a piece of source: its bytes are src[from:to].
type token struct {
	kind     tokenKind
	from, to int32
	line     int32
}

// dialect is what the tokenizer must know about a language.
type dialect struct {
	regexps    bool // JavaScript: /…/ can be a literal
	templates  bool // JavaScript: `…${…}…`
	nestedNote bool // Rust: block comments nest
	lifetimes  bool // Rust: 'a is not a character; r#"…"# is a string
	directives bool // C: a line that begins with # is no code
	rawStrings bool // C++: R"x(…)x"
	textBlocks bool // Java and Python: """…"""
	hashNotes  bool // Python: # begins a comment, and '''…''' is a string too
	rawTicks   bool // Go: `…` is a string without escapes
}

// maxTokens bounds the memory for one file; the largest file that is read has
// about a million.
const maxTokens = 2 << 20

// lexer splits a file into tokens without comments.
type lexer struct {
	dialect
	src    []byte
	pos    int
	line   int32
	tokens []token
	// directive is called for each preprocessor line, with its text.
	directive func(text []byte, line int)
	// templateDepth holds the brace depths at which a template goes on.
	templateDepth []int
	depth         int
}

func (l *lexer) run() []token {
	l.line = 1
	l.tokens = make([]token, 0, len(l.src)/5+16)
	if len(l.src) > 2 && l.src[0] == '#' && l.src[1] == '!' && !l.lifetimes {
		l.skipLine()
	}
	lineStart := true
	for l.pos < len(l.src) && len(l.tokens) < maxTokens {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.line++
			l.pos++
			lineStart = true
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
			continue
		case c == '#' && l.directives && lineStart:
			l.readDirective()
			continue
		case c == '/' && l.peek(1) == '/' && !l.hashNotes, c == '#' && l.hashNotes:
			l.skipLine()
			continue
		case c == '/' && l.peek(1) == '*' && !l.hashNotes:
			l.skipBlock()
			continue
		}
		lineStart = false
		l.next(c)
	}
	return l.tokens
}

// next reads one token that begins with c.
func (l *lexer) next(c byte) {
	start, line := l.pos, l.line
	kind := mark
	switch {
	case isWordByte(c) && !(c >= '0' && c <= '9'):
		kind = l.readWord()
	case c >= '0' && c <= '9':
		kind = number
		for l.pos < len(l.src) && (isWordByte(l.src[l.pos]) || l.src[l.pos] == '.') {
			l.pos++
		}
	case c == '"' && l.textBlocks && l.peek(1) == '"' && l.peek(2) == '"':
		kind = text
		l.pos += 3
		l.skipPast(`"""`, true)
	case c == '\'' && l.hashNotes && l.peek(1) == '\'' && l.peek(2) == '\'':
		kind = text
		l.pos += 3
		l.skipPast(`'''`, true)
	case c == '"':
		kind = text
		l.readQuoted('"')
	case c == '`' && l.rawTicks:
		kind = text
		l.pos++
		l.skipPast("`", false)
	case c == '\'':
		kind = l.readApostrophe()
	case c == '`' && l.templates:
		kind = text
		l.pos++
		l.readTemplate()
	case c == '/' && l.regexps && l.regexpFollows():
		kind = text
		l.readRegexp()
	case c == '}' && len(l.templateDepth) > 0 && l.templateDepth[len(l.templateDepth)-1] == l.depth:
		kind = text
		l.templateDepth = l.templateDepth[:len(l.templateDepth)-1]
		l.pos++
		l.readTemplate()
	default:
		l.pos++
		switch c {
		case '{':
			l.depth++
		case '}':
			l.depth--
		}
	}
	l.tokens = append(l.tokens, token{kind, int32(start), int32(l.pos), line})
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

func (l *lexer) skipLine() {
	for l.pos < len(l.src) && l.src[l.pos] != '\n' {
		l.pos++
	}
}

func (l *lexer) skipBlock() {
	depth := 1
	l.pos += 2
	for l.pos < len(l.src) && depth > 0 {
		switch c := l.src[l.pos]; {
		case c == '\n':
			l.line++
		case c == '*' && l.peek(1) == '/':
			depth--
			l.pos++
		case c == '/' && l.peek(1) == '*' && l.nestedNote:
			depth++
			l.pos++
		}
		l.pos++
	}
}

// readDirective takes a preprocessor line with its continuations, and the
// comments that begin on it.
func (l *lexer) readDirective() {
	start, line := l.pos, l.line
	for l.pos < len(l.src) && l.src[l.pos] != '\n' {
		switch {
		case l.src[l.pos] == '\\' && l.peek(1) == '\n', l.src[l.pos] == '\\' && l.peek(1) == '\r' && l.peek(2) == '\n':
			for l.src[l.pos] != '\n' {
				l.pos++
			}
			l.line++
			l.pos++
		case l.src[l.pos] == '/' && l.peek(1) == '*':
			l.skipBlock()
		default:
			l.pos++
		}
	}
	if l.directive != nil {
		l.directive(l.src[start:min(l.pos, len(l.src))], int(line))
	}
}

func (l *lexer) readWord() tokenKind {
	start := l.pos
	for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
		l.pos++
	}
	prefix := l.src[start:l.pos]
	switch {
	case l.rawStrings && l.peek(0) == '"' && prefix[len(prefix)-1] == 'R':
		l.readRawCPP()
		return text
	case l.lifetimes && l.rustRaw(prefix):
		return text
	}
	return word
}

// readRawCPP reads "delimiter(…)delimiter".
func (l *lexer) readRawCPP() {
	l.pos++
	start := l.pos
	for l.pos < len(l.src) && l.src[l.pos] != '(' && l.src[l.pos] != '\n' {
		l.pos++
	}
	l.skipPast(")"+string(l.src[start:l.pos])+`"`, false)
}

// rustRaw reads what follows r, br or cr: #"…"#. r#name is a plain word.
func (l *lexer) rustRaw(prefix []byte) bool {
	if p := string(prefix); p != "r" && p != "br" && p != "cr" {
		return false
	}
	hashes := 0
	for l.peek(hashes) == '#' {
		hashes++
	}
	if l.peek(hashes) != '"' {
		return false
	}
	end := make([]byte, 1, hashes+1)
	end[0] = '"'
	for range hashes {
		end = append(end, '#')
	}
	l.pos += hashes + 1
	l.skipPast(string(end), false)
	return true
}

// skipPast moves behind the next occurrence of end.
func (l *lexer) skipPast(end string, escapes bool) {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\\' && escapes:
			l.pos++
			if l.peek(0) == '\n' {
				l.line++
			}
		case c == '\n':
			l.line++
		case c == end[0] && l.pos+len(end) <= len(l.src) && string(l.src[l.pos:l.pos+len(end)]) == end:
			l.pos += len(end)
			return
		}
		l.pos++
	}
	l.pos = min(l.pos, len(l.src))
}
