package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator-cc/api"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// A tool call waits in the inbox; approved it runs, denied the model is told.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		if p.shell == nil {
			continue
		}
		for _, verdict := range []string{"approve", "deny"} {
			t.Run(p.name+"/"+verdict, func(t *testing.T) {
				t.Parallel()
				var model play
				c := newCompany(t, p, model.script, one())
				c.up()
				proof := filepath.Join(c.project, "proof")
				tool, input := p.shell("echo run > " + proof)
				model.on("実行", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
					if call.Result() == "" {
						return modeltest.Turn{Tool: &modeltest.Tool{Name: tool, Input: input}}
					}
					return modeltest.Turn{Text: "終わりました。\n" + protocol.Token(markerIn(call), asked.Req)}
				})
				done := c.background(specialist, "実行してください。")
				item := c.confirmation()
				if item.Agent != specialist || !strings.Contains(item.Text, p.asks) || !strings.Contains(item.Text, proof) {
					t.Errorf("got %s asking %q, want %s, %s and its arguments", item.Agent, item.Text, specialist, p.asks)
				}
				if _, err := os.Stat(proof); err == nil {
					t.Error("got a command that ran before anybody decided")
				}
				c.must(verdict, item.ID)
				if r := c.finish(done); r.out != "終わりました。\n"+marker+"\n" {
					t.Errorf("got %q, want the answer\n%s", r.out, r.err)
				}
				if _, err := os.Stat(proof); (err == nil) != (verdict == "approve") {
					t.Errorf("after %s: got %v for the command's file", verdict, err)
				}
			})
		}
	}
}

// confirmation waits for the one thing in the inbox that asks for a tool.
func (c *company) confirmation() (found protocol.InboxItem) {
	c.t.Helper()
	c.wait("tool call in the inbox", func() bool {
		var list struct{ Inbox []protocol.InboxItem }
		if err := json.Unmarshal([]byte(c.must("inbox", "--json")), &list); err != nil {
			c.t.Fatal(err)
		}
		for _, item := range list.Inbox {
			if item.Kind == api.KindConfirmation {
				found = item
				return true
			}
		}
		return false
	})
	return found
}
