package engines

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// member makes Claude Code one of a subscription, which alone has quotas.
func (p program) member() program {
	prepare := p.prepare
	p.prepare = func(c *company) map[string]string {
		env := prepare(c)
		delete(env, "ANTHROPIC_API_KEY")
		env["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-oat01-loopback"
		return env
	}
	return p
}

// limited waits until an agent stands at a limit, and wants that said wherever
// people look.
func (c *company) limited(word string) protocol.AgentStatus {
	c.t.Helper()
	var s protocol.AgentStatus
	c.wait("limit", func() bool { s = c.status(specialist); return s.State == protocol.Limited })
	if !strings.Contains(s.Reason, word) {
		c.t.Errorf("got reason %q, want one with %q", s.Reason, word)
	}
	for _, verb := range []string{"status", "inbox"} {
		if out := c.must(verb); !strings.Contains(out, "limited") || verb == "inbox" && !strings.Contains(out, "resume "+specialist) {
			c.t.Errorf("%s: got %q, want the limit", verb, out)
		}
	}
	c.wait("limit on the border", func() bool {
		return strings.Contains(c.tmux("list-panes", "-a", "-F", "#{E:pane-border-format}"), "limited")
	})
	return s
}

// walls are how each program meets a limit that ends after some seconds, and
// one that does not.
type walls struct {
	program program
	short   func() modeltest.Turn
	most    time.Duration // until the short one is over
	long    func() modeltest.Turn
	word    string // what the program says of it
}

func wallsOf() []walls {
	usedUp := func(format string, in time.Duration) func() modeltest.Turn {
		return func() modeltest.Turn { return modeltest.UsedUp(format, time.Now().Add(in)) }
	}
	stop := func(p program, dialog, keys string) program {
		p.settings += "    answers: [{dialog: '" + dialog + "', keys: [" + keys + "]}]\n"
		return p
	}
	return []walls{
		// Both leave the seconds out, so that the minute that runs is the soonest end.
		{stop(claude().member(), "Stop and wait for limit to reset", "Enter"), usedUp("anthropic", 0), time.Minute, usedUp("anthropic", 3*time.Hour), "session limit"},
		{codex(), usedUp("responses", 0), time.Minute, usedUp("responses", 3*time.Hour), "usage limit"},
		{stop(gemini(), "Usage limit reached", "Down, Enter"), usedUp("gemini", 10*time.Second), 10 * time.Second, usedUp("gemini", 3*time.Hour), "Quota exceeded"},
		{opencode(), func() modeltest.Turn { return modeltest.Limited(12) }, 12 * time.Second, func() modeltest.Turn { return modeltest.Limited(3600) }, "Rate limit reached"},
	}
}

// A limit holds an agent's work until it ends; then the work goes on by itself.
// A person may have it tried at once. Either way each request has one answer.
func TestWall(t *testing.T) {
	t.Parallel()
	for _, w := range wallsOf() {
		t.Run(w.program.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, w.program, model.script, one())
			c.up()
			asked := 0
			model.on("壁です", func(call modeltest.Call, asking protocol.Prompt) modeltest.Turn {
				if asked++; asked == 1 {
					return w.short()
				}
				return modeltest.Turn{Text: "越えました。\n" + protocol.Token(markerIn(call), asking.Req)}
			})
			model.say("後ろ", "続きです。")
			first := c.background(specialist, "壁です。")
			s := c.limited(w.word)
			second := c.background(specialist, "後ろの依頼。")
			if left := time.Until(s.Until); left <= 0 || left > w.most {
				t.Errorf("got a limit until %s, in %s, want within %s", s.Until, left, w.most)
			}
			c.wait("queued request", func() bool { return c.status(specialist).Queue > 0 })
			c.answeredOnce(first, "越えました。")
			if over := time.Now(); over.Before(s.Until) {
				t.Errorf("got the answer at %s, want none before %s", over, s.Until)
			}
			c.answeredOnce(second, "続きです。")

			var lifted atomic.Bool
			model.on("長い壁", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				if !lifted.Load() {
					return w.long()
				}
				return modeltest.Turn{Text: "待ちません。\n" + protocol.Token(markerIn(call), asked.Req)}
			})
			third := c.background(specialist, "長い壁です。")
			if s := c.limited(w.word); time.Until(s.Until) < 50*time.Minute {
				t.Errorf("got a limit until %s, want hours", s.Until)
			}
			lifted.Store(true)
			c.must("resume", specialist)
			c.answeredOnce(third, "待ちません。")
			if n := c.results(); n != 3 {
				t.Errorf("got %d results in the journal, want 3", n)
			}
		})
	}
}

// Where a program asks at a limit what to do, a person is asked, with the limit
// and its end; the work goes on after the answer.
func TestWallDialog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		program      program
		format, word string
		keys         []string
	}{
		{claude().member(), "anthropic", "You've hit your session limit · resets", []string{"Enter"}},
		{gemini(), "gemini", "Usage limit reached for gemini-loopback. Access resets at", []string{"Down", "Enter"}},
	} {
		t.Run(tt.program.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, tt.program, model.script, one())
			c.up()
			var lifted atomic.Bool
			model.on("尋ねる", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				if !lifted.Load() {
					return modeltest.UsedUp(tt.format, time.Now().Add(3*time.Hour))
				}
				return modeltest.Turn{Text: "越えました。\n" + protocol.Token(markerIn(call), asked.Req)}
			})
			done := c.background(specialist, "尋ねる壁です。")
			args := []string{"answer", specialist, "--dialog", c.dialog()}
			for _, key := range tt.keys {
				args = append(args, "--key", key)
			}
			if out := c.must("inbox"); !strings.Contains(out, "a dialog waits for an answer at a limit: "+tt.word) || !strings.Contains(out, "--dialog "+args[3]) {
				t.Errorf("inbox: got %q, want the limit and how to answer", out)
			}
			c.must(args...)
			c.limited("")
			lifted.Store(true)
			c.must("resume", specialist)
			c.answeredOnce(done, "越えました。")
		})
	}
}

// answeredOnce wants the end of a request in the background to be an answer.
func (c *company) answeredOnce(done chan result, text string) {
	c.t.Helper()
	if r := c.finish(done); r.code != 0 || r.out != text+"\n"+marker+"\n" {
		c.t.Fatalf("got exit %d and %q, want %q\n%s", r.code, r.out, text, r.err)
	}
}

// results counts the answers to the user.
func (c *company) results() (n int) {
	c.t.Helper()
	for _, h := range c.journal() {
		if h.To == protocol.User && h.Type == "result" {
			n++
		}
	}
	return n
}

// A program that waits for a rate limit by itself is said to, and goes on. It
// shows so, or tells.
func TestOwnWait(t *testing.T) {
	t.Parallel()
	for _, p := range []program{claude(), codex()} { // OpenCode's is in TestWall
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			asked := 0
			model.on("待つ", func(call modeltest.Call, asking protocol.Prompt) modeltest.Turn {
				if asked++; asked == 1 {
					return modeltest.Limited(15)
				}
				return modeltest.Turn{Text: "待ちました。\n" + protocol.Token(markerIn(call), asking.Req)}
			})
			done := c.background(specialist, "待つだけ。")
			c.limited("it waits by itself")
			c.answeredOnce(done, "待ちました。")
			if n := len(received(c.model)); n != 1 {
				t.Errorf("got %d prompts at the model, want the turn to go on", n)
			}
		})
	}
}
