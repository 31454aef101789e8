package engines

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// A person's draft holds a prompt of ours up, and is not touched: it reaches
// the model as it was written, and ours follows it, whole.
func TestDraftWaits(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			const draft = "書きかけの文、まだ"
			c.typeIn(draft)
			waits := func() bool {
				s := c.status(specialist)
				return s.State == protocol.Waiting && strings.Contains(s.Reason, "composer")
			}
			c.wait("agent that waits for the person", waits)
			model.say("待って", "待ちました。")
			done := c.background(specialist, "待っていた依頼。")
			c.wait("queued prompt", func() bool { return c.status(specialist).Queue > 0 })
			c.press("C-a") // to its beginning, where it looks like a hint
			c.wait("agent that still waits", waits)
			if got := c.screen(0); !strings.Contains(got, draft) || len(received(c.model)) != 0 {
				t.Errorf("got %d prompts of ours and a screen without the draft, want it untouched\n%s", len(received(c.model)), got)
			}
			c.press("C-e")
			c.enter(func() bool { return len(c.hops("task", draft)) > 0 })
			if r := c.finish(done); r.out != "待ちました。\n"+marker+"\n" {
				t.Errorf("after the draft was sent: got %q, want the answer\n%s", r.out, r.err)
			}
		})
	}
}

// A draft is one too where it is more than its row: wrapped over several, or a
// paste that the program shows as a placeholder. It is waited for and stays
// whole, and the delivery goes on by itself once the person clears or sends it.
func TestLargeDraftsWait(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			model.say("待って", "待ちました。")
			held := func(body string) chan result {
				t.Helper()
				c.wait("agent that waits for the person", func() bool {
					s := c.status(specialist)
					return s.State == protocol.Waiting && strings.Contains(s.Reason, "composer")
				})
				before := len(received(c.model))
				done := c.background(specialist, body)
				c.wait("queued prompt", func() bool { return c.status(specialist).Queue > 0 })
				c.rest()
				if s := c.status(specialist); s.State != protocol.Waiting || len(received(c.model)) != before {
					t.Errorf("%s: got %s (%s) and a prompt at the model, want it to wait\n%s", body, s.State, s.Reason, c.screen(0))
				}
				return done
			}
			answered := func(done chan result) {
				t.Helper()
				if r := c.finish(done); r.out != "待ちました。\n"+marker+"\n" {
					t.Errorf("got %q, want the answer\n%s", r.out, r.err)
				}
			}

			const end = "ここまで"
			c.typeUntil(strings.Repeat("折り返す長い下書き", 40)+end, end)
			done := held("待っていた一。")
			c.press("C-c") // clears it in each of them
			answered(done)

			var lines []string
			for i := range 40 {
				lines = append(lines, fmt.Sprintf("貼り付けた%d行目です。長い文が続きます。", i))
			}
			c.paste(strings.Join(lines, "\n"))
			done = held("待っていた二。")
			c.enter(func() bool { return len(c.hops("task", strings.Join(lines, "\n"))) > 0 })
			answered(done)
			if n := len(received(c.model)); n != 2 {
				t.Errorf("got %d prompts of ours at the model, want 2", n)
			}
		})
	}
}

// paste pastes a text into the agent's pane as a person's terminal does.
func (c *company) paste(text string) {
	c.t.Helper()
	c.tmux("set-buffer", "-b", "person", text)
	c.tmux("paste-buffer", "-p", "-r", "-d", "-b", "person", "-t", "=test:0.0")
}

// rest waits until the pane has shown the same for two seconds, in which a
// prompt would have been typed.
func (c *company) rest() {
	c.t.Helper()
	last, since := "", time.Now()
	c.wait("screen that rests", func() bool {
		if now := c.screen(0); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
}
