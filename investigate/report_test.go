package investigate

import (
	"strings"
	"testing"
	"unicode"
)

// sample is a small tree with the traps that questions fall into.
func sample(t *testing.T) string {
	t.Helper()
	return writeTree(t, map[string]string{
		"go.mod": "module example\n", "go.sum": strings.Repeat("example.com/journal v1.0.0 h1:x=\n", 30), "web/app.min.js": "function journal(){}\n",
		"shell.go":           "package example\n\nfunc shellOf() string { return \"\" }\n",
		"api/client.go":      "package api\n\n// Client is one.\ntype Client struct{}\n\n// Await waits.\nfunc (c *Client) Await() {}\n",
		"agents/wait.go":     "package agents\n\ntype turn struct{}\n\nfunc (t *turn) await() {}\n\ntype Retry struct{ n int }\n",
		"cmd/retry.go":       "package cmd\n\ntype Retry struct{}\n\nfunc run() error { return nil }\n",
		"logs/pen.go":        "package logs\n\n// A Journal is written once.\ntype Journal struct{}\n\nfunc openJournal() *Journal { return nil }\n",
		"law/policy.go":      "package law\n\n// Policy is the law.\ntype Policy struct {\n\tpolicy string // of a policy\n\tname string // of the policy\n}\n",
		"law/leave.go":       "package law\n\n// Leave is the leave policy.\ntype Leave struct{ days int }\n",
		"law/lawtest/law.go": "package lawtest\n\ntype Court struct{}\n",
		"law/trial.go":       "package law\n\ntype Court struct{}\n",
		"calc/tax.py":        "# 税の計算\nTAX_RATE = 0.1\n\ndef total(net):\n    return net * (1 + TAX_RATE)\n",
	}).Path()
}

func reportOn(t *testing.T, question, dir string) Report {
	t.Helper()
	r, _, err := Investigate(t.Context(), question, dir, Options{Agents: []string{"my_tester"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBestPlace(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	tests := []struct{ question, want string }{
		{"Await", "api/client.go Client.Await"},
		{"what does `await` do?", "agents/wait.go turn.await"},
		{"fix the bug in cmd/retry.go", "cmd/retry.go retry.go"},
		{"what is in retry.go?", "cmd/retry.go retry.go"},
		{"@my_tester where is the journal?", "logs/pen.go Journal"},
		{"where is the tax rate?", "calc/tax.py TAX_RATE"},
		{"where is shell?", "shell.go shellOf"},
		{"where are the journals?", "logs/pen.go Journal"},
		{"where is the leave policy implemented?", "law/leave.go Leave"},
		{"where is the court?", "law/trial.go Court"},
		{"where is ell?", ""},
	}
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			t.Parallel()
			r, got := reportOn(t, tt.question, dir), ""
			if len(r.Places) > 0 {
				got = r.Places[0].Path + " " + r.Places[0].Qualified()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if strings.Contains(r.Markdown(), "go.sum:") {
				t.Errorf("got a list of versions as evidence:\n%s", r.Markdown())
			}
		})
	}
}

// What only a person or a model can do is not answered as if it were done.
func TestReportBeginsWithDoubt(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	tests := []struct{ question, want string }{
		{"hello", "> The built-in engine has no model"}, {"write a poem", "> The built-in engine has no model"}, {"fix the bug in cmd/retry.go", "> The built-in engine has no model"},
		{"how do I bake a chocolate cake with a client?", "> No name in the code fits"}, {"meaning of life", "> No name in the code fits"},
		{"こんにちは", "> 組み込みエンジンには"}, {"テストを書いて", "> 組み込みエンジンには"},
		{"where is the journal?", "# Inv"}, {"Await", "# Inv"}, {"what is this code base?", "# Inv"}, {`where does "written once" come from?`, "# Inv"},
	}
	for _, tt := range tests {
		t.Run(tt.question, func(t *testing.T) {
			t.Parallel()
			md := reportOn(t, tt.question, dir).Markdown()
			if !strings.HasPrefix(md, tt.want) {
				t.Errorf("got %q, want it to begin with %q", clip(md, 300), tt.want)
			}
			first, _, _ := strings.Cut(md, "\n")
			if strings.HasPrefix(first, ">") != strings.Contains(first, "orchestrator-cc up --engine") {
				t.Errorf("got first line %q, want what to type", first)
			}
		})
	}
}

func TestHeadingsDiffer(t *testing.T) {
	t.Parallel()
	md := reportOn(t, "where is Retry?", sample(t)).Markdown()
	seen := map[string]bool{}
	for line := range strings.Lines(md) {
		if strings.HasPrefix(line, "#") && seen[line] {
			t.Errorf("got heading %q twice", line)
		}
		seen[line] = true
	}
	if !seen["## How it works inside: Retry (cmd/retry.go)\n"] {
		t.Errorf("got no heading with a path:\n%s", md)
	}
}

// A Japanese report has no English sentence, also after a journey by screen.
func TestJapaneseReportIsJapanese(t *testing.T) {
	t.Parallel()
	r := open(t, sample(t))
	q := ParseQuestion("税の計算と設定はどこで実装されていますか")
	var outcomes []Outcome
	for _, s := range append(Plan(q, TreeResult{}, nil), Step{Command: mustCommand(t, `static_analysis {"targets":["missing"],"locale":"ja"}`)}) {
		o, err := r.Run(t.Context(), s.Command, Limits{Lines: 3})
		if err != nil {
			t.Fatal(err)
		}
		text, err := EncodeOutcome(o)
		if err != nil {
			t.Fatal(err)
		}
		if o, err = DecodeOutcome(text); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, o)
	}
	report := Merge(q, outcomes)
	md := report.Markdown()
	if strings.Contains(md, `\u`) || !strings.Contains(md, `"計算"`) {
		t.Errorf("got escaped patterns:\n%s", md)
	}
	inCode := false
	for i, part := range strings.Split(md, "`") {
		if inCode = i%2 == 1; inCode {
			continue
		}
		words := 0
		for word := range strings.FieldsSeq(part) {
			if strings.Trim(word, ":.,()*") != "" && !strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) }) {
				words++
			}
		}
		if words > 2 {
			t.Errorf("got English %q in:\n%s", part, md)
		}
	}
}

func TestWhereIsAnsweredShortly(t *testing.T) {
	t.Parallel()
	tree := "testdata/golden/go/tree"
	short, long := reportOn(t, "where is the retry policy implemented?", tree), reportOn(t, "how does the retry policy work?", tree)
	count := func(r Report) int { return strings.Count(r.Markdown(), "## How it works inside") }
	if count(short) != 2 || count(long) < 3 || len(short.Subjects) != len(long.Subjects) {
		t.Errorf("got %d and %d sections of %d and %d subjects, want 2 of all", count(short), count(long), len(short.Subjects), len(long.Subjects))
	}
	page, err := short.HTML()
	if err != nil || strings.Count(string(page), "<h2>How it works inside") != len(short.Subjects) {
		t.Errorf("got %v and a page without all subjects", err)
	}
}

func TestFindBelowAFolder(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"src/a.go": "", "x/src/b/c.py": "", "srcs/d.go": "", "resrc.go": ""})
	res, err := r.Find(t.Context(), FindQuery{Where: Where{Name: "src"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range res.Files {
		got = append(got, f.Path)
	}
	if want := "resrc.go src/a.go x/src/b/c.py"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
