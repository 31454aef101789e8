package engines

import (
	"strings"
	"testing"

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
