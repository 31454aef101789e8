package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a configuration file.
type Problem struct {
	File    string
	Line    int // from 1
	Column  int // from 1
	Path    string
	Message string // what is wrong
	Cure    string // what to write instead
}

func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Cure != "" {
		b.WriteString("; " + p.Cure)
	}
	return b.String()
}

// Problems is every mistake of a file, in the order of its lines.
type Problems struct{ List []Problem }

func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, problem := range p.List {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

func sorted(list []Problem) []Problem {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}

// suggest is the cure for a word that is not in a list: the near one, if there
// is one, and otherwise all that could be written. One slip in four letters is
// near, and so is the beginning of a longer word.
func suggest(word string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	best, near := "", 2+min(2, (len(word)-1)/4)
	for _, k := range known {
		d := distance(strings.ToLower(word), k)
		if len(word) > 3 && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < near {
			best, near = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "write one of: " + strings.Join(known, ", ")
}

// distance counts the letters to insert, drop or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
