package agents_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// along runs an exchange that never ends and lets a test read along.
func along(t *testing.T, s setup) (*rig, <-chan protocol.Writing) {
	t.Helper()
	writings := make(chan protocol.Writing, 10_000)
	s.options = func(o *agents.Options) {
		o.Timeout = time.Minute
		o.OnWriting = func(w protocol.Writing) { writings <- w }
	}
	r := newRig(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan attempt, 1)
	go func() { ended <- r.sendIn(ctx, agents.Request{ID: "abc123", Body: "write"}) }()
	t.Cleanup(func() { cancel(); <-ended })
	return r, writings
}

func waitWriting(t *testing.T, r *rig, writings <-chan protocol.Writing, want func(string) bool) protocol.Writing {
	t.Helper()
	limit := time.After(time.Minute)
	last := protocol.Writing{}
	for {
		select {
		case last = <-writings:
			if strings.Contains(last.Text, "abc123") || strings.Contains(last.Text, testMarker) {
				t.Errorf("got %q, want neither the token nor the marker in it", last.Text)
			}
			if want(last.Text) {
				return last
			}
		case <-limit:
			t.Fatalf("got %q at last, want more\n%s", last.Text, r.screen())
		}
	}
}

func TestScreenIsReadAlong(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r, writings := along(t, setup{script: agentstest.Script{Kind: kind, Turns: [][]agentstest.Act{{
				{Say: "first"}, {Spin: time.Second}, {Say: "second\n" + testMarker + " <abc1"}, {Spin: 10 * time.Minute},
			}}}})
			waitWriting(t, r, writings, func(text string) bool { return text == "first" })
			got := waitWriting(t, r, writings, func(text string) bool { return text == "first\nsecond" })
			if got.Exact || got.Turn != "abc123" || got.Agent != "agent" {
				t.Errorf("got %+v, want it as rendered, of this turn", got)
			}
		})
	}
}

// An answer is followed when its beginning has scrolled out of the usual look.
func TestLongAnswerIsReadAlong(t *testing.T) {
	t.Parallel()
	r, writings := along(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{
		{Say: "beginning"}, {Spin: time.Second}, {Lines: 900}, {Say: "end"}, {Spin: 10 * time.Minute},
	}}}})
	waitWriting(t, r, writings, func(text string) bool {
		return strings.HasPrefix(text, "beginning\n") && strings.HasSuffix(text, "\nend") && strings.Count(text, "\n") == 901
	})
}

// Where the channel tells the words, the screen is not asked.
func TestChannelIsReadAlong(t *testing.T) {
	t.Parallel()
	r, writings := along(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{{{Spin: 10 * time.Minute}, {Say: "never"}}}}})
	tell := func(offset int, text string) {
		t.Helper()
		report := protocol.Report{Event: protocol.ReportPart, Req: "abc123", Text: text, Offset: offset, Time: time.Now()}
		if err := agents.Append(r.options.Spool, report); err != nil {
			t.Fatal(err)
		}
	}
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return len(r.entries("prompt")) == 1 })
	tell(0, "いろは")
	got := waitWriting(t, r, writings, func(text string) bool { return text == "いろは" })
	if !got.Exact {
		t.Error("got it as rendered, want the channel's own words")
	}
	tell(1000, "a part whose beginning is not known")
	tell(3, "ROHA\n"+testMarker+" <abc")
	waitWriting(t, r, writings, func(text string) bool { return text == "いROHA" })
	tell(3, "roha "+testMarker+" <abc123>, as they say, TEST")
	limit := time.After(time.Minute)
	select {
	case w := <-writings:
		if want := "いroha " + testMarker + ", as they say,"; w.Text != want {
			t.Errorf("got %q, want %q", w.Text, want)
		}
	case <-limit:
		t.Error("got nothing, want what was written anew")
	}
}
