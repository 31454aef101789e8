package scan

// parser walks the tokens of a brace language. Each language's recogniser adds
// its own methods; what they share is here.
type parser struct {
	src   []byte
	toks  []token
	pair  []int32 // for an opening bracket the index of its closing one, or -1
	facts Facts
	depth int // nesting of the recogniser, bounded by maxNesting
}

// maxNesting ends the descent into code that nests deeper than code does.
const maxNesting = 200

func newParser(src []byte, toks []token) *parser {
	p := &parser{src: src, toks: toks, pair: make([]int32, len(toks))}
	var open []int32
	for i := range toks {
		p.pair[i] = -1
		if toks[i].kind != mark {
			continue
		}
		switch c := src[toks[i].from]; c {
		case '(', '[', '{':
			open = append(open, int32(i))
		case ')', ']', '}':
			// A closing bracket of another kind than the open one means that some
			// were lost; those in between are left without partner.
			for n := len(open) - 1; n >= 0; n-- {
				if o := open[n]; closes(src[toks[o].from], c) {
					p.pair[o] = int32(i)
					open = open[:n]
					break
				}
				if c != '}' {
					break // a stray ) or ] must not close a brace
				}
			}
		}
	}
	return p
}

func closes(open, shut byte) bool {
	return open == '(' && shut == ')' || open == '[' && shut == ']' || open == '{' && shut == '}'
}

// is tells whether token i has the given text.
func (p *parser) is(i int, s string) bool {
	if i < 0 || i >= len(p.toks) {
		return false
	}
	t := &p.toks[i]
	return int(t.to-t.from) == len(s) && string(p.src[t.from:t.to]) == s
}

// mark returns the punctuation at i, or 0.
func (p *parser) mark(i int) byte {
	if i < 0 || i >= len(p.toks) || p.toks[i].kind != mark {
		return 0
	}
	return p.src[p.toks[i].from]
}

func (p *parser) isWord(i int) bool {
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == word
}

// text is the text of token i; it allocates, so it is for names only.
func (p *parser) text(i int) string {
	if i < 0 || i >= len(p.toks) {
		return ""
	}
	return string(p.src[p.toks[i].from:p.toks[i].to])
}

func (p *parser) line(i int) int {
	if len(p.toks) == 0 {
		return 1
	}
	return int(p.toks[min(max(i, 0), len(p.toks)-1)].line)
}

// skip returns the index behind the bracket at i, or the end of the range where
// the bracket has no partner.
func (p *parser) skip(i, end int) int {
	if p.pair[i] < 0 || int(p.pair[i]) >= end {
		return end
	}
	return int(p.pair[i]) + 1
}

// skipAngles returns the index behind the type parameters that begin at i with
// "<". Where they do not end it returns i+1: then it was a comparison.
func (p *parser) skipAngles(i, end int) int {
	depth := 0
	for k := i; k < end; {
		switch p.mark(k) {
		case '<':
			depth++
		case '>':
			if p.mark(k-1) != '=' && p.mark(k-1) != '-' { // => and -> are arrows
				depth--
			}
			if depth == 0 {
				return k + 1
			}
		case '(', '[', '{':
			k = p.skip(k, end)
			continue
		case ';', ')', '}':
			return i + 1
		}
		k++
	}
	return i + 1
}

// found is a declaration as the recogniser sees it: token indexes.
type found struct {
	kind  Kind
	name  string
	at    int // the name's token, which gives the line
	from  int // first token of the signature
	to    int // behind its last token
	end   int // last token of the body
	scope string
}

func (p *parser) add(f found) {
	if f.name == "" || f.from >= len(p.toks) {
		return
	}
	to := min(max(f.to, f.from+1), len(p.toks))
	p.facts.Decls = append(p.facts.Decls, Decl{
		Name: f.name, Kind: f.kind, Line: p.line(f.at), End: max(p.line(f.end), p.line(f.at)),
		Signature: squeeze(p.src[p.toks[f.from].from:p.toks[to-1].to]), Scope: f.scope,
	})
}

// lineEnd is the first token behind i, at most end, that stands on another line
// than i.
func (p *parser) lineEnd(i, end int) int {
	k := i
	for k < end && k < len(p.toks) && p.toks[k].line == p.toks[i].line {
		k++
	}
	return k
}

func (p *parser) addImport(path string, i int) {
	if path != "" {
		p.facts.Imports = append(p.facts.Imports, Import{Path: path, Line: p.line(i)})
	}
}

// enter guards a descent; it is false where the code nests too deep.
func (p *parser) enter() bool {
	p.depth++
	return p.depth < maxNesting
}

func (p *parser) leave() { p.depth-- }

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}
