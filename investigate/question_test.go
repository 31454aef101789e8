package investigate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func briefTerms(q Question) []string {
	var out []string
	for _, t := range q.Terms {
		out = append(out, string(t.Kind)+" "+strings.Join(append([]string{t.Text}, t.Also...), "|"))
	}
	return out
}

func TestParseQuestion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		text     string
		language string
		want     []string
	}{
		{"words join to a phrase", "where is the retry policy implemented?", "en", []string{"phrase retry policy", "word retry", "word policy"}},
		{"identifier", "How does RetryPolicy.next() work?", "en", []string{"identifier RetryPolicy.next"}},
		{"snake case and call", "who calls parse_args and main()?", "en", []string{"identifier parse_args", "identifier main"}},
		{"quoted", `Where does "no server running" come from?`, "en", []string{"quoted no server running"}},
		{"quoted name", "explain `backoff`", "en", []string{"identifier backoff"}},
		{"file and folder", "what does tmux/pane.go do, and net/http?", "en", []string{"file tmux/pane.go", "file net/http"}},
		{"plural is stemmed", "how are timeouts configured", "en", []string{"phrase timeouts configured", "word timeouts|timeout", "word configured|configur"}},
		{"nothing named", "What is this project and how does it work?", "en", nil},
		{"empty", "", "en", nil},
		{"japanese identifier", "ServeMux はどこで実装されていますか？", "ja", []string{"identifier ServeMux"}},
		{"japanese words", "リトライの方針はどこにありますか", "ja", []string{"word リトライ|retry", "word 方針|policy"}},
		{"japanese compound", "再試行処理について", "ja", []string{"word 再試行|retry"}},
		{"japanese with hiragana inside", "ペインへの貼り付けはどう実装されていますか", "ja", []string{"word 貼り付け|paste", "word ペイン|pane"}},
		{"japanese quotes", "「接続に失敗しました」を出力する関数", "ja", []string{"quoted 接続に失敗しました", "word 出力|output"}},
		{"a capital stays", "what does Await do", "en", []string{"word Await"}},
		{"agents are not searched for", "@grand_boss: ask @tester_x where @Override is", "en", []string{"word ask", "word Override"}},
		{"an order is not searched for", "please write a poem", "en", []string{"word poem"}},
		{"a japanese order", "リトライ処理を修正してください", "ja", []string{"word リトライ|retry"}},
		{"a stem", "メッセージの受信はどこ", "ja", []string{"word メッセージ|message", "word 受信|receiv-"}},
		{"a greeting", "hello there", "en", nil},
		{"japanese, nothing named", "このコードベースの全体構造を説明して", "ja", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := ParseQuestion(tt.text, "tester_x")
			if diff := cmp.Diff(tt.want, briefTerms(q)); diff != "" || q.Language != tt.language {
				t.Errorf("language %s, terms (-want +got):\n%s", q.Language, diff)
			}
		})
	}
}

func TestIntent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want string
	}{
		{"where is the retry policy implemented?", ""}, {"What is this code base?", ""}, {"what is this?", ""}, {"overview", ""}, {"このコードベースの全体構造を説明して", ""},
		{"how does the hub read and write the journal?", ""}, {"test coverage of ledger?", ""}, {"where is the code to create sessions?", ""}, {"Run", "chat"}, {"ログを追加しているのはどこですか", ""}, {"実行はどこで実装されていますか", ""},
		{"hello", "chat"}, {"Good morning!", "chat"}, {"who are you?", "chat"}, {"こんにちは", "chat"}, {"", "chat"},
		{"write a poem", "work"}, {"hello, please fix the bug in cmd/retry.go", "work"}, {"Can you refactor the ledger?", "work"}, {"run the tests", "work"}, {"Look at a.go. Then stop. Create a file.", "work"},
		{"テストを書いてください", "work"}, {"バグを直して", "work"}, {"make test を実行してください", "work"}, {"ファイルを作って。", "work"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			q, got := ParseQuestion(tt.text), ""
			switch {
			case q.Work:
				got = "work"
			case q.Chat:
				got = "chat"
			}
			if got != tt.want {
				t.Errorf("got %q, want %q; terms %q", got, tt.want, briefTerms(q))
			}
		})
	}
}

func briefSteps(steps []Step) []string {
	var out []string
	for _, s := range steps {
		line := fmt.Sprintf("%s %s %s", s.ID, strings.SplitN(string(s.Role), "_", 2)[0], s.Command)
		if len(s.After) > 0 {
			line += " after " + strings.Join(s.After, " ")
		}
		out = append(out, line)
	}
	return out
}

func TestPlan(t *testing.T) {
	t.Parallel()
	earlier := []Report{{Terms: []Term{{Text: "Backoff"}}, Places: []Place{{Signature: Signature{Path: "b.go"}}}}}
	earlier[0].Places[0].Name = "Sleep"
	tests := []struct {
		name     string
		question string
		earlier  []Report
		want     []string
	}{
		{"identifier", "where is Pane.Paste?", nil, []string{
			`step-1-1 research tree {"depth":2}`,
			`step-1-2 research grep {"pattern":"Pane\\.Paste"}`,
			`step-1-3 coding signature_search {"pattern":"^(?-i:Paste)$","ignore_case":true}`,
			`step-1-4 testing static_analysis {"targets":["Pane.Paste"]} after step-1-3`,
		}},
		{"earlier report", "explain `backoff`", earlier, []string{
			`step-1-1 research tree {"depth":2}`,
			`step-1-2 research grep {"pattern":"backoff"}`,
			`step-1-3 coding signature_search {"pattern":"backoff","ignore_case":true}`,
			`step-1-4 testing static_analysis {"targets":["Sleep"]}`,
			`step-1-5 testing static_analysis {"targets":["backoff"]} after step-1-3`,
		}},
		{"overview", "what is this?", nil, []string{
			`step-1-1 research tree {"depth":2}`,
			`step-1-2 research find {"name":"readme"}`,
			`step-1-3 coding signature_search {"pattern":"^main$"}`,
			`step-1-4 testing static_analysis`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Plan(ParseQuestion(tt.question), TreeResult{}, tt.earlier)
			if diff := cmp.Diff(tt.want, briefSteps(got)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	q := ParseQuestion("where is RetryPolicy?")
	failed := Outcome{Command: mustCommand(t, `grep {"pattern":"RetryPolicy"}`), Error: "disk on fire"}
	empty := Outcome{Command: failed.Command, Grep: &GrepResult{}}
	decl := Outcome{Command: mustCommand(t, `signature_search {"pattern":"RetryPolicy","ignore_case":true}`), Signatures: &SignatureResult{Total: 1}}
	decl.Signatures.Signatures = []Signature{{Path: "a.go"}}
	decl.Signatures.Signatures[0].Name, decl.Signatures.Signatures[0].Line = "RetryPolicy", 7
	analysed := Outcome{Command: mustCommand(t, `static_analysis {"targets":["a.go:7"]}`), Static: &StaticResult{Subjects: []Subject{{Signature: decl.Signatures.Signatures[0]}}}}
	cut := Outcome{Command: failed.Command, Digest: &Digest{Shown: 1, Total: 9}, Grep: &GrepResult{
		Total: 9, Hits: []Hit{{Path: "a.go", Text: "RetryPolicy"}}, Top: []FileCount{{"x_test.go", 8}, {"a.go", 7}},
	}}
	tests := []struct {
		name     string
		outcomes []Outcome
		round    int
		want     []string
	}{
		{"complete", []Outcome{decl, analysed}, 1, nil},
		{"failed is retried", []Outcome{decl, analysed, failed}, 1, []string{`step-2-1 research grep {"pattern":"RetryPolicy"}`}},
		{"failed, then done", []Outcome{decl, analysed, failed, empty}, 2, nil},
		{"found but not analysed", []Outcome{decl}, 1, []string{`step-2-1 testing static_analysis {"targets":["a.go:7"]}`}},
		{"not found is widened", []Outcome{empty}, 1, []string{
			`step-2-1 research grep {"pattern":"RetryPolicy","ignore_case":true}`,
			`step-2-2 research grep {"pattern":"retry[-_ ]?policy","ignore_case":true}`,
			`step-2-3 coding signature_search {"pattern":"retry[-_ ]?policy","ignore_case":true}`,
		}},
		{"cut is narrowed to the best file", []Outcome{cut, decl, analysed}, 1, []string{`step-2-1 research grep {"pattern":"RetryPolicy","under":"a.go"}`}},
		{"rounds are used up", []Outcome{failed}, MaxRounds, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, briefSteps(Gaps(q, tt.outcomes, tt.round))); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeNamesFailuresAsGaps(t *testing.T) {
	t.Parallel()
	q := ParseQuestion("where is RetryPolicy?")
	r := Merge(q, []Outcome{{Command: mustCommand(t, `grep {"pattern":"RetryPolicy"}`), Error: "disk on fire", Attempts: 2}})
	md := r.Markdown()
	for _, want := range []string{"disk on fire", "RetryPolicy was found nowhere"} {
		if !strings.Contains(md, want) {
			t.Errorf("got report without %q:\n%s", want, md)
		}
	}
}
