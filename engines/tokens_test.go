package engines

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// What the model says it took for a task is what the task shows, to the token,
// also for a turn with several answers of the model.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, p := range append(programs(), chat()) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, strings.Replace(one(), "pane_index: 0", "pane_index: 0, approvals: allow", 1))
			took := modeltest.Took{Input: 1000, CacheWrite: 200, CacheRead: 30, Output: 4}
			var answers atomic.Int64
			count := func() modeltest.Took {
				answers.Add(1)
				return took
			}
			model.on("数え", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				if p.shell != nil && call.Result() == "" {
					tool, input := p.shell("echo counted")
					return modeltest.Turn{Tool: &modeltest.Tool{Name: tool, Input: input}, Took: count()}
				}
				return modeltest.Turn{Text: "数えました。\n" + protocol.Token(markerIn(call), asked.Req), Took: count()}
			})
			c.model.Follow(func(call modeltest.Call) modeltest.Turn {
				if p.name == "chat" {
					return modeltest.Turn{Text: "数えました。", Took: count()}
				}
				return model.script(call)
			})
			c.up()
			c.send(specialist, "数えてください。")
			want := protocol.Tokens{}
			for range answers.Load() {
				want = want.Plus(p.counts(took))
			}
			c.wantTokens(want)
			t.Logf("%s: %d calls of the model; the task took %+v, the agent today %+v", p.name, len(c.model.Calls()), want, *c.status(specialist).TokensToday)
		})
	}
}

// wantTokens checks what the one task took. It may be known a moment after the
// answer.
func (c *company) wantTokens(want protocol.Tokens) {
	c.t.Helper()
	var got *protocol.Tokens
	c.wait("tokens of the task", func() bool {
		var list struct{ Tasks []protocol.Task }
		if err := json.Unmarshal([]byte(c.must("tasks", "--json")), &list); err != nil || len(list.Tasks) != 1 {
			c.t.Fatalf("got %+v, %v, want the one task", list, err)
		}
		got = list.Tasks[0].Tokens
		return got != nil && got.Spent() >= want.Spent()
	})
	if diff := cmp.Diff(&want, got); diff != "" {
		c.t.Errorf("the task's tokens (-want +got):\n%s", diff)
	}
}
