package protocol

import (
	"path"
	"strings"
	"unicode"
)

// shellPart is one simple command of a shell text.
type shellPart struct {
	words   []string // without their quotes
	outputs []string // files that redirections write to
	inputs  int      // redirections that read
	piped   bool     // it reads what the command before it prints
}

// program is the command's name without its folder, and what follows it. Words
// that only start another command, such as sudo, are part of it.
func (p shellPart) program() (name string, args []string) {
	if len(p.words) == 0 {
		return "", nil
	}
	return path.Base(p.words[0]), p.words[1:]
}

// readShell takes a shell text apart. plain says that what will run is what
// stands there: nothing is substituted, grouped, continued or left open. Where
// it is not plain the parts are a guess, good enough to warn by, never to allow.
func readShell(text string) (parts []shellPart, plain bool) {
	r := newShellReader(text)
	return r.parts, r.plain
}

type shellReader struct {
	rest   []rune
	parts  []shellPart
	part   shellPart
	word   strings.Builder
	inWord bool
	target bool // the next word names a file that is written to
	plain  bool
	joined bool // a sign stands there that ends one command and may begin another
}

func newShellReader(text string) *shellReader {
	r := &shellReader{rest: []rune(text), plain: true}
	for len(r.rest) > 0 {
		r.step()
	}
	r.endPart(false)
	return r
}

func (r *shellReader) take() rune {
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

func (r *shellReader) next(c rune) bool { return len(r.rest) > 0 && r.rest[0] == c }

func (r *shellReader) put(c rune) {
	r.word.WriteRune(c)
	r.inWord = true
}

func (r *shellReader) step() {
	switch c := r.take(); {
	case c == ' ' || c == '\t':
		r.endWord()
	case c == '\n' || c == ';':
		r.joined = true
		r.endPart(false)
	case c == '&' && r.next('>'):
		// Both outputs go to a file; the ">" says so next.
	case c == '&' || c == '|':
		r.separate(c)
	case c == '\'':
		r.quoted('\'')
	case c == '"':
		r.quoted('"')
	case c == '\\':
		r.escaped()
	case c == '>' || c == '<':
		r.redirect(c)
	case strings.ContainsRune("`(){}", c) || c == '$' && len(r.rest) > 0 && strings.ContainsRune("({'\"", r.rest[0]):
		r.plain = false
		r.endPart(false) // what stands inside is a command too
	case unicode.IsControl(c):
		r.plain = false
	default:
		r.put(c)
	}
}

func (r *shellReader) separate(c rune) {
	r.joined = true
	double := r.next(c)
	if double || c == '|' && r.next('&') {
		r.take()
	}
	r.endPart(c == '|' && !double)
}

func (r *shellReader) escaped() {
	if len(r.rest) == 0 || r.rest[0] == '\n' {
		r.plain = false
		return
	}
	r.put(r.take())
}

// quoted reads to the closing quote. Inside double quotes commands are
// substituted too.
func (r *shellReader) quoted(quote rune) {
	r.inWord = true
	for len(r.rest) > 0 {
		c := r.take()
		switch {
		case c == quote:
			return
		case quote == '"' && c == '\\' && len(r.rest) > 0:
			r.put(r.take())
		case quote == '"' && (c == '`' || c == '$' && len(r.rest) > 0 && strings.ContainsRune("({", r.rest[0])):
			r.plain = false
			r.put(c)
		default:
			r.put(c)
		}
	}
	r.plain = false // the quote is left open
}

func (r *shellReader) redirect(c rune) {
	// A number right before it names what is redirected.
	if r.inWord && strings.Trim(r.word.String(), "0123456789") == "" {
		r.word.Reset()
		r.inWord = false
	}
	r.endWord()
	if c == '<' {
		if r.next('<') || r.next('(') || r.next('>') {
			r.plain = false
		}
		r.part.inputs++
		return
	}
	for r.next('>') || r.next('|') {
		r.take()
	}
	if r.next('(') {
		r.plain = false
	}
	if r.next('&') {
		r.take() // another output, or both of them
	}
	r.target = true
}

func (r *shellReader) endWord() {
	if !r.inWord {
		return
	}
	word := r.word.String()
	r.word.Reset()
	r.inWord = false
	if r.target {
		r.target = false
		if strings.Trim(word, "0123456789-") != "" {
			r.part.outputs = append(r.part.outputs, word)
		}
		return
	}
	r.part.words = append(r.part.words, word)
}

func (r *shellReader) endPart(pipes bool) {
	r.endWord()
	if len(r.part.words) > 0 || len(r.part.outputs) > 0 {
		r.parts = append(r.parts, r.part)
	}
	r.part = shellPart{piped: pipes}
	r.target = false
}

// simpleShell is the words of a text that is one plain command, without
// redirections and without variables set for it.
func simpleShell(text string) ([]string, bool) {
	r := newShellReader(strings.TrimSpace(text))
	if !r.plain || r.joined || len(r.parts) != 1 {
		return nil, false
	}
	p := r.parts[0]
	if len(p.words) == 0 || len(p.outputs) > 0 || p.inputs > 0 || assigns(p.words[0]) {
		return nil, false
	}
	return p.words, true
}

// assigns says that a word sets a variable for the command behind it.
func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// starters run the command that follows them.
func starters() []string {
	return []string{"sudo", "doas", "env", "nohup", "time", "nice", "command", "exec", "builtin", "xargs", "timeout", "stdbuf", "setsid"}
}
