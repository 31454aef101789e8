package scan

// Word is an identifier or keyword in code, outside strings and comments.
type Word struct {
	Text string
	Line int
	Call bool // an opening parenthesis follows
}

// Words lists the words of a file in order.
func Words(lang Language, src []byte) []Word {
	toks := tokens(lang, src)
	words := make([]Word, 0, len(toks)/2)
	for i, t := range toks {
		if t.kind != word {
			continue
		}
		call := i+1 < len(toks) && toks[i+1].kind == mark && src[toks[i+1].from] == '('
		words = append(words, Word{Text: string(src[t.from:t.to]), Line: int(t.line), Call: call})
	}
	return words
}

func tokens(lang Language, src []byte) []token {
	l := lexer{src: src}
	switch lang {
	case Go:
		l.dialect = dialect{rawTicks: true}
	case Python:
		l.dialect = dialect{hashNotes: true, textBlocks: true}
	case TypeScript, JavaScript:
		l.dialect = dialect{regexps: true, templates: true}
	case Java:
		l.dialect = dialect{textBlocks: true}
	case Rust:
		l.dialect = dialect{lifetimes: true, nestedNote: true}
	case C, CPP:
		l.dialect = dialect{directives: true, rawStrings: true}
	}
	return l.run()
}

// Complexity counts the independent paths through the lines from..to: one, and
// one more for each branch (McCabe's number, keywords and short circuits alike).
func Complexity(lang Language, src []byte, from, to int) int {
	toks := tokens(lang, src)
	paths := 1
	for i, t := range toks {
		if int(t.line) < from || int(t.line) > to {
			continue
		}
		switch t.kind {
		case word:
			if isBranch(lang, string(src[t.from:t.to])) {
				paths++
			}
		case mark:
			c := src[t.from]
			if (c == '&' || c == '|') && i > 0 && toks[i-1].to == t.from && src[toks[i-1].from] == c {
				paths++
			}
		}
	}
	return paths
}

func isBranch(lang Language, w string) bool {
	switch w {
	case "if", "for", "while", "case", "catch":
		return true
	case "elif", "except", "and", "or":
		return lang == Python
	case "match", "loop":
		return lang == Rust
	}
	return false
}

// IsKeyword tells the words that look like calls and are none.
func IsKeyword(w string) bool {
	switch w {
	case "if", "for", "while", "switch", "catch", "return", "sizeof", "match", "elif", "with", "assert", "and", "or", "not", "in",
		"func", "function", "fn", "def", "class", "new", "await", "yield", "lambda", "super", "self", "this", "typeof", "except", "del", "print",
		"append", "len", "make", "panic", "cap", "copy", "delete", "string", "int", "int32", "int64", "uint32", "uint64", "float64", "byte", "any", "error", "var", "type", "const", "interface", "struct", "range", "select", "go", "defer", "else", "try", "import", "throw", "Some", "Ok", "Err", "None", "defined":
		return true
	}
	return false
}
