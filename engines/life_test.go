package engines

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// background gives an agent a prompt and does not wait; done tells how it ended.
func (c *company) background(agent, body string) (done chan result) {
	done = make(chan result, 1)
	go func() { done <- c.call(body, "send", agent, "-", "--timeout", "3m") }()
	return done
}

// finish waits for a prompt in the background.
func (c *company) finish(done chan result) result {
	c.t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(patience):
		c.t.Fatal("got no end of the exchange")
		return result{}
	}
}

// openTask is the one task that is under way.
func (c *company) openTask() string {
	c.t.Helper()
	var o protocol.Overview
	if err := json.Unmarshal([]byte(c.must("status", "--json")), &o); err != nil {
		c.t.Fatal(err)
	}
	for _, task := range o.Tasks {
		if task.State == protocol.TaskInProgress {
			return task.ID
		}
	}
	return ""
}

// numbered is a long text without repetition, which some programs take for a
// loop.
func numbered(text string) string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "%d: %s\n", i, text)
	}
	return b.String()
}

// A turn that is cancelled ends, in the program too, and the next one is right.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			model.on("長く", func(c modeltest.Call, _ protocol.Prompt) modeltest.Turn {
				return modeltest.Turn{Text: numbered("まだ続く。"), Pace: 500 * time.Millisecond}
			})
			model.say("次は", "次です。")
			done := c.background(specialist, "長く考えてください。")
			c.wait("prompt at the model", func() bool { return len(received(c.model)) == 1 })
			c.wait("busy agent", func() bool { return c.status(specialist).State == protocol.Busy })
			task := c.openTask()
			c.must("cancel", task)
			if r := c.finish(done); r.code == 0 {
				t.Errorf("cancelled send: got exit 0 and %q, want a failure", r.out)
			}
			if tree := c.must("show", task); strings.Contains(tree, "does not stop") {
				t.Errorf("got a program that works on, want it interrupted\n%s", tree)
			}
			if got, want := c.send(specialist, "次は普通に。"), "次です。\n"+marker; got != want {
				t.Errorf("after the cancel: got %q, want %q", got, want)
			}
		})
	}
}

// A program that is killed in its turn goes on with the same conversation, and
// the request is answered.
func TestCrashAndResume(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		if !p.resumes {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			model.say("最初", "合言葉は桜です。")
			c.send(specialist, "最初の依頼です。")
			calls := 0
			model.on("二番", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				if calls++; calls == 1 {
					return modeltest.Turn{Text: numbered("途中。"), Pace: time.Second}
				}
				return modeltest.Turn{Text: "覚えています。\n" + protocol.Token(markerIn(call), asked.Req)}
			})
			done := c.background(specialist, "二番目の依頼です。")
			c.wait("second prompt at the model", func() bool { return len(received(c.model)) == 2 })
			c.kill(specialist)
			r := c.finish(done)
			if want := "覚えています。\n" + marker + "\n"; r.code != 0 || r.out != want {
				t.Fatalf("after the crash: got exit %d and %q, want %q\n%s", r.code, r.out, want, r.err)
			}
			all := c.model.Calls()
			if last := all[len(all)-1]; !last.Said("assistant", "合言葉は桜です。") {
				t.Error("got a new conversation after the crash, want the old one")
			}
			if n := c.status(specialist).Restarts; n != 1 {
				t.Errorf("got %d restarts, want 1", n)
			}
		})
	}
}

// kill ends the program in an agent's pane as the kernel would.
func (c *company) kill(agent string) {
	c.t.Helper()
	for _, pid := range c.processes(agent) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// processes are those of an agent's pane. The last is the wrapper below which
// tmux runs programs.
func (c *company) processes(agent string) []int {
	c.t.Helper()
	for line := range strings.Lines(c.tmux("list-panes", "-a", "-F", "#{@orchestrator_agent} #{pane_pid}")) {
		name, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); err == nil && name == agent {
			return append(below(n), n)
		}
	}
	c.t.Fatalf("got no pane of %s", agent)
	return nil
}

// below are the processes that one has started, the youngest first.
func below(pid int) (out []int) {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			out = append(out, append(below(n), n)...)
		}
	}
	return out
}

// A model that fails for a while costs time; one that keeps failing ends the
// request with its reason.
func TestModelErrors(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			for i, turn := range []modeltest.Turn{
				{Status: http.StatusTooManyRequests, Error: "slow down"},
				{Status: http.StatusInternalServerError, Error: "it broke"},
				{Status: 529, Error: "Overloaded"},
				{Text: numbered("切れる。"), Broken: true},
			} {
				failures := 0
				body := fmt.Sprintf("%d番目の失敗。", i)
				model.on(body, func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
					if failures++; failures == 1 {
						return turn
					}
					return modeltest.Turn{Text: "直りました。\n" + protocol.Token(markerIn(call), asked.Req)}
				})
				if got, want := c.send(specialist, body), "直りました。\n"+marker; got != want {
					t.Errorf("after %d %s: got %q, want %q", turn.Status, turn.Error, got, want)
				}
			}
			slow := strings.Join(strings.Split(numbered("ゆっくり。"), "\n")[:250], "\n")
			model.on("遅い", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				return modeltest.Turn{Text: slow + "\n" + protocol.Token(markerIn(call), asked.Req), After: 3 * time.Second, Pace: 200 * time.Millisecond}
			})
			if got, want := c.send(specialist, "遅い答え。"), slow+"\n"+marker; got != want {
				t.Errorf("slow stream: got %.80q (%d bytes), want %.80q (%d bytes)", got, len(got), want, len(want))
			}
			model.on("最後", func(modeltest.Call, protocol.Prompt) modeltest.Turn {
				return modeltest.Turn{Status: http.StatusBadRequest, Error: "this never works"}
			})
			r := c.call("最後の失敗。", "send", specialist, "-", "--timeout", "1m")
			if r.code == 0 || p.channel && !strings.Contains(r.err+r.out, "this never works") {
				t.Errorf("hopeless model: got exit %d, %q and %q, want a failure that says why", r.code, r.out, r.err)
			}
		})
	}
}

// An answer without its marker is asked for it once.
func TestForgottenMarker(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		if !p.mends {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			calls := 0
			model.on("忘れ", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				if calls++; calls == 1 {
					return modeltest.Turn{Text: "答えは四十二です。", Took: modeltest.Took{Input: 100, Output: 5}}
				}
				return modeltest.Turn{Text: protocol.Token(markerIn(call), asked.Req), Took: modeltest.Took{Input: 200, Output: 7}}
			})
			if got, want := c.send(specialist, "忘れ物。"), "答えは四十二です。\n"+marker; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if calls != 2 {
				t.Errorf("got %d calls, want 2", calls)
			}
			c.wantTokens(protocol.Tokens{Input: 300, Output: 12}) // both belong to the request
		})
	}
}

// A dialog of the first start is shown to a person, never answered blindly, and
// the agent goes on once the person has decided.
func TestTrustDialog(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		if p.distrust == nil {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			p.distrust(c)
			c.up()
			s := c.status(specialist)
			if s.State != protocol.Waiting {
				t.Fatalf("got state %s (%s), want it to wait for a person\n%s", s.State, s.Reason, c.screen(0))
			}
			model.say("後で", "はい。")
			done := c.background(specialist, "後で。")
			c.wait("queued prompt", func() bool { return c.status(specialist).Queue > 0 })
			if n := len(received(c.model)); n != 0 {
				t.Errorf("got %d prompts at the model before the person decided, want 0", n)
			}
			args := []string{"answer", specialist, "--dialog", c.dialog()}
			for _, key := range p.consent {
				args = append(args, "--key", key)
			}
			c.must(args...)
			if r := c.finish(done); r.out != "はい。\n"+marker+"\n" {
				t.Errorf("after the dialog: got %q, want the answer\n%s", r.out, r.err)
			}
		})
	}
}

// The user's own files are not touched.
func TestUserFilesStay(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		if len(p.files) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			before := map[string]string{}
			for _, name := range p.files {
				text, err := os.ReadFile(filepath.Join(c.home(), name))
				if err != nil {
					text = []byte(p.own)
					c.write(filepath.Join("home", name), p.own)
				}
				before[name] = string(text)
			}
			c.up()
			model.say("はい", "はい。")
			c.send(specialist, "はいと答えて。")
			for name, text := range before {
				if got, err := os.ReadFile(filepath.Join(c.home(), name)); err != nil || string(got) != text {
					t.Errorf("%s: got %q (%v), want it as it was", name, got, err)
				}
			}
		})
	}
}

// dialog is the one dialog that the inbox shows, by its id.
func (c *company) dialog() string {
	c.t.Helper()
	return c.asked(protocol.InboxDialog).Dialog
}

// asked waits until the inbox has something of a kind.
func (c *company) asked(kind string) (found protocol.InboxItem) {
	c.t.Helper()
	c.wait(kind+" in the inbox", func() bool {
		for _, item := range c.inbox() {
			if item.Kind == kind {
				found = item
			}
		}
		// A dialog can be answered once it has been seen.
		return found.Kind != "" && (kind != protocol.InboxDialog || found.Dialog != "")
	})
	return found
}
