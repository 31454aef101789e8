package engines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/config"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// drift makes each program another one than its engine describes: deaf is how
// its own settings keep our hooks from being called, nil where that takes long.
type drift struct {
	program program
	deaf    func(*company)
}

func drifts() []drift {
	return []drift{
		{claude(), func(c *company) {
			c.write("home/.claude/settings.json", encode(map[string]any{"disableAllHooks": true}))
		}},
		{codex(), func(c *company) {
			c.edit("home/.codex/config.toml", func(text string) string { return text + "[features]\nhooks = false\n" })
		}},
		{gemini(), func(c *company) {
			c.edit("home/.gemini/settings.json", func(text string) string {
				return strings.Replace(text, "{", `{"hooksConfig": {"enabled": false},`, 1)
			})
		}},
		{opencode(), nil},
	}
}

// A program that never shows what its engine calls ready is called degraded
// soon after its screen rests, with its version, the pattern and the screen.
func TestDrift(t *testing.T) {
	t.Parallel()
	for _, d := range drifts() {
		t.Run(d.program.name, func(t *testing.T) {
			t.Parallel()
			p := d.program
			p.settings += "    ready: ['^➤ of another version']\n"
			c := newCompany(t, p, (&play{}).script, one())
			r := c.call("", "up")
			if r.code == 0 || r.took > time.Minute {
				t.Errorf("up: got exit %d after %s, want a failure within a minute", r.code, r.took)
			}
			for _, want := range []string{"is degraded", "'^➤ of another version'", installed(p), specialist + " shows:\n  | "} {
				if !strings.Contains(r.err, want) {
					t.Errorf("up: got %q, want %q in it", r.err, want)
				}
			}
			if s := c.status(specialist); s.State != protocol.Degraded || !strings.Contains(s.Drift, "➤ of another version") {
				t.Errorf("got %+v, want it degraded", s)
			}
			if out := c.must("inbox"); !strings.Contains(out, "degraded") || !strings.Contains(out, "  | ") {
				t.Errorf("inbox: got %q, want the screen", out)
			}
		})
	}
}

// edit changes a file of the company's.
func (c *company) edit(name string, change func(string) string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(name, change(string(text)))
}

// installed is how the version of a program is told that is the pinned one.
func installed(p program) string { return "version " + config.Default().Engines[p.name].Tested }

// A program that never calls our hooks is read by its screen, and that is said.
func TestMuteHooks(t *testing.T) {
	t.Parallel()
	for _, d := range drifts() {
		if d.deaf == nil {
			continue
		}
		t.Run(d.program.name, func(t *testing.T) {
			t.Parallel()
			p, prepare := d.program, d.program.prepare
			p.settings += "    start: 40s\n" // how long its word is waited for goes by this
			p.prepare = func(c *company) map[string]string {
				env := prepare(c)
				d.deaf(c)
				return env
			}
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			model.on("聞こえ", func(_ modeltest.Call, asked protocol.Prompt) modeltest.Turn { // some have no brief now
				return modeltest.Turn{Text: "聞こえます。\n" + protocol.Token(marker, asked.Req)}
			})
			if got, want := c.send(specialist, "聞こえますか。"), "聞こえます。\n"+marker; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if h := c.lastResult(); h.Evidence != "token" {
				t.Errorf("got evidence %q, want the screen's token", h.Evidence)
			}
			c.wait("word about its hooks", func() bool {
				s := c.status(specialist)
				return s.State == protocol.Idle && strings.Contains(s.Reason, "its hooks are not called") && strings.Contains(s.Reason, installed(p))
			})
		})
	}
}
