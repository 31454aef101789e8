package investigate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func grep(t *testing.T, r *Root, q GrepQuery) GrepResult {
	t.Helper()
	res, err := r.Grep(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// lineNumbers is what a plain loop over package regexp finds.
func lineNumbers(text, pattern string, fold bool) []int {
	if fold {
		pattern = "(?i:" + pattern + ")"
	}
	re := regexp.MustCompile(pattern)
	var out []int
	n := 0
	for line := range strings.Lines(text) {
		n++
		if re.MatchString(strings.TrimRight(line, "\r\n")) {
			out = append(out, n)
		}
	}
	return out
}

// Needles, automaton and regexp together find exactly what regexp alone finds.
func TestSearchAgreesWithRegexp(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"abc", "a.c", "(abc|bca)", "b+c", "^a", "c$", `\bab`, "a*", "[a-c]{2,3}K", "k", "ſ", "(a|b)*c", "世", "a世", "[^a]", `\w\W`, "x?", "(?:ab){2}", "ab|b|ca|K", "^$", `a\z`, "A|B|C|AB|BC|CK", "[ab]*a[ab]{6}", "[ab]+c[ab]", "[ab] [ab]k", "[a-k]s",
	}
	pieces := []string{"a", "b", "c", "A", "B", "C", "k", "K", "\u212a", "ſ", "世", "\n", "\n", "\r\n", " ", "\xff", "ab", "abc"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 80).Draw(t, "text"), "")
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		fold := rapid.Bool().Draw(t, "fold")
		p, err := compilePattern(pattern, false, fold)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		p.searcher().lines([]byte(text), func(start, _, _ int) bool {
			got = append(got, strings.Count(text[:start], "\n")+1)
			return true
		})
		if want := lineNumbers(text, pattern, fold); !slices.Equal(got, want) {
			t.Fatalf("pattern %q fold %v in %q: got lines %v, want %v", pattern, fold, text, got, want)
		}
	})
}

func TestGrepFindsLines(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"a.go": "one\n\tRetry(x)\nthree\nfour retry\n", "b/b.txt": "a.b\naxb\n", "bin.dat": "retry\x00", "c_test.go": "retry\n",
	})
	tests := []struct {
		name  string
		query GrepQuery
		want  []string
	}{
		{"case matters", GrepQuery{Pattern: "retry"}, []string{"a.go:4:6 four retry", "c_test.go:1:1 retry"}},
		{"in any case", GrepQuery{Pattern: "retry", IgnoreCase: true}, []string{"a.go:2:2 Retry(x)", "a.go:4:6 four retry", "c_test.go:1:1 retry"}},
		{"regexp", GrepQuery{Pattern: "a.b"}, []string{"b/b.txt:1:1 a.b", "b/b.txt:2:1 axb"}},
		{"literal", GrepQuery{Pattern: "a.b", Literal: true}, []string{"b/b.txt:1:1 a.b"}},
		{"without tests", GrepQuery{Pattern: "retry", Where: Where{NoTests: true}}, []string{"a.go:4:6 four retry"}},
		{"skip", GrepQuery{Pattern: "retry", IgnoreCase: true, Skip: 2}, []string{"c_test.go:1:1 retry"}},
		{"limit", GrepQuery{Pattern: "retry", IgnoreCase: true, Limits: Limits{Lines: 1}}, []string{"a.go:2:2 Retry(x)"}},
		{"no hit", GrepQuery{Pattern: "nowhere"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := grep(t, r, tt.query)
			var got []string
			for _, h := range res.Hits {
				got = append(got, fmt.Sprintf("%s:%d:%d %s", h.Path, h.Line, h.Column, h.Text))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			if res.Binary != 1 && !tt.query.NoTests {
				t.Errorf("got %d binary files, want 1", res.Binary)
			}
		})
	}
	if res := grep(t, r, GrepQuery{Pattern: "retry", IgnoreCase: true, Limits: Limits{Lines: 1}}); res.Total != 3 || res.Files != 2 {
		t.Errorf("got %d lines in %d files counted, want 3 in 2", res.Total, res.Files)
	}
}

func TestGrepShowsContext(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.txt": "1\n2\nhit\n4\nhit\n6\n"})
	res := grep(t, r, GrepQuery{Pattern: "hit", Context: 2})
	want := []Hit{
		{Path: "a.txt", Line: 3, Column: 1, Text: "hit", Before: []string{"1", "2"}, After: []string{"4", "hit"}},
		{Path: "a.txt", Line: 5, Column: 1, Text: "hit", Before: []string{"hit", "4"}, After: []string{"6"}},
	}
	if diff := cmp.Diff(want, res.Hits); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// A match is found and its line counted right wherever the blocks' edges fall.
func TestGrepAcrossBlocks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		text string
		line int
	}{
		{"line across the edge", strings.Repeat("x\n", blockSize/2-2) + "needle here\nend\n", blockSize/2 - 1},
		{"torn line, match across the edge", "a\n" + strings.Repeat("y", blockSize-5) + "needle" + strings.Repeat("z", blockSize) + "\n", 2},
		{"after a torn line", strings.Repeat("y", 3*blockSize) + "\nb\nneedle", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := grep(t, writeTree(t, map[string]string{"f": tt.text}), GrepQuery{Pattern: "needle"})
			if res.Total != 1 || res.Hits[0].Line != tt.line {
				t.Fatalf("got %d hits %+v, want one on line %d", res.Total, res.Hits, tt.line)
			}
			if !strings.Contains(res.Hits[0].Text, "needle") || len(res.Hits[0].Text) > 2*maxShownLine {
				t.Errorf("got text %q, want the match in a short line", res.Hits[0].Text)
			}
		})
	}
}

func TestGrepReportsWhatVanishes(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.txt": "hit\n", "b.txt": "hit\n"})
	if err := os.Remove(filepath.Join(r.Path(), "a.txt")); err != nil {
		t.Fatal(err)
	}
	res := grep(t, r, GrepQuery{Pattern: "hit"})
	if diff := cmp.Diff([]Problem{{"a.txt", "no such file or directory"}}, res.Problems); diff != "" || res.Total != 1 {
		t.Errorf("got %d hits and problems (-want +got):\n%s", res.Total, diff)
	}
}

func TestGrepStopsInTime(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("f%d", i)] = strings.Repeat("abcabcabcabc abc\n", 2000)
	}
	res := grep(t, writeTree(t, files), GrepQuery{Pattern: "[a-z]+ [a-z]", Limits: Limits{Time: time.Nanosecond}})
	if res.Partial == "" {
		t.Error("got a complete result, want one that says the time was over")
	}
}
