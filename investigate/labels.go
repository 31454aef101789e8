package investigate

import (
	"fmt"

	"orchestrator-cc/investigate/scan"
)

// labels are the words of reports and of what goes into them, in one language.
type labels struct {
	Title, Answer, Places, Inside, Depends, Dependents, Tests, Quality, Mentions, Named, Gaps, Done, Survey     string
	Signature, Callers, Callees, Tree, Variables, Related, Todos, Entries, Packages, HotSpots, More             string
	Implemented, SeeAlso, Nothing, OnlyLines, Overview, BeginsAt, Biggest, NamesFile, Declares                  string
	NotFound, NoFile, QuestionCut, EmptyTree, Empty, None, ByName, Cut, Spilled, Problems, Graph, Central, Rest string

	CalledBy, CallsOut, TestedBy       plural // of a declaration and a number
	Lines, Files, Folders, Decls       plural
	Complexity, Comma                  string
	ForWork, ForChat, ForWeak, ForMore string // what the report says first, and how to get more

	Sums  sums
	Notes notes
	kinds map[scan.Kind]string // nil: the kinds' own words
	// reasons translates why something was not read; nil: as it is.
	reasons map[string]string
}

// sums say what a command returned.
type sums struct {
	Tree, Grep, Survey, Static string
	Partial                    string // "": as the command says it
}

// notes say what an analysis left out.
type notes struct {
	Analysed, NoMatch, Looked, TestsOf, Shown, TooCommon, TooLarge, Checked, Untyped string
	ImportsOf, DependentsOf, CallsIn, CallersOf, RelatedTo, UsersOf                  string
	TopLevel, Through, ImplementedBy, Implements                                     string
}

// plural is a format for one and for any other number.
type plural struct{ one, many string }

// Of picks the format for a number.
func (p plural) Of(n int) string {
	if n == 1 && p.one != "" {
		return p.one
	}
	return p.many
}

func (p plural) say(n int) string { return fmt.Sprintf(p.Of(n), n) }

// Kind is a kind of declaration in the report's language.
func (l labels) Kind(k scan.Kind) string {
	if word, ok := l.kinds[k]; ok {
		return word
	}
	return string(k)
}

// Reason says in the report's language why something was not read; what the
// system said stays as it is.
func (l labels) Reason(text string) string {
	if word, ok := l.reasons[text]; ok {
		return word
	}
	return text
}

// Figures are the size and the tangle of a declaration.
func (l labels) Figures(s Subject) string {
	text := l.Lines.say(s.Lines)
	if s.Complexity > 0 {
		text += fmt.Sprintf(l.Complexity, s.Complexity)
	}
	if !s.Typed {
		text += "; " + l.ByName
	}
	return text
}

const japanese = "ja"

func labelsOf(language string) labels {
	if language == japanese {
		return japaneseLabels()
	}
	return englishLabels()
}

func (r *Report) label() labels { return labelsOf(r.Language) }
