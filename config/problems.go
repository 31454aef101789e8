package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"orchestrator-cc/protocol"
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
// is one, and otherwise all that could be written. The empty word, which some
// lists allow, says nothing to a reader.
func suggest(word string, known []string) string {
	known = slices.DeleteFunc(slices.Sorted(slices.Values(known)), func(w string) bool { return w == "" })
	if near := protocol.Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "write one of: " + strings.Join(known, ", ")
}
