package investigate

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

// Each folder of testdata/golden is an investigation: tree/ is the code (a folder
// go-x shares that of go), question.txt the question, facts.txt what the report must say, report.md the
// whole report.
func TestGoldenInvestigations(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(cases) == 0 {
		t.Fatalf("got %d golden folders, %v", len(cases), err)
	}
	for _, dir := range cases {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			base, _, _ := strings.Cut(dir, "-")
			tree := filepath.Join(base, "tree")
			report, _, err := Investigate(t.Context(), read(t, dir, "question.txt"), tree, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkPlaces(t, tree, report)
			report.Elapsed = 0
			got := report.Markdown()
			for fact := range strings.Lines(read(t, dir, "facts.txt")) {
				if fact = strings.TrimSpace(fact); !strings.Contains(got, fact) {
					t.Errorf("got a report without the fact %q", fact)
				}
			}
			golden := filepath.Join(dir, "report.md")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(read(t, dir, "report.md"), got); diff != "" {
				t.Errorf("report (-want +got), rewrite with -update:\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var placeInReport = regexp.MustCompile("`([^`:]+):([0-9]+)`")

// checkPlaces verifies the evidence: every path:line in the report exists, and
// the line of each place holds the declared name.
func checkPlaces(t *testing.T, tree string, r Report) {
	t.Helper()
	for _, m := range placeInReport.FindAllStringSubmatch(r.Markdown(), -1) {
		if _, err := os.Stat(filepath.Join(tree, m[1])); err != nil {
			t.Errorf("got evidence %s, want a file that exists", m[0])
		}
	}
	for _, p := range r.Places {
		lines := strings.Split(read(t, tree, p.Path), "\n")
		if p.Kind == fileKind {
			continue // the file itself, of which the existence is checked above
		}
		if p.Line > len(lines) || !strings.Contains(lines[p.Line-1], p.Name) {
			t.Errorf("got place %s:%d, want a line with %s", p.Path, p.Line, p.Name)
		}
	}
}

// The page stands alone: it has the drawing and asks for nothing elsewhere.
func TestHTMLStandsAlone(t *testing.T) {
	t.Parallel()
	report, _, err := Investigate(t.Context(), "where is RetryPolicy? <script>alert(1)</script>", "testdata/golden/go/tree", Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.HTML()
	if err != nil {
		t.Fatal(err)
	}
	html := string(page)
	for _, want := range []string{"<svg", "marker-end", "retry/policy.go:18", "main.main"} {
		if !strings.Contains(html, want) {
			t.Errorf("got a page without %q", want)
		}
	}
	for _, never := range []string{"<script", "src=", "href=", "@import", "%!"} {
		if strings.Contains(html, never) {
			t.Errorf("got a page with %q", never)
		}
	}
	if strings.Count(html, "<rect") < 4 || strings.Count(html, `class="edge"`) < 3 {
		t.Errorf("got %d boxes and %d arrows, want the neighbours drawn", strings.Count(html, "<rect"), strings.Count(html, `class="edge"`))
	}
}

func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	report, _, err := Investigate(t.Context(), "where is RetryPolicy?", "testdata/golden/go/tree", Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := report.JSON()
	if err != nil || !strings.Contains(string(data), `"path": "retry/policy.go"`) {
		t.Errorf("got %d bytes and error %v, want the place in it", len(data), err)
	}
}
