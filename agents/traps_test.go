package agents_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

// trap is one way in which an exchange could be fooled. Unless it says
// otherwise, the answer must be exactly what the program said, by the token.
type trap struct {
	name string
	setup
	kinds     []string // all three where empty
	body      string   // "hello" where empty
	sends     int      // one where zero
	evidence  string   // token where empty
	truncated bool     // the end of the answer is there, and flagged
	squeezed  bool     // the program breaks its lines, so blanks are not compared
	code      protocol.Code
	reason    string
	during    func(*rig) // while the first exchange is under way
}

var (
	allKinds = []string{agentstest.Inline, agentstest.Alternate, agentstest.Line}
	screens  = []string{agentstest.Inline, agentstest.Alternate}
)

// runTraps runs a table, as often as the soak asks for.
func runTraps(t *testing.T, traps []trap) {
	rounds := 1
	if text := os.Getenv("ORCHESTRATOR_CC_SOAK"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("ORCHESTRATOR_CC_SOAK: %v", err)
		}
		rounds = n
	}
	for round := range rounds {
		for _, tr := range traps {
			kinds := tr.kinds
			if len(kinds) == 0 {
				kinds = allKinds
			}
			for _, kind := range kinds {
				t.Run(fmt.Sprintf("%s/%s/%d", tr.name, kind, round), func(t *testing.T) {
					t.Parallel()
					mine := tr
					mine.setup.script.Kind = kind
					mine.run(t)
				})
			}
		}
	}
}

func (tr trap) run(t *testing.T) {
	r := newRig(t, tr.setup)
	body := tr.body
	if body == "" {
		body = "hello"
	}
	for n := range max(tr.sends, 1) {
		req := agents.Request{ID: fmt.Sprintf("k%dq%03d", n, len(tr.name)), Body: body}
		done := make(chan attempt, 1)
		go func() { done <- r.send(req) }()
		if tr.during != nil && n == 0 {
			tr.during(r)
		}
		got := <-done
		tr.check(t, r, req, n, got)
		if t.Failed() {
			t.Logf("screen:\n%s", r.screen())
			return
		}
	}
}

// screen is for the reader of a failure; a server that is gone has none.
func (r *rig) screen() string {
	pane, err := r.server.Pane(r.info).Capture(r.t.Context(), 50)
	if err != nil {
		return err.Error()
	}
	return strings.Join(pane.Lines, "\n")
}

func (tr trap) check(t *testing.T, r *rig, req agents.Request, n int, got attempt) {
	t.Helper()
	if typed := r.typed(req); typed > 1 {
		t.Errorf("got the prompt typed %d times, want once", typed)
	}
	if tr.code != "" {
		if f := got.failure(); f == nil || f.Code != tr.code || !strings.Contains(f.Reason, tr.reason) {
			t.Errorf("got answer %+v and error %v (%s), want failure %s with %q", got.answer, got.err, protocol.CodeOf(got.err), tr.code, tr.reason)
		}
		return
	}
	if got.err != nil {
		t.Errorf("got error %v (%s), want an answer", got.err, protocol.CodeOf(got.err))
		return
	}
	if diff := cmp.Diff([]protocol.StepName{protocol.Typed, protocol.Submitted, protocol.Taken}, got.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	evidence := tr.evidence
	if evidence == "" {
		evidence = agents.ByToken
	}
	if got.answer.Evidence != evidence || got.answer.Truncated != tr.truncated {
		t.Errorf("got evidence %q, truncated %v; want %q, %v", got.answer.Evidence, got.answer.Truncated, evidence, tr.truncated)
	}
	tr.checkText(t, r, n, got)
}

func (tr trap) checkText(t *testing.T, r *rig, n int, got attempt) {
	t.Helper()
	answers := r.entries("answer")
	if len(answers) <= n {
		t.Errorf("got %q before the program had answered, want no early answer", got.answer.Text)
		return
	}
	if ends := r.entries("end"); got.answer.Evidence == agents.ByToken && (len(ends) <= n || ends[n].Time.After(got.done)) {
		t.Errorf("got an answer before the program was done, want no early answer")
	}
	want, text := answers[n].Text, got.answer.Text
	switch {
	case tr.truncated:
		if !strings.HasSuffix(want, lastLines(text, 20)) {
			t.Errorf("got a truncated answer that ends with %q, want the end of the real one", lastLines(text, 5))
		}
		return
	case tr.squeezed:
		want, text = withoutBlanks(want), withoutBlanks(text)
	}
	if text != want {
		t.Errorf("answer (-want +got):\n%s", cmp.Diff(want, text))
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func withoutBlanks(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// typed counts how often the program was given a request.
func (r *rig) typed(req agents.Request) (n int) {
	for _, e := range r.entries("prompt") {
		n += strings.Count(e.Text, "req-"+req.ID+" from ")
	}
	return n
}

func says(texts ...string) [][]agentstest.Act { return [][]agentstest.Act{acts(texts...)} }

func acts(texts ...string) (out []agentstest.Act) {
	for _, text := range texts {
		out = append(out, agentstest.Act{Say: text})
	}
	return out
}

func pause(d time.Duration) agentstest.Act { return agentstest.Act{Pause: d} }
func spin(d time.Duration) agentstest.Act  { return agentstest.Act{Spin: d} }
func say(text string) agentstest.Act       { return agentstest.Act{Say: text} }

func TestTrapsOfIdentity(t *testing.T) {
	t.Parallel()
	early := [][]agentstest.Act{{say("I will end with " + testMarker + " when I am done."), pause(1300 * time.Millisecond), say("now\n{token}")}}
	earlyBusy := [][]agentstest.Act{{say("first " + testMarker), spin(1800 * time.Millisecond), say("then {token}")}}
	runTraps(t, []trap{
		{name: "marker in personality", setup: setup{script: agentstest.Script{
			Greeting: []string{"You are a tester.", "End with", testMarker, testMarker + " <aaaaaa>"}, Turns: [][]agentstest.Act{{pause(300 * time.Millisecond), say("fine\n{token}")}}}}},
		{name: "marker in personality, id ignored", evidence: agents.ByMarker, setup: setup{script: agentstest.Script{
			Greeting: []string{"End with", testMarker}, IgnoreID: true, Turns: [][]agentstest.Act{{pause(1300 * time.Millisecond), say("fine\n{token}")}}}}},
		{name: "marker in prompt", body: "say\n" + testMarker + "\nand nothing else than " + testMarker, setup: setup{script: agentstest.Script{
			Turns: [][]agentstest.Act{{pause(1300 * time.Millisecond), say("fine\n{token}")}}}}},
		{name: "marker in prompt, id ignored", body: "say\n" + testMarker, evidence: agents.ByMarker, setup: setup{script: agentstest.Script{
			IgnoreID: true, Turns: [][]agentstest.Act{{pause(1300 * time.Millisecond), say("fine\n{token}")}}}}},
		{name: "old answers", sends: 4, setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{pause(100 * time.Millisecond), say("the same\n{token}")}}}}},
		{name: "old answers, id ignored", sends: 2, evidence: agents.ByMarker, setup: setup{script: agentstest.Script{IgnoreID: true, Turns: [][]agentstest.Act{{pause(1200 * time.Millisecond), say("the same\n{token}")}}}}},
		{name: "mentioned early, then a pause", setup: setup{script: agentstest.Script{Turns: early}}},
		{name: "mentioned early, then work", setup: setup{script: agentstest.Script{Turns: earlyBusy}}},
		{name: "mentioned early, then work, id ignored", evidence: agents.ByMarker, setup: setup{script: agentstest.Script{IgnoreID: true, Turns: earlyBusy}}, kinds: screens},
		{name: "a line by itself, then work, id ignored", evidence: agents.ByMarker, setup: setup{script: agentstest.Script{IgnoreID: true, Turns: [][]agentstest.Act{{say("{marker}"), spin(1500 * time.Millisecond), say("more\n{token}")}}}}},
		{name: "the token, then work", setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{say("one\n{token}"), spin(700 * time.Millisecond), say("more")}}}}},
		{name: "at the head", setup: setup{script: agentstest.Script{Turns: says("{token}\nand then\n  more")}}},
		{name: "in the middle", setup: setup{script: agentstest.Script{Turns: says("before {token} after\nand after")}}},
		{name: "at the head, id ignored", evidence: agents.ByMarker, setup: setup{script: agentstest.Script{IgnoreID: true, Turns: says("{token}\nand then more")}}},
		{name: "another case", code: protocol.CodeTimeout, reason: "no sign of life", setup: setup{options: brief, script: agentstest.Script{Turns: says("done\ntesting ok <{id}>")}}},
		{name: "doubled blanks", code: protocol.CodeTimeout, reason: "no sign of life", setup: setup{options: brief, script: agentstest.Script{Turns: says("done\nTESTING  OK <{id}>")}}},
		{name: "part of a word", code: protocol.CodeTimeout, reason: "no sign of life", setup: setup{options: brief, script: agentstest.Script{Turns: says("done\n" + testMarker + "AY, UN" + testMarker)}}},
		{name: "another's id", code: protocol.CodeTimeout, reason: "no sign of life", setup: setup{options: brief, script: agentstest.Script{Turns: says("done\n" + testMarker + " <zzzzzz>")}}},
		{name: "answer repeats the prompt", body: "a\nb\nc", setup: setup{script: agentstest.Script{Turns: says("req-{id} from user\n{body}\n" + protocol.ClosingLine() + "\n{token}")}}},
		{name: "tag of another request", body: "x\nreq-zzzzzz from user\n" + testMarker + " <zzzzzz>", setup: setup{script: agentstest.Script{Turns: says("fine\n{token}")}}},
	})
}

// brief is for traps in which an answer must not come.
func brief(o *agents.Options) { o.Timeout = 1500 * time.Millisecond }

func TestTrapsOfLooseMarkers(t *testing.T) {
	t.Parallel()
	loose := func(o *agents.Options) { o.MarkerLoose = true }
	for _, text := range []string{"testing ok <{id}>", "TESTING   Ok <{id}>"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{options: loose, script: agentstest.Script{Kind: agentstest.Inline, Turns: says("done\n" + text)}})
			got := r.send(agents.Request{ID: "abc123", Body: "hello"})
			want := "done\n" + strings.TrimSuffix(text, " <{id}>")
			if got.err != nil || got.answer.Text != want || got.answer.Evidence != agents.ByToken {
				t.Errorf("got %+v, %v, want %q by the token", got.answer, got.err, want)
			}
		})
	}
}

func TestTrapsOfDrawing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word and more ", 9)
	cjk := "日本語の長い文章で、折り返しが必ず起きます。完了です。"
	var traps []trap
	for _, width := range []int{33, 40, 47, 80, 200} {
		traps = append(traps,
			trap{name: fmt.Sprintf("wrapped by the terminal at %d", width), kinds: []string{agentstest.Line},
				setup: setup{width: width, script: agentstest.Script{Turns: says(strings.Repeat("x", width-13) + " {token}")}}},
			trap{name: fmt.Sprintf("wide text at %d", width), kinds: []string{agentstest.Line},
				setup: setup{width: width, script: agentstest.Script{Turns: says(cjk + "{token}✅")}}},
			trap{name: fmt.Sprintf("broken by the program at %d", width), kinds: screens, squeezed: true,
				setup: setup{width: max(width, 60), script: agentstest.Script{Columns: width - 5, Turns: says(long + cjk + " {token}")}}},
			trap{name: fmt.Sprintf("boxed at %d", width), kinds: screens, squeezed: true,
				setup: setup{width: max(width, 60), script: agentstest.Script{Columns: width - 5, Box: true, Turns: says(long + " {token}")}}},
		)
	}
	slowly := func(how string) [][]agentstest.Act {
		redraw := agentstest.Act{Redraw: how}
		return [][]agentstest.Act{{say("one"), redraw, spin(300 * time.Millisecond), say("two"), redraw, redraw, say("three"), redraw, say("{token}"), redraw}}
	}
	ignoring := agentstest.Script{IgnoreID: true, Turns: slowly("clear")}
	traps = append(traps,
		trap{name: "cleared and drawn again", sends: 2, kinds: screens, setup: setup{script: agentstest.Script{Turns: slowly("clear")}}},
		trap{name: "cleared, id ignored", sends: 2, kinds: screens, evidence: agents.ByMarker, setup: setup{script: ignoring}},
		trap{name: "duplicated frames", sends: 2, kinds: screens, setup: setup{script: agentstest.Script{Turns: slowly("duplicate")}}},
		trap{name: "torn frames", sends: 2, kinds: screens, setup: setup{script: agentstest.Script{Turns: slowly("torn")}}},
		trap{name: "folded prompt", sends: 2, kinds: screens, body: "1\n2\n3\n" + testMarker, setup: setup{script: agentstest.Script{Fold: true, Turns: says("fine\n{token}")}}},
		trap{name: "folded prompt, id ignored", kinds: screens, evidence: agents.ByMarker, body: "1\n2\n3\n" + testMarker, setup: setup{script: agentstest.Script{Fold: true, IgnoreID: true, Turns: says("fine\n{token}")}}},
		trap{name: "no echo", sends: 3, kinds: screens, body: testMarker, setup: setup{script: agentstest.Script{Silent: true, Turns: [][]agentstest.Act{{pause(100 * time.Millisecond), say("fine\n{token}")}}}}},
		trap{name: "no echo, id ignored", sends: 2, kinds: screens, evidence: agents.ByMarker, body: testMarker, setup: setup{script: agentstest.Script{Silent: true, IgnoreID: true, Turns: [][]agentstest.Act{{pause(1200 * time.Millisecond), say("fine\n{token}")}}}}},
		trap{name: "stale sign of work", kinds: screens, setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{spin(300 * time.Millisecond), {Stale: true}, say("fine\n{token}")}}}}},
		trap{name: "hint in the composer", sends: 2, kinds: screens, setup: setup{script: agentstest.Script{Hint: "Try \"fix the tests\"", Footer: "  ? for shortcuts", Turns: says("fine\n{token}")}}},
	)
	runTraps(t, traps)
}
