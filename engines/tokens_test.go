package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
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

// What a program's own subagents take is the task's too, once.
func TestTokensOfSubagents(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		if p.helper == nil {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			const errand = "下請けの仕事をしてください。"
			var mains, subs atomic.Int64
			script := func(call modeltest.Call) modeltest.Turn {
				asked, ours := request(call)
				switch {
				case !ours && len(call.Tools) > 0 && call.Said("user", errand):
					subs.Add(1)
					turn := modeltest.Turn{Text: "下請けが済みました。", Took: modeltest.Took{Input: 70, Output: 7}}
					if p.report != nil {
						tool, input := p.report(turn.Text)
						turn.Text, turn.Tool = "", &modeltest.Tool{Name: tool, Input: input}
					}
					return turn
				case !ours:
					return modeltest.Turn{Text: "ok"}
				case !call.Said("tool", "下請けが済みました。") && mains.Load() < 4:
					mains.Add(1)
					tool, input := p.helper(errand, call.Result())
					return modeltest.Turn{Tool: &modeltest.Tool{Name: tool, Input: input}, Took: modeltest.Took{Input: 1000, Output: 4}}
				}
				mains.Add(1)
				return modeltest.Turn{Text: "全部済みました。\n" + protocol.Token(markerIn(call), asked.Req), Took: modeltest.Took{Input: 1000, Output: 4}}
			}
			c := newCompany(t, p, script, strings.Replace(one(), "pane_index: 0", "pane_index: 0, approvals: allow", 1))
			c.up()
			c.send(specialist, "下請けに任せてください。")
			if subs.Load() == 0 {
				t.Fatalf("got no call of a subagent")
			}
			m, s := mains.Load(), subs.Load()
			c.wantTokens(protocol.Tokens{Input: 1000*m + 70*s, Output: 4*m + 7*s})
			t.Logf("%s: %d calls of its own, %d of a subagent", p.name, m, s)
		})
	}
}

// A limit that a real program's tokens reach holds what would come next and asks
// a person; the running turn finishes, and the work goes on once the person says so.
func TestTokenLimits(t *testing.T) {
	t.Parallel()
	limits := map[string]string{"claude": "task", "codex": "agent", "gemini": "day", "opencode": "agent"}
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			limit := limits[p.name]
			c.rewrite("limits: {timeout: 120s", "limits: {timeout: 120s, tokens: {"+limit+": 1000}")
			model.on("使う", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				text := "使いました。"
				if limit == "task" {
					text = "@nobody: 手伝って。" // whom nobody knows: the task goes on with being told so
				}
				return modeltest.Turn{Text: text + "\n" + protocol.Token(markerIn(call), asked.Req), Took: modeltest.Took{Input: 900, Output: 200}}
			})
			model.say("", "続きました。")
			c.up()
			body := "続きをしてください。"
			if limit == "task" {
				body = "使う仕事です。"
			} else {
				c.send(specialist, "使う仕事です。")
			}
			done := c.background(specialist, body)
			item := c.asked(protocol.InboxTokens)
			if !strings.Contains(item.Text, "took 1.1k tokens of 1k") {
				t.Errorf("got %+v in the inbox, want what was taken and the limit", item)
			}
			if s := c.status(specialist); limit != "task" && s.State != protocol.Paused {
				t.Errorf("got %s (%s), want the agent paused", s.State, s.Reason)
			}
			if n := len(received(c.model)); n != 1 {
				t.Errorf("got %d prompts at the model, want the one before the limit", n)
			}
			if limit == "agent" {
				c.must("resume", specialist)
			} else {
				c.must("approve", item.ID)
			}
			if r := c.finish(done); r.out != "続きました。\n"+marker+"\n" {
				t.Errorf("after the person let it go on: got exit %d and %q, want the answer\n%s", r.code, r.out, r.err)
			}
		})
	}
}

// rewrite changes the company's configuration, before it is up.
func (c *company) rewrite(old, new string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.project, "config", "cc-cluster.yaml"))
	if err != nil || !strings.Contains(string(text), old) {
		c.t.Fatalf("got %q (%v), want %q in it", text, err, old)
	}
	c.write("project/config/cc-cluster.yaml", strings.Replace(string(text), old, new, 1))
}
