package agents_test

import (
	"strings"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

func TestTrapsOfSize(t *testing.T) {
	t.Parallel()
	numbered := func(n int) [][]agentstest.Act { return [][]agentstest.Act{{{Lines: n}, say("{token}")}} }
	plain := []string{agentstest.Inline, agentstest.Line}
	runTraps(t, []trap{
		{name: "no line", setup: setup{script: agentstest.Script{Turns: says("{token}")}}},
		{name: "one line", setup: setup{script: agentstest.Script{Turns: says("one\n{token}")}}},
		{name: "5,000 lines", kinds: plain, setup: setup{script: agentstest.Script{Turns: numbered(5000)}}},
		{name: "5,000 lines, no echo", kinds: plain[:1], setup: setup{script: agentstest.Script{Silent: true, Turns: numbered(5000)}}},
		{name: "longer than the history", kinds: plain, truncated: true, setup: setup{history: 300, script: agentstest.Script{Turns: [][]agentstest.Act{{{Lines: 10}, pause(700 * time.Millisecond), {Lines: 800}, say("{token}")}}}}},
		{name: "longer than the alternate screen", kinds: []string{agentstest.Alternate}, truncated: true, setup: setup{script: agentstest.Script{Turns: [][]agentstest.Act{{{Lines: 5}, pause(300 * time.Millisecond), {Lines: 100}, say("{token}")}}}}},
		{name: "on a tall alternate screen", kinds: []string{agentstest.Alternate}, setup: setup{width: 160, height: 300, script: agentstest.Script{Turns: numbered(100)}}},
		{name: "flood before the answer", kinds: plain, setup: setup{script: agentstest.Script{Turns: numbered(900)}}, sends: 2},
	})
}

// everyCharacter has each value up to 255, and what a terminal would obey.
func everyCharacter() string {
	var b strings.Builder
	for r := rune(0); r < 256; r++ {
		b.WriteRune(r)
	}
	return b.String() + "\x1b[201~\u009b201~日本語 👩‍👩‍👧 é"
}

func TestPromptsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	megabyte := strings.Repeat("0123456789 abcdefghijklmnopqrstuvwxyz 日本語 line\n", 1<<20/50)[:1<<20-300]
	for _, c := range []struct {
		name, body string
		want       string // where it differs from the body
	}{
		{name: "dash", body: "-n foo -- bar"},
		{name: "slash", body: "/help"},
		{name: "bang", body: "!ls"},
		{name: "hash", body: "# remember"},
		{name: "at", body: "@file.go"},
		{name: "semicolon", body: "a; b;"},
		{name: "backslash", body: `a \n \; b\`},
		{name: "quotes", body: `"$(id)" '#{pane_id}' %0 ` + "`id`"},
		{name: "paste end", body: "a\x1b[201~\rb", want: "a[201~\nb"},
		{name: "line ends", body: "a\r\nb\rc\n\n", want: "a\nb\nc"},
		{name: "tabs and blanks", body: "\tif x {\n\t\treturn\n\t}  \n  end"},
		{name: "every character", body: everyCharacter(), want: cleaned(everyCharacter())},
		{name: "megabyte", body: strings.ToValidUTF8(megabyte, "")},
	} {
		for _, kind := range screens {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, setup{script: agentstest.Script{Kind: kind, Turns: says("fine\n{token}")}})
				got := r.send(agents.Request{ID: "abc123", Body: c.body})
				if got.err != nil || got.answer.Text != "fine\n"+testMarker {
					t.Fatalf("got %+v, %v, want the answer\n%s", got.answer, got.err, r.screen())
				}
				want := c.want
				if want == "" {
					want = c.body
				}
				prompts := r.entries("prompt")
				full := protocol.Tag("abc123", "user") + "\n" + strings.TrimRight(want, "\n") + "\n\n" + protocol.ClosingLine()
				if len(prompts) != 1 || prompts[0].Text != full {
					t.Errorf("got %d prompts of %d bytes, want one of %d bytes", len(prompts), len(prompts[0].Text), len(full))
				}
			})
		}
	}
}

func cleaned(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, text)
}

func TestLineProgramsGetOneLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Line, Turns: says("fine\n{token}")}})
	head, tail := protocol.Tag("abc123", "user")+" ", " "+protocol.ClosingLine()
	most := strings.Repeat("x", 4095-len(head)-len(tail))
	got := r.send(agents.Request{ID: "abc123", Body: most})
	if got.err != nil || got.answer.Text != "fine\n"+testMarker {
		t.Fatalf("got %+v, %v, want the answer", got.answer, got.err)
	}
	if prompts := r.entries("prompt"); len(prompts) != 1 || prompts[0].Text != head+most+tail {
		t.Errorf("got %d bytes, want the whole line of 4095", len(prompts[0].Text))
	}
	got = r.send(agents.Request{ID: "abc124", Body: most + "x"})
	if f := got.failure(); f == nil || f.Code != protocol.CodeTooLarge || len(got.steps) != 0 {
		t.Errorf("got %v after steps %v, want %s and nothing typed", got.err, got.steps, protocol.CodeTooLarge)
	}
	got = r.send(agents.Request{ID: "abc125", Body: "one\n\ttwo\n\nthree"})
	if prompts := r.entries("prompt"); got.err != nil || len(prompts) != 2 || prompts[1].Text != protocol.Tag("abc125", "user")+" one  two three"+tail {
		t.Errorf("got %v and prompts %v, want the lines joined", got.err, prompts)
	}
}

func TestBadPromptsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline}, options: func(o *agents.Options) { o.Engine.MaxPrompt = 1000 }})
	for _, c := range []struct {
		name string
		req  agents.Request
		code protocol.Code
	}{
		{"empty", agents.Request{ID: "abc123", Body: " \n\t"}, protocol.CodeInvalid},
		{"only controls", agents.Request{ID: "abc123", Body: "\x00\x1b"}, protocol.CodeInvalid},
		{"invalid UTF-8", agents.Request{ID: "abc123", Body: "a\xffb"}, protocol.CodeInvalid},
		{"oversize", agents.Request{ID: "abc123", Body: strings.Repeat("x", 1000)}, protocol.CodeTooLarge},
		{"bad id", agents.Request{ID: "ABC <1>", Body: "x"}, protocol.CodeInvalid},
	} {
		got := r.send(c.req)
		if f := got.failure(); f == nil || f.Code != c.code || f.Again || len(got.steps) != 0 {
			t.Errorf("%s: got %v (%s) after %v, want %s and nothing typed", c.name, got.err, protocol.CodeOf(got.err), got.steps, c.code)
		}
	}
}
