package engines

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// The commands which the README shows for a model do what it says of them.
func TestReadme(t *testing.T) {
	t.Parallel()
	t.Run("claude", func(t *testing.T) {
		t.Parallel()
		var model play
		c := newCompany(t, claude(), model.script, "")
		proof := filepath.Join(c.project, "proof")
		model.on("実行", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
			if call.Result() == "" {
				name, input := claude().shell("echo run > " + proof)
				return modeltest.Turn{Tool: &modeltest.Tool{Name: name, Input: input}}
			}
			return modeltest.Turn{Text: "終わりました。\n" + protocol.Token(markerIn(call), asked.Req)}
		})
		commands := shownCommands(t, "With a model")
		if len(commands) != 3 {
			t.Fatalf("got %q, want up, inbox and approve", commands)
		}
		c.must(commands[0]...)
		done := c.background("grand_boss", "実行してください。")
		id := c.confirmation().ID[:8]
		if out := c.must(commands[1]...); !strings.Contains(out, id) || !strings.Contains(out, proof) {
			t.Errorf("got %q, want %s and the command that waits", out, id)
		}
		c.must(append(commands[2][:1], id)...)
		if r := c.finish(done); r.out != "終わりました。\nGRAND BOSS OK\n" {
			t.Errorf("got %q, want the answer\n%s", r.out, r.err)
		}
		if _, err := os.Stat(proof); err != nil {
			t.Errorf("got no sign of the command that was approved: %v", err)
		}
	})
}

// shownCommands are the arguments of the commands that a section of the README
// shows.
func shownCommands(t *testing.T, section string) (commands [][]string) {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "## "+section+"\n")
	within, _, _ := strings.Cut(after, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^    orchestrator-cc (.*?)\s+#`).FindAllStringSubmatch(within, -1) {
		commands = append(commands, strings.Fields(m[1]))
	}
	return commands
}
