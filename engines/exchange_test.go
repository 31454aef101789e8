package engines

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/agents"
	"orchestrator-cc/protocol"
)

// exchange is one prompt and the answer the model gives to it.
type exchange struct{ name, body, answer string }

func exchanges() []exchange {
	var long strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&long, "%d: 答えの行 with `code`, **bold** and %s in it\n", i+1, marker)
	}
	return []exchange{
		{"one line", "一行の依頼です。", "はい。"},
		{"markdown", "書式のある答えを。", "# 見出し\n\n- *one*\n  - `two`\n\n```go\nfunc main() {}\t// tab\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
		{"300 lines", japanese("三百行の依頼です。", 300, 20_000), "読みました。"},
		{"100 KB", japanese("大きな依頼です。", 900, 100_000), "全部読みました。"},
		{"awkward characters", "記号: \\ ; -x $HOME `id` \"'\" \ttab 🎉👨‍👩‍👧 e\u0301 #{pane_id} !history @name /slash", "絵文字 🎉 \\ ; $x \"'\" <tag> &amp;"},
		{"2,000-line answer", "長い答えを。", strings.TrimSuffix(long.String(), "\n")},
	}
}

// A prompt reaches the model byte for byte, and its answer comes back so where
// the program tells it.
func TestExchanges(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			for _, x := range exchanges() {
				if p.most > 0 && len(x.body) > p.most {
					continue
				}
				model.say(string([]rune(x.body)[:4]), x.answer)
				before := len(received(c.model))
				got := c.send(specialist, x.body)
				texts := received(c.model)[before:]
				if len(texts) != 1 {
					t.Fatalf("%s: got %d prompts at the model, want 1", x.name, len(texts))
				}
				if diff := cmp.Diff(typed(texts[0], "user", p.retyped(x.body)), texts[0]); diff != "" {
					t.Errorf("%s: prompt at the model (-want +got):\n%s", x.name, diff)
				}
				if !p.channel {
					continue
				}
				if diff := cmp.Diff(x.answer+"\n"+marker, got); diff != "" {
					t.Errorf("%s: answer (-want +got):\n%s", x.name, diff)
				}
				if e := c.lastResult().Evidence; e != agents.ByChannel {
					t.Errorf("%s: got evidence %q, want %q", x.name, e, agents.ByChannel)
				}
			}
		})
	}
}

// Many exchanges in a row, each with an answer of its own. More of them are a
// matter of the long checks.
func TestManyExchanges(t *testing.T) {
	t.Parallel()
	many := 10
	if n, err := strconv.Atoi(os.Getenv("ORCHESTRATOR_CC_EXCHANGES")); err == nil {
		many = n
	}
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			right := 0
			var lags, ours []time.Duration // from the end of the model's answer, and from the program's word, to the end of send
			for i := range many {
				body := fmt.Sprintf("依頼 %d: 番号を答えてください。", i)
				model.say(body, fmt.Sprintf("番号は %d です。", i))
				got := c.send(specialist, body)
				lags, ours = append(lags, time.Since(c.model.Ended())), append(ours, time.Since(c.told()))
				if want := fmt.Sprintf("番号は %d です。\n%s", i, marker); got != want {
					t.Errorf("exchange %d: got %q, want %q", i, got, want)
					continue
				}
				right++
			}
			t.Logf("%s: %d of %d exchanges right; send returns %s after the model's answer, %s after the program's word", p.name, right, many, spread(lags), spread(ours))
		})
	}
}

// spread words durations by their median and their longest.
func spread(all []time.Duration) string {
	slices.Sort(all)
	return fmt.Sprintf("%s (at most %s)", all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
}

// told is when the program last told an answer.
func (c *company) told() (at time.Time) {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "run", specialist+".spool"))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var r protocol.Report
		if json.Unmarshal([]byte(line), &r) == nil && r.Event == protocol.ReportAnswer {
			at = r.Time
		}
	}
	return at
}
