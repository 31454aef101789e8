package investigate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// TermKind tells how a question names something.
type TermKind string

// The kinds of terms, from the most to the least telling.
const (
	TermQuoted     TermKind = "quoted"
	TermFile       TermKind = "file"
	TermIdentifier TermKind = "identifier"
	TermPhrase     TermKind = "phrase" // neighbouring words that may be one name
	TermWord       TermKind = "word"
)

// Term is one thing that a question is about.
type Term struct {
	Text   string   `json:"text"`
	Kind   TermKind `json:"kind"`
	Weight int      `json:"weight"`
	Also   []string `json:"also,omitempty"` // other spellings: stems, translations; one that is cut off ends in a hyphen
}

// Question is a question, understood as far as that needs no model.
type Question struct {
	Text     string `json:"text"`
	Language string `json:"language"` // "en" or "ja": the language of the report
	Terms    []Term `json:"terms,omitempty"`
	Cut      bool   `json:"cut,omitempty"`  // it was too long to be read whole
	Work     bool   `json:"work,omitempty"` // it asks for something to be made or done
	Chat     bool   `json:"chat,omitempty"` // it names nothing, not even the code base as a whole
}

// Overview is true for a question that names nothing: the answer is a survey.
func (q Question) Overview() bool { return len(q.Terms) == 0 }

// locale is the language for the words of an analysis, "" for English.
func (q Question) locale() string {
	if q.Language == japanese {
		return japanese
	}
	return ""
}

const (
	maxQuestion = 16 << 10
	maxTerms    = 6
)

var (
	quotedText = regexp.MustCompile("\"([^\"\n]{2,80})\"|`([^`\n]{2,80})`|「([^」\n]{1,80})」|『([^』\n]{1,80})』|(?:^|[\\s(])'([^'\n]{2,80})'")
	// pathName is a folder's path; a single slash between words may mean "or".
	pathName  = regexp.MustCompile(`[\w.-]+/[\w.-]+(?:/[\w.-]+)*`)
	fileName  = regexp.MustCompile(`[\w./-]*\w\.(?:go|py|pyi|tsx?|jsx?|mjs|cjs|java|rs|c|h|cc|cpp|hpp|md|ya?ml|json|toml|mod|sh|sql|html|css|txt)\b`)
	asciiName = regexp.MustCompile(`[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*(?:\(\))?`)
	oneName   = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)
)

// ParseQuestion finds the terms of a question in English or Japanese. Quoted
// strings, file names and identifiers weigh most; stop words weigh nothing, nor
// do mentions of the named agents.
func ParseQuestion(text string, agents ...string) Question {
	text = strings.ToValidUTF8(text, " ")
	q := Question{Text: strings.TrimSpace(text), Language: "en"}
	if len(text) > maxQuestion {
		q.Cut = true
		text = clip(text, maxQuestion)
		q.Text = clip(strings.TrimSpace(text), 400)
	}
	if strings.ContainsFunc(text, isKana) || strings.ContainsFunc(text, isHan) {
		q.Language = japanese
	}
	p := termParser{rest: withoutAgents(text, agents)}
	p.quoted()
	p.work()
	p.files()
	p.names()
	p.japanese()
	q.Terms, q.Work = p.best(), p.asksWork
	if isGreeting(q.Terms) {
		q.Terms = nil
	}
	q.Chat = len(q.Terms) == 0 && !q.Work && !speaksOfCode(text)
	return q
}

// termParser collects terms; what it has understood it blanks out of rest.
type termParser struct {
	rest  string
	terms []Term
	words []string // content words in order, "" between sentences

	asksWork bool
}

func (p *termParser) add(t Term) {
	for i := range p.terms {
		if strings.EqualFold(p.terms[i].Text, t.Text) {
			p.terms[i].Weight = max(p.terms[i].Weight, t.Weight)
			return
		}
	}
	p.terms = append(p.terms, t)
}

func (p *termParser) quoted() {
	p.rest = quotedText.ReplaceAllStringFunc(p.rest, func(match string) string {
		for _, group := range quotedText.FindStringSubmatch(match)[1:] {
			if group = strings.TrimSpace(group); group == "" {
				continue
			}
			kind := TermQuoted
			if oneName.MatchString(group) {
				kind = TermIdentifier
			}
			p.add(Term{Text: group, Kind: kind, Weight: 10})
		}
		return " . "
	})
}

func (p *termParser) files() {
	p.rest = fileName.ReplaceAllStringFunc(p.rest, func(match string) string {
		p.add(Term{Text: strings.Trim(strings.TrimPrefix(match, "./"), "/"), Kind: TermFile, Weight: 9})
		return " . "
	})
	p.rest = pathName.ReplaceAllStringFunc(p.rest, func(match string) string {
		p.add(Term{Text: strings.Trim(match, "./"), Kind: TermFile, Weight: 6})
		return " . "
	})
}

// names takes identifiers and English words, and joins neighbours to phrases.
func (p *termParser) names() {
	last := 0
	for _, at := range asciiName.FindAllStringIndex(p.rest, -1) {
		if strings.ContainsFunc(p.rest[last:at[0]], func(r rune) bool { return r != ' ' && r != '-' }) {
			p.words = append(p.words, "")
		}
		last = at[1]
		p.name(p.rest[at[0]:at[1]])
	}
	for i := 1; i < len(p.words); i++ {
		a, b := p.words[i-1], p.words[i]
		if a != "" && b != "" {
			p.add(Term{Text: a + " " + b, Kind: TermPhrase, Weight: 7})
		}
	}
}

func (p *termParser) name(name string) {
	bare := strings.TrimSuffix(name, "()")
	switch {
	case bare != name || isIdentifier(bare):
		p.add(Term{Text: strings.ReplaceAll(strings.ReplaceAll(bare, "::", "."), "->", "."), Kind: TermIdentifier, Weight: 9})
		p.words = append(p.words, "")
	case isStopWord(strings.ToLower(bare)) || len(bare) < 3:
		p.words = append(p.words, "")
	default:
		// The spelling stays: a capital may be that of a name.
		t := Term{Text: bare, Kind: TermWord, Weight: 4}
		if word := strings.ToLower(bare); stemOf(word) != word {
			t.Also = []string{stemOf(word)}
		}
		p.add(t)
		p.words = append(p.words, strings.ToLower(bare))
	}
}

// isIdentifier tells a name of code from a word of prose.
func isIdentifier(s string) bool {
	if strings.ContainsAny(s, "_$.:>") {
		return true
	}
	lower, upper := 0, 0
	for _, r := range s[1:] {
		switch {
		case unicode.IsDigit(r):
			return true
		case unicode.IsUpper(r):
			upper++
		default:
			lower++
		}
	}
	return upper > 0 && lower > 0
}

// best keeps the terms that weigh most. Where a phrase stays, its words stay too:
// the code may hold them apart.
func (p *termParser) best() []Term {
	slices.SortStableFunc(p.terms, func(a, b Term) int { return cmp.Compare(b.Weight, a.Weight) })
	return slices.Clone(p.terms[:min(len(p.terms), maxTerms)])
}

// words are what the term is looked for by, as parts of names; none where the
// term must be found as it is written.
func (t Term) words() []string {
	switch {
	case t.Kind == TermPhrase:
		return []string{t.Text}
	case t.Kind != TermWord:
		return nil
	case isASCII(t.Text):
		return []string{strings.ToLower(t.Text)} // its endings are allowed for
	}
	return append([]string{t.Text}, t.Also...)
}
