package investigate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word of a question is looked for as a part of names, never inside a part:
// "policy" is in RetryPolicy, retry_policies and POLICY, "hello" is not in
// shellOf. Simple endings are allowed for on both sides.

// maxWords bounds the words of one search.
const maxWords = 12

// wordGroup begins the names of the groups that hold the word itself; what the
// expression matches around it is the edge.
const wordGroup = "word_"

// wordExpr is the regular expression that finds a word, or several in a row, as
// parts of names. It is the nth of an expression.
func wordExpr(text string, n int) string {
	group := fmt.Sprintf("%s%d", wordGroup, n)
	words := strings.Fields(strings.ToLower(text))
	var lower, title, upper strings.Builder
	for i, w := range words {
		if !isASCII(w) {
			return fmt.Sprintf("(?P<%s>%s)", group, regexp.QuoteMeta(text)) // no letter case, no edges
		}
		stem, endings := inflect(w)
		first, rest := regexp.QuoteMeta(stem[:1]), regexp.QuoteMeta(stem[1:])+endings
		if i == 0 {
			lower.WriteString(first + rest)
			title.WriteString(strings.ToUpper(first) + rest)
		} else {
			next := "[-_ ]?[" + first + strings.ToUpper(first) + "]" + rest
			lower.WriteString(next)
			title.WriteString(next)
			upper.WriteString("[-_ ]?")
		}
		upper.WriteString(strings.ToUpper(first + rest))
	}
	return fmt.Sprintf("(?:^|[^A-Za-z])(?P<%[1]s>%[2]s)(?:[^a-z]|$)|(?P<%[1]s_title>%[3]s)(?:[^a-z]|$)|(?:^|[^A-Z])(?P<%[1]s_upper>%[4]s)s?(?:[^A-Za-z]|[A-Z][a-z]|$)",
		group, lower.String(), title.String(), upper.String())
}

// inflect splits a word into its stem and the expression for the endings that
// the same word has in names. A word that ends in a hyphen is a stem already.
func inflect(word string) (stem, endings string) {
	if cut, ok := strings.CutSuffix(word, "-"); ok && cut != "" {
		return cut, "[a-z]*"
	}
	stem = stemOf(word)
	last := stem[len(stem)-1]
	switch {
	case last == 'y' && len(stem) > 3:
		return stem[:len(stem)-1], "(?:y|ys|ies|ied|ier|iers|ying|yable)"
	case last == 'e' && len(stem) > 3:
		return stem[:len(stem)-1], "(?:e|es|ed|er|ers|or|ors|ing|ings|ion|ions|able|ation|ations|ement|ements)"
	}
	double := ""
	if 'a' <= last && last <= 'z' {
		double = string(last) + "?"
	}
	return stem, "(?:" + double + "(?:ed|er|ers|ing|ings)|s|es|e|y|or|ors|ion|ions|able|ation|ations|ment|ments|al|ly)?"
}

// stemOf takes the endings off that names in code rarely have.
func stemOf(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return strings.TrimSuffix(w, "ies") + "y"
	case strings.HasSuffix(w, "ing") && len(w) > 6:
		return single(strings.TrimSuffix(w, "ing"))
	case strings.HasSuffix(w, "ed") && len(w) > 5:
		return single(strings.TrimSuffix(w, "ed"))
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 4:
		return strings.TrimSuffix(w, "s")
	}
	return w
}

// single undoes the doubling before an ending: stopp is stop, but call is call.
func single(stem string) string {
	n := len(stem)
	if n > 3 && stem[n-1] == stem[n-2] && !strings.ContainsRune("aeiouls", rune(stem[n-1])) {
		return stem[:n-1]
	}
	return stem
}

// wordNeedle is a string that every match of wordExpr contains, in some case.
func wordNeedle(text string) needle {
	best := ""
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if !isASCII(w) {
			return newNeedle(text, false)
		}
		if stem, _ := inflect(w); len(stem) > len(best) {
			best = stem
		}
	}
	return newNeedle(best, hasLetter(best))
}

// wordNeedles are the needles of several words, each once.
func wordNeedles(words []string) []needle {
	var all []needle
	for _, w := range words {
		n := wordNeedle(w)
		same := func(have needle) bool { return string(have.text) == string(n.text) && have.fold == n.fold }
		if !slices.ContainsFunc(all, same) {
			all = append(all, n)
		}
	}
	return all
}

// findWord returns the bounds of the word itself in a match of an expression
// with words in it, or of the whole match.
func findWord(re *regexp.Regexp, text []byte) []int {
	at := re.FindSubmatchIndex(text)
	if at == nil {
		return nil
	}
	for i, name := range re.SubexpNames() {
		if strings.HasPrefix(name, wordGroup) && at[2*i] >= 0 {
			return at[2*i : 2*i+2]
		}
	}
	return at[:2]
}

// beginsPart tells whether a part of the name begins with the text, in any case.
func beginsPart(name, text string) bool {
	lower, sought := strings.ToLower(name), strings.ToLower(text)
	if sought == "" || len(lower) != len(name) {
		return false
	}
	for from := 0; ; from++ {
		i := strings.Index(lower[from:], sought)
		if i < 0 {
			return false
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(name[:from])
		first, _ := utf8.DecodeRuneInString(name[from:])
		if from == 0 || !unicode.IsLetter(before) || unicode.IsUpper(first) && !unicode.IsUpper(before) {
			return true
		}
	}
}

// splitName splits camelCase, snake_case and dotted names into words.
func splitName(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	lastLower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			lastLower = false
			continue
		case unicode.IsUpper(r) && lastLower:
			flush()
		}
		word = append(word, r)
		lastLower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	flush()
	return words
}
