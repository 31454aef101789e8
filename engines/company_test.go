package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/agents"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// The boss delegates to the manager, the manager to three specialists, and one
// answer comes back: five real programs, each with its own conversation.
func TestWholeCompany(t *testing.T) {
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			c := newCompany(t, p, companyScript, "")
			c.up()
			got := c.send("grand_boss", "木を植える計画を立ててください。")
			if want := "計画: 苗木、土、水。\nGRAND BOSS OK"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			var hops []string
			for _, h := range c.journal() {
				hops = append(hops, h.From+" -> "+h.To+" "+h.Type)
				if h.Type == "result" && p.channel && h.Evidence != agents.ByChannel {
					t.Errorf("%s -> %s: got evidence %q, want %q", h.From, h.To, h.Evidence, agents.ByChannel)
				}
			}
			for _, want := range []string{
				"user -> grand_boss task", "grand_boss -> middle_manager task", "middle_manager -> grand_boss result", "grand_boss -> user result",
				"middle_manager -> coding_writing_specialist task", "coding_writing_specialist -> middle_manager result",
				"middle_manager -> research_analysis_specialist task", "research_analysis_specialist -> middle_manager result",
				"middle_manager -> testing_specialist task", "testing_specialist -> middle_manager result",
			} {
				if n := strings.Count(strings.Join(hops, "\n")+"\n", want+"\n"); n != 1 {
					t.Errorf("got %d hops %q, want 1\n%s", n, want, cmp.Diff("", strings.Join(hops, "\n")))
				}
			}
		})
	}
}

// Five that start at once in a new home, where OpenCode would fetch its library
// and cannot, each become ready, and none has to be started twice: one goes
// first, and the others begin once it has said that it runs.
func TestFirstStarts(t *testing.T) {
	p := opencode()
	t.Run(p.name, func(t *testing.T) {
		c := newCompany(t, p, companyScript, "")
		if err := os.RemoveAll(filepath.Join(c.home(), ".config", "opencode", "node_modules")); err != nil {
			t.Fatal(err)
		}
		c.env = append(c.env, "npm_config_registry="+c.model.URL) // has no packages, and says so
		c.up()
		var greeted, before []time.Time
		for agent := range markers() {
			greeted = append(greeted, c.greeted(agent))
		}
		for agent := range markers() {
			if began := c.began(agent); began.Before(slices.MinFunc(greeted, time.Time.Compare)) {
				before = append(before, began)
			}
			if s := c.status(agent); s.State != protocol.Idle || s.Restarts != 0 {
				t.Errorf("%s: got %s (%s) after %d restarts, want it idle after its first start", agent, s.State, s.Reason, s.Restarts)
			}
		}
		if len(before) != 1 {
			t.Errorf("got %d that began before any was heard, want the first alone", len(before))
		}
	})
}

// greeted is when an agent's program said that it runs.
func (c *company) greeted(agent string) time.Time {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "run", agent+".spool"))
	line, _, _ := strings.Cut(string(data), "\n")
	var r protocol.Report
	if err == nil {
		err = json.Unmarshal([]byte(line), &r)
	}
	if err != nil || r.Event != protocol.ReportReady {
		c.t.Fatalf("%s: got %q first on its spool (%v), want that it is ready", agent, line, err)
	}
	return r.Time
}

// began is when an agent's program was started first.
func (c *company) began(agent string) time.Time {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "run", agent, "memory.json"))
	var m struct{ Since time.Time }
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return m.Since
}

// companyScript plays all five roles, told apart by their briefs.
func companyScript(c modeltest.Call) modeltest.Turn {
	asked, ok := request(c)
	if !ok {
		return modeltest.Turn{Text: "ok"}
	}
	m := markerIn(c)
	text := map[string]string{"CODING OK": "苗木", "RESEARCH OK": "土", marker: "水"}[m]
	switch {
	case m == "GRAND BOSS OK" && !c.Said("assistant", "@middle_manager"):
		text = "@middle_manager: 木を植える計画を、三人に分けて作ってください。"
	case m == "GRAND BOSS OK":
		text = "計画: 苗木、土、水。"
	case m == "MIDDLE MANAGER OK" && !c.Said("assistant", "@testing_specialist"):
		text = "@coding_writing_specialist: 苗木を選んで。\n@research_analysis_specialist: 土を調べて。\n@testing_specialist: 水を試して。"
	case m == "MIDDLE MANAGER OK":
		text = "三人の結果: 苗木、土、水。"
	}
	return modeltest.Turn{Text: text + "\n" + protocol.Token(m, asked.Req)}
}
