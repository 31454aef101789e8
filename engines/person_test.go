package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// typeIn types a text into the agent's pane as a person would, and lets it
// stand there.
func (c *company) typeIn(text string) {
	c.t.Helper()
	c.typeUntil(text, text)
}

// typeUntil types a text, of which the end shows that it stands there.
func (c *company) typeUntil(text, end string) {
	c.t.Helper()
	next := time.Now()
	c.wait("typed text on the screen", func() bool {
		if strings.Contains(c.screen(0), end) {
			return true
		}
		if now := time.Now(); now.After(next) { // a program that has just started may not listen yet
			next = now.Add(10 * time.Second)
			c.tmux("send-keys", "-t", "=test:0.0", "-l", text)
		}
		return false
	})
}

func (c *company) press(keys ...string) {
	c.tmux(append([]string{"send-keys", "-t", "=test:0.0"}, keys...)...)
}

// enter sends what was typed. Programs take an Enter that follows text too
// soon for a part of it, so it is pressed until the composer lets go.
func (c *company) enter(taken func() bool) {
	c.t.Helper()
	next := time.Now()
	c.wait("prompt that was taken", func() bool {
		if taken() {
			return true
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(3 * time.Second)
			c.press("Enter")
		}
		return false
	})
}

// hops are those of the journal between the user and the agent with a text.
func (c *company) hops(kind, content string) (found []hop) {
	c.t.Helper()
	if _, err := os.Stat(c.journalPath()); err != nil {
		return nil
	}
	for _, h := range c.journal() {
		if h.Type == kind && h.Content == content {
			found = append(found, h)
		}
	}
	return found
}

// asks makes the model answer what a person types, each text as it is told,
// besides the prompts of ours.
func asks(model *play, typed map[string]modeltest.Turn) modeltest.Script {
	return func(c modeltest.Call) modeltest.Turn {
		if turn, ok := typed[lastTyped(c, typed)]; ok {
			return turn
		}
		return model.script(c)
	}
}

// lastTyped is which of some texts a call is about, "" where it is none.
func lastTyped(c modeltest.Call, typed map[string]modeltest.Turn) string {
	for i := len(c.Turns) - 1; i >= 0 && len(c.Tools) > 0; i-- {
		text := strings.TrimSpace(c.Turns[i].Text)
		if _, ok := typed[text]; ok && c.Turns[i].Role == "user" {
			return text
		}
		if protocol.ParsePrompt(text).Req != "" {
			break
		}
	}
	return ""
}

// What a person types into the pane is a task of the user with its answer,
// once each, also when the hub is away; it is not typed again.
func TestTypedByAPerson(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			typed := map[string]modeltest.Turn{
				"手で書いた依頼です。":  {Text: "手で答えました。\n" + marker},
				"ハブのいない間の依頼。": {Text: "マーカーなしの答え。"},
			}
			c := newCompany(t, p, asks(&model, typed), one())
			c.up()
			told := func(text, answer string) {
				t.Helper()
				c.wait("task of the user with its answer in the journal", func() bool {
					return len(c.hops("task", text)) > 0 && len(c.hops("result", answer)) > 0
				})
				task, result := c.hops("task", text), c.hops("result", answer)
				if len(task) != 1 || len(result) != 1 {
					t.Errorf("%s: got %d tasks and %d results in the journal, want one of each", text, len(task), len(result))
				}
				if task[0].From != protocol.User || task[0].To != specialist || result[0].To != protocol.User || result[0].Evidence != agents.ByChannel {
					t.Errorf("%s: got %+v and %+v, want an exchange of the user by %s", text, task[0], result[0], agents.ByChannel)
				}
				asked := 0
				for _, call := range c.model.Calls() {
					if lastTyped(call, typed) == text {
						asked++
					}
				}
				if asked != 1 {
					t.Errorf("%s: got %d calls of the model, want 1", text, asked)
				}
			}
			c.typeIn("手で書いた依頼です。")
			c.enter(func() bool { return len(c.hops("task", "手で書いた依頼です。")) > 0 })
			told("手で書いた依頼です。", "手で答えました。\n"+marker)

			model.say("普通", "普通に。")
			if got, want := c.send(specialist, "普通の依頼。"), "普通に。\n"+marker; got != want {
				t.Errorf("a prompt of ours after it: got %q, want %q", got, want)
			}

			hub := c.hub()
			c.signal(hub, syscall.SIGSTOP)
			c.typeIn("ハブのいない間の依頼。")
			c.enter(func() bool { return strings.Contains(c.spool(), "マーカーなしの答え。") })
			c.signal(hub, syscall.SIGKILL)
			told("ハブのいない間の依頼。", "マーカーなしの答え。")

			tasks := 0
			for _, h := range c.journal() {
				if h.Type == "task" {
					tasks++
				}
			}
			if tasks != 3 { // nothing that a program says to itself is a person's
				t.Errorf("got %d tasks in the journal, want 3", tasks)
			}
		})
	}
}

func (c *company) journalPath() string { return filepath.Join(c.project, "logs", "messages.jsonl") }

// spool is what the agent's program has told so far.
func (c *company) spool() string {
	data, _ := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "run", specialist+".spool"))
	return string(data)
}

// hub is the process id of the hub that serves now.
func (c *company) hub() int {
	c.t.Helper()
	var card struct{ PID int }
	data, err := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "hub.json"))
	if err == nil {
		err = json.Unmarshal(data, &card)
	}
	if err != nil || card.PID <= 0 {
		c.t.Fatalf("got no hub in %s: %v", data, err)
	}
	return card.PID
}

func (c *company) signal(pid int, s syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		c.t.Fatal(err)
	}
}
