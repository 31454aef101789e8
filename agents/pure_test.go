package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrator-cc/protocol"
)

func TestMarkers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		loose      bool
		want       []string // the ids found, "-" for a bare marker
	}{
		{name: "bare", text: "TESTING OK", want: []string{"-"}},
		{name: "token", text: "TESTING OK <abc123>", want: []string{"abc123"}},
		{name: "token without a blank", text: "TESTING OK<abc123>", want: []string{"abc123"}},
		{name: "dressed", text: "**TESTING OK**: `<abc123>`", want: []string{"abc123"}},
		{name: "broken anywhere", text: "TEST\nING\nOK <ab\nc123>", want: []string{"abc123"}},
		{name: "boxed", text: "│ TESTING │\n│ OK <abc123> │", want: []string{"abc123"}},
		{name: "two", text: "TESTING OK and TESTING OK <abc123>", want: []string{"-", "abc123"}},
		{name: "beside wide text", text: "完了TESTING OK。", want: []string{"-"}},
		{name: "in a word", text: "TESTING OKAY, RETESTING OK", want: nil},
		{name: "another case", text: "Testing ok <abc123>", want: nil},
		{name: "doubled blanks", text: "TESTING  OK <abc123>", want: nil},
		{name: "no blank", text: "TESTINGOK <abc123>", want: nil},
		{name: "far apart", text: "TESTING\n\n\nOK", want: nil},
		{name: "another case, loose", text: "Testing ok <abc123>", loose: true, want: []string{"abc123"}},
		{name: "doubled blanks, loose", text: "TESTING  OK <abc123>", loose: true, want: []string{"abc123"}},
		{name: "id in capitals", text: "TESTING OK <ABC123>", want: []string{"-"}},
		{name: "empty id", text: "TESTING OK <>", want: []string{"-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range newMarker("TESTING OK", c.loose).all(newPage(strings.Split(c.text, "\n")), 0) {
				if s.id == "" {
					s.id = "-"
				}
				got = append(got, s.id)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("markers (-want +got):\n%s", diff)
			}
		})
	}
}

// However a program breaks, indents and repeats its lines, and whatever marker
// stood on the screen before, the answer is what follows the echo, and only
// the request's own token completes it.
func TestAnswerIsFoundOnAnyScreen(t *testing.T) {
	t.Parallel()
	engine := Engine{Name: "any", Multiline: true}.withDefaults()
	m := newMarker("TESTING OK", false)
	words := rapid.SampledFrom([]string{"one", "two", "three.", "日本語", "TESTING OK", "TESTING OK <zzzzzz>", "req-abc123", "req-zzzzzz", "-", "\\"})
	sentences := rapid.SliceOfN(rapid.SliceOfN(words, 1, 9), 1, 6)
	lines := func(r *rapid.T, label string) (out []string) {
		for _, s := range sentences.Draw(r, label) {
			out = append(out, strings.Join(s, " "))
		}
		return out
	}
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(12, 120).Draw(r, "width")
		ours, fault := newPrompt(Request{ID: "abc123", From: "user", Body: strings.Join(lines(r, "body"), "\n")}, engine)
		if fault != nil {
			r.Fatal(fault)
		}
		answer := lines(r, "answer")
		done := rapid.Bool().Draw(r, "done")
		if done {
			answer = append(answer, protocol.Token("TESTING OK", "abc123"))
		}
		old := lines(r, "old")
		screen := broken(old, "", width)
		for range rapid.IntRange(1, 3).Draw(r, "copies") {
			screen = append(screen, broken(strings.Split(string(ours.parts[0])+string(ours.parts[1]), "\n"), "> ", width)...)
			screen = append(screen, broken(answer, "  ", width)...)
		}
		reply := locate(screen, ours, nil, m).reply(engine, old, m, "abc123")
		if reply.token != done {
			r.Fatalf("got token %v, want %v on\n%s", reply.token, done, strings.Join(screen, "\n"))
		}
		want := strings.ReplaceAll(strings.Join(answer, "\n"), " <abc123>", "")
		if got := reply.text(); done && string(squeeze(got)) != string(squeeze(want)) {
			r.Fatalf("got %q, want %q on\n%s", got, want, strings.Join(screen, "\n"))
		}
	})
}

// broken draws lines as a program of a given width would.
func broken(lines []string, sign string, width int) (out []string) {
	for i, line := range lines {
		lead := strings.Repeat(" ", len(sign))
		if i == 0 {
			lead = sign
		}
		text := []rune(line)
		for len(text) > width {
			out = append(out, lead+string(text[:width]))
			text, lead = text[width:], strings.Repeat(" ", len(sign))
		}
		out = append(out, lead+string(text))
	}
	return out
}

func TestCleanLeavesNothingThatActs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		body := rapid.String().Draw(r, "body")
		got, fault := clean(body)
		if fault != nil {
			return
		}
		if strings.ContainsFunc(got, func(c rune) bool { return c != '\n' && c != '\t' && (c < 0x20 || c >= 0x7f && c < 0xa0) }) {
			r.Fatalf("got %q, want no control character", got)
		}
		if again, _ := clean(got); again != got {
			r.Fatalf("got %q from %q, want what is clean to stay", again, got)
		}
	})
}

func TestExtract(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, screen, want string }{
		{"plain", "one\n  two\nTESTING OK <abc123>", "one\n  two\nTESTING OK"},
		{"bulleted", "● one\n\n    two\n  TESTING OK <abc123>", "one\n\n  two\nTESTING OK"},
		{"own list", "• one\n• two\nTESTING OK <abc123>", "• one\n• two\nTESTING OK"},
		{"framed", "╭──────╮\n│ one  │\n│ TESTING OK <abc123> │\n╰──────╯", "one\nTESTING OK"},
		{"a table of its own", "│ a │ b │\nTESTING OK <abc123>", "│ a │ b │\nTESTING OK"},
		{"twice", "TESTING OK <abc123>\nmore\nTESTING OK <abc123>", "TESTING OK\nmore\nTESTING OK"},
		{"only the token", "TESTING OK <abc123>", "TESTING OK"},
		{"token of another", "TESTING OK <zzzzzz>\nTESTING OK <abc123>", "TESTING OK <zzzzzz>\nTESTING OK"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(c.screen, "\n")
			r := region{page: newPage(lines)}
			if got := r.reply(Engine{Multiline: true}, nil, newMarker("TESTING OK", false), "abc123").text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSpoolSurvivesItsWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	s := spool{path: path}
	expect := func(step string, want ...string) {
		t.Helper()
		news, err := s.news()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		var got []string
		for _, r := range news {
			got = append(got, string(r.Event)+" "+r.Req+" "+r.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: reports (-want +got):\n%s", step, diff)
		}
	}
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	report := func(e protocol.ReportEvent, req, text string) {
		t.Helper()
		if err := Append(path, protocol.Report{Event: e, Req: req, Text: text, Time: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	expect("no file")
	report(protocol.ReportReady, "", "")
	expect("ready", "ready  ")
	expect("nothing new")
	add(`{"event":"answer","req":"a","te`)
	expect("torn line")
	add("xt\":\"whole\"}\nnonsense\n{}\n")
	expect("line completed", "answer a whole")
	report(protocol.ReportAnswer, "b", strings.Repeat("長い", 100000))
	expect("long line", "answer b "+strings.Repeat("長い", 100000))
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	report(protocol.ReportReady, "", "again")
	expect("cut and started again", "ready  again")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	report(protocol.ReportReady, "", "a new file")
	expect("another file", "ready  a new file")
	report(protocol.ReportAnswer, "c", "unread")
	s.skip()
	expect("skipped")
	report(protocol.ReportProgress, "d", "")
	expect("behind the skip", "progress d ")
}

func TestFailureShowsItsCode(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("deliver: %w", failure(protocol.CodeTimeout, false, "no answer"))
	if got := protocol.CodeOf(err); got != protocol.CodeTimeout {
		t.Errorf("got %s, want %s", got, protocol.CodeTimeout)
	}
}
