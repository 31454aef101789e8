package engines

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// The model of a real program uses the company's own tools, without asking
// anybody: it looks who is there, delegates, and gets the answer back.
func TestCompanyTools(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, fmt.Sprintf(
				"agents:\n  - {name: grand_boss, role: grand_boss, marker: GRAND BOSS OK, pane_index: 0}\n"+
					"  - {name: %s, role: specialist_testing, marker: %q, pane_index: 1, engine: builtin}\n", specialist, marker))
			model.on("道具", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				result := call.Result()
				switch {
				case result == "":
					return modeltest.Turn{Tool: &modeltest.Tool{Name: toolNamed(call, "list_agents"), Input: map[string]any{}}}
				case strings.Contains(result, "grand_boss"):
					return modeltest.Turn{Tool: &modeltest.Tool{Name: toolNamed(call, "delegate"), Input: map[string]any{"agent": specialist, "text": "/say 下からの答え"}}}
				}
				return modeltest.Turn{Text: "聞きました: " + result + "\n" + protocol.Token(markerIn(call), asked.Req)}
			})
			c.up()
			got := c.send("grand_boss", "道具を使ってください。")
			if !strings.Contains(got, "下からの答え") || !strings.HasSuffix(got, "GRAND BOSS OK") {
				t.Errorf("got %q, want the delegate's answer in it", got)
			}
			hops := c.journal()
			if !hopped(hops, "grand_boss", specialist, "task") || !hopped(hops, specialist, "grand_boss", "result") {
				t.Errorf("got %+v in the journal, want the delegation and its result", hops)
			}
		})
	}
}

// toolNamed is a tool of ours as the program has named it for its model.
func toolNamed(c modeltest.Call, name string) string {
	for _, tool := range c.Tools {
		if strings.HasSuffix(tool, name) {
			return tool
		}
	}
	return "no tool " + name + " among " + strings.Join(c.Tools, " ")
}

func hopped(hops []hop, from, to, kind string) bool {
	for _, h := range hops {
		if h.From == from && h.To == to && h.Type == kind {
			return true
		}
	}
	return false
}
