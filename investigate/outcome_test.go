package investigate

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrator-cc/investigate/scan"
)

func mustCommand(t *testing.T, line string) Command {
	t.Helper()
	c, err := ParseCommand(line)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandRoundTrip(t *testing.T) {
	t.Parallel()
	queries := []any{
		TreeQuery{}, TreeQuery{Under: "a b", Depth: 2, Skip: 3},
		FindQuery{Where: Where{Name: "*Controller*", Language: scan.Java}},
		GrepQuery{Pattern: "retry", Literal: true}, GrepQuery{Pattern: "\"世\\\n{}", IgnoreCase: true, Context: 2, Where: Where{Under: "x"}, Limits: Limits{Lines: 5}},
		SignatureQuery{Pattern: `def\s+targetFunction`, Kinds: []scan.Kind{scan.Function}}, StaticQuery{Targets: []string{"a.go:12", "T.M"}},
	}
	for _, q := range queries {
		c, err := NewCommand(q)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			back, err := ParseCommand(c.String())
			if err != nil {
				t.Fatal(err)
			}
			got, err := back.query()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(q, got); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
		})
	}
	if got := mustCommand(t, `grep {"pattern":"retry","literal":true}`).String(); got != `grep {"pattern":"retry","literal":true}` {
		t.Errorf("got %s, want the line unchanged", got)
	}
}

func TestParseCommandRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, want string }{
		{"unknown", "rm -rf", "unknown"},
		{"no JSON", "grep retry", "arguments of grep"},
		{"unknown argument", `grep {"patern":"x"}`, "patern"},
		{"two objects", `grep {"pattern":"x"} {}`, "text behind"},
		{"too long", "grep " + strings.Repeat(" ", maxCommand), "at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseCommand(tt.line); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// screen is what a terminal may do to text: wrapped lines stay, blanks at the
// ends of lines go, an indent and other output come.
func screen(text string) string {
	var b strings.Builder
	b.WriteString("● some words before ```\n\n")
	for line := range strings.Lines(text) {
		b.WriteString("  " + strings.TrimRight(line, " \n") + "   \n")
	}
	b.WriteString("RESEARCH OK\n")
	return b.String()
}

func TestOutcomeRoundTripThroughAScreen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune(" `世界😀\"\\\t\n{}ab<>&\u2028")), 0, 300, -1)
		want := Outcome{
			Step: "step-1-1", Command: Command{Name: CommandGrep, Args: []byte(`{"pattern":"x"}`)}, Attempts: 1, Estimate: Estimate{Lines: 3, Bytes: 9},
			Digest: &Digest{Shown: 1, Total: 9, More: text.Draw(t, "more")},
			Grep:   &GrepResult{Hits: []Hit{{Path: text.Draw(t, "path"), Line: 3, Column: 1, Text: text.Draw(t, "text"), Before: []string{text.Draw(t, "before")}}}, Total: 9, Files: 1},
		}
		encoded, err := EncodeOutcome(want)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(encoded) {
			if len(line) > 1000 || strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf || r < ' ' && r != '\n' }) {
				t.Fatalf("got line %q, want short lines of printable ASCII", line)
			}
		}
		got, err := DecodeOutcome(screen(encoded))
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("outcome (-want +got):\n%s", diff)
		}
	})
}

func TestDecodeOutcomeRefuses(t *testing.T) {
	t.Parallel()
	whole, err := EncodeOutcome(Outcome{Command: Command{Name: CommandTree}, Tree: &TreeResult{Files: 3}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, text, want string }{
		{"nothing", "RESEARCH OK", "no ```outcome block"},
		{"cut off", whole[:len(whole)-5], "cut"},
		{"garbled", strings.Replace(whole, "\"tree\"", "tree", 1), "decode outcome"},
		{"unknown command", "```outcome\n{\"command\":{\"name\":\"rm\"}}\n```", "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := DecodeOutcome(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
	all, err := DecodeOutcomes(whole + "\nand\n" + whole)
	if err != nil || len(all) != 2 {
		t.Errorf("got %d outcomes and error %v, want 2", len(all), err)
	}
}

// A result over the limit is cut, spilled whole, and its rest can be asked for
// until nothing is left.
func TestDigestSpillsAndGoesOn(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 25 {
		files[fmt.Sprintf("f%02d.go", i)] = fmt.Sprintf("package p\n\nfunc hit%02d() {}\n", i)
	}
	r := writeTree(t, files)
	for _, line := range []string{`grep {"pattern":"hit"}`, `find {"name":"*.go"}`, `signature_search {"pattern":"hit"}`} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			limits := Limits{Lines: 10, Spill: t.TempDir()}
			seen, pages := 0, 0
			for c := mustCommand(t, line); ; pages++ {
				o, err := r.Run(t.Context(), c, limits)
				if err != nil || pages > 5 {
					t.Fatalf("page %d: %v", pages, err)
				}
				if pages == 0 {
					if o.Digest == nil || o.Digest.Shown != 10 || o.Digest.Total != 25 || o.Estimate.Lines < 20 {
						t.Fatalf("got digest %+v and estimate %+v, want 10 of 25 foreseen", o.Digest, o.Estimate)
					}
					if n := countLines(t, o.Digest.Spill); n != 25 {
						t.Errorf("got %d lines spilled, want 25", n)
					}
				}
				if o.Digest == nil {
					seen += 25 - seen
					break
				}
				seen += o.Digest.Shown
				c = mustCommand(t, o.Digest.More)
			}
			if seen != 25 || pages != 2 {
				t.Errorf("got %d entries in %d pages, want 25 in 3", seen, pages+1)
			}
		})
	}
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
	}
	return n
}

func TestDigestKeepsToTheBytes(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.txt": strings.Repeat("hit "+strings.Repeat("x", 200)+"\n", 100)})
	o, err := r.Run(t.Context(), mustCommand(t, `grep {"pattern":"hit"}`), Limits{Bytes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if o.Digest == nil || o.Digest.Shown < 2 || o.Digest.Shown > 10 || len(o.Grep.Hits) != o.Digest.Shown {
		t.Errorf("got digest %+v with %d hits, want a few", o.Digest, len(o.Grep.Hits))
	}
}
