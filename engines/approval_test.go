package engines

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// errand is a company of one whose model wants commands run. Each run of one
// leaves a line in the proof.
type errand struct {
	*company
	model *play
	proof string
}

// The model's last words on an errand.
const (
	didIt   = "終わりました。"
	refused = "断られました。"
)

// newErrand starts the company, with further lines of YAML and in a home that
// was prepared.
func newErrand(t *testing.T, p program, yaml string, prepare ...func(*company)) errand {
	t.Helper()
	model := &play{}
	e := errand{company: newCompany(t, p, model.script, one()+yaml), model: model}
	e.proof = filepath.Join(e.project, "proof")
	for _, f := range prepare {
		f(e.company)
	}
	e.up()
	return e
}

// wants makes the model want a command run for prompts that begin with a text,
// and say whether it was.
func (e errand) wants(begin, command string) {
	tool, input := e.program.shell(command)
	e.uses(begin, nil, modeltest.Tool{Name: tool, Input: input})
}

// uses does the same with any tools, called for at once; before is done before.
func (e errand) uses(begin string, before func(), tools ...modeltest.Tool) {
	e.model.on(begin, func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
		switch result := call.Result(); {
		case result == "":
			if before != nil {
				before()
			}
			return modeltest.Turn{Tool: &tools[0], Beside: tools[1:]}
		case strings.Contains(result, "denied"):
			return modeltest.Turn{Text: refused + "\n" + protocol.Token(markerIn(call), asked.Req)}
		}
		return modeltest.Turn{Text: didIt + "\n" + protocol.Token(markerIn(call), asked.Req)}
	})
}

// append is a command that leaves a line in the proof.
func (e errand) append() string { return "echo run >> " + e.proof }

// ran wants the commands to have run so often.
func (e errand) ran(times int) {
	e.t.Helper()
	text, err := os.ReadFile(e.proof)
	if got := strings.Count(string(text), "run\n"); got != times {
		e.t.Errorf("got %d runs of the command (%v), want %d", got, err, times)
	}
}

// ended wants an errand to end with the model's words.
func (e errand) ended(done chan result, words string) {
	e.t.Helper()
	if r := e.finish(done); r.out != words+"\n"+marker+"\n" {
		e.t.Errorf("got exit %d and %q, want %q\n%s", r.code, r.out, words, r.err)
	}
}

// verdicts are a person's words, what the model says to each, and how often the
// command runs.
func verdicts() []struct {
	word, says string
	runs       int
} {
	return []struct {
		word, says string
		runs       int
	}{{"approve", didIt, 1}, {"deny", refused, 0}}
}

// A tool call waits in the inbox; approved it runs, denied the model is told.
// Who decided, and on what, is in the journal.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		for _, verdict := range verdicts() {
			t.Run(p.name+"/"+verdict.word, func(t *testing.T) {
				t.Parallel()
				e := newErrand(t, p, "")
				e.wants("実行", e.append())
				done := e.background(specialist, "実行してください。")
				item := e.confirmation()
				if item.Agent != specialist || !strings.Contains(item.Text, p.asks) || !strings.Contains(item.Text, e.proof) {
					t.Errorf("got %s asking %q, want %s, %s and its arguments", item.Agent, item.Text, specialist, p.asks)
				}
				e.ran(0)
				began := time.Now()
				e.must(verdict.word, item.ID)
				e.ended(done, verdict.says)
				e.ran(verdict.runs)
				e.decided(began, "asks to use "+p.asks, e.proof)
				e.decided(began, map[string]string{"approve": "approved ", "deny": "denied "}[verdict.word]+p.asks+" of "+specialist+", by user")
			})
		}
	}
}

// decided wants a line of the journal with all these words, and with a time: of
// a question before anybody answered, of an answer after that.
func (c *company) decided(answered time.Time, words ...string) {
	c.t.Helper()
	for _, h := range c.journal() {
		missing := slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(h.Content, w) })
		if missing {
			continue
		}
		if asked := strings.Contains(h.Content, "asks to use"); asked != h.Timestamp.Before(answered) {
			c.t.Errorf("got %q at %s, and the answer was given at %s", h.Content, h.Timestamp, answered)
		}
		return
	}
	c.t.Errorf("got no line of the journal with %q", words)
}

// What a person has decided for the agent, and what the configuration decides,
// nobody is asked again.
func TestApprovalRules(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			e := newErrand(t, p, fmt.Sprintf(`approvals:
  rules:
    - {tool: %s, match: "touch forbidden*", decide: deny}
    - {tool: %s, match: "touch welcome*", decide: allow}
`, p.asks, p.asks))
			e.wants("実行", e.append())
			e.wants("禁止", "touch forbidden")
			e.wants("許可", "touch welcome")
			done := e.background(specialist, "実行してください。")
			e.must("approve", e.confirmation().ID, "--for", "agent")
			e.ended(done, didIt)
			for i, errand := range []struct{ body, says string }{{"実行をもう一度。", didIt}, {"禁止されたことを。", refused}, {"許可されたことを。", didIt}} {
				if got, want := e.send(specialist, errand.body), errand.says+"\n"+marker; got != want {
					t.Errorf("errand %d: got %q, want %q", i, got, want)
				}
			}
			e.ran(2)
			if _, err := os.Stat(filepath.Join(e.project, "forbidden")); err == nil {
				t.Error("got a command that the configuration denies")
			}
			if _, err := os.Stat(filepath.Join(e.project, "welcome")); err != nil {
				t.Errorf("a command that the configuration allows: %v", err)
			}
			e.decided(time.Time{}, "denied "+p.asks, "the configuration's rule", "touch forbidden")
			e.decided(time.Time{}, "approved "+p.asks, "the configuration's rule", "touch welcome")
		})
	}
}

// A task that is cancelled while its tool call waits takes the question with it:
// nothing runs, and the agent is free for the next task.
func TestCancelWhileAsked(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			e := newErrand(t, p, "")
			e.wants("実行", e.append())
			e.model.say("次は", "次です。")
			done := e.background(specialist, "実行してください。")
			old := e.confirmation()
			e.must("cancel", e.openTask())
			if r := e.finish(done); r.code == 0 {
				t.Errorf("cancelled send: got exit 0 and %q, want a failure", r.out)
			}
			e.wait("empty inbox", func() bool { return len(e.inbox()) == 0 })
			if r := e.call("", "approve", old.ID); r.code == 0 {
				t.Errorf("approve after the cancel: got exit 0 and %q, want a refusal", r.out)
			}
			if got, want := e.send(specialist, "次は普通に。"), "次です。\n"+marker; got != want {
				t.Errorf("after the cancel: got %q, want %q", got, want)
			}
			e.ran(0)
			e.decided(time.Time{}, "withdrawn "+p.asks)
			done = e.background(specialist, "実行してください、今度こそ。")
			e.must("approve", e.confirmation().ID)
			e.ended(done, didIt)
			e.ran(1)
		})
	}
}

// A hub that is killed while a tool call waits finds the question again, and
// whoever answers it is heard by the program that asked.
func TestHubDiesWhileAsked(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		for _, verdict := range verdicts() {
			t.Run(p.name+"/"+verdict.word, func(t *testing.T) {
				t.Parallel()
				e := newErrand(t, p, "")
				e.wants("実行", e.append())
				done := e.background(specialist, "実行してください。")
				before := e.confirmation()
				old := e.hub()
				e.signal(old, syscall.SIGKILL)
				e.wait("another hub", func() bool { pid := e.hubPID(); return pid != 0 && pid != old && e.call("", "status").code == 0 })
				after := e.confirmation()
				if after.ID != before.ID || after.Text != before.Text {
					t.Errorf("got the question %+v after the crash, want %+v", after, before)
				}
				e.ran(0)
				e.must(verdict.word, after.ID)
				e.ended(done, verdict.says)
				e.ran(verdict.runs)
				if n := len(received(e.company.model)); n != 1 {
					t.Errorf("got %d prompts at the model, want 1", n)
				}
			})
		}
	}
}

// What nobody decides in time the program asks in its pane: that dialog is in
// the status and the inbox, and is answered from there.
func TestApprovalDeadline(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			e := newErrand(t, p, "approvals: {timeout: 3s}\n")
			e.wants("実行", e.append())
			done := e.background(specialist, "実行してください。")
			old := e.confirmation()
			dialog := e.dialog()
			if s := e.status(specialist); s.State != protocol.Waiting {
				t.Errorf("got state %s (%s), want it to wait for a person", s.State, s.Reason)
			}
			if r := e.call("", "approve", old.ID); r.code == 0 {
				t.Errorf("approve after the deadline: got exit 0 and %q, want a refusal", r.out)
			}
			e.ran(0)
			e.must("answer", specialist, "--dialog", dialog, "--key", "Enter")
			e.ended(done, didIt)
			e.ran(1)
			e.decided(time.Time{}, "expired "+p.asks)
			e.decided(time.Time{}, "user pressed Enter in the dialog of "+specialist)
		})
	}
}

// A hook that fails decides nothing: the program asks in its pane, and nothing
// runs before a person has answered there.
func TestHookFailsWhileAsked(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			e := newErrand(t, p, "")
			file := filepath.Join(e.project, ".orchestrator-cc", "run", specialist, "program.json")
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tool, input := p.shell(e.append())
			e.uses("実行", func() {
				if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
					t.Error(err)
				}
			}, modeltest.Tool{Name: tool, Input: input})
			done := e.background(specialist, "実行してください。")
			dialog := e.dialog()
			for _, item := range e.inbox() {
				if item.Kind == api.KindConfirmation {
					t.Errorf("got %+v in the inbox, want no question by a hook that fails", item)
				}
			}
			e.ran(0)
			if err := os.WriteFile(file, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			e.must("answer", specialist, "--dialog", dialog, "--key", "Enter")
			e.ended(done, didIt)
			e.ran(1)
		})
	}
}

// A change of a file is asked for as a command is.
func TestApprovalOfAFile(t *testing.T) {
	t.Parallel()
	for _, p := range []program{claude(), gemini()} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			e := newErrand(t, p, "")
			tool := actingOf(p.name).edit(e.proof, []string{"run"})
			e.uses("書いて", nil, *tool)
			done := e.background(specialist, "書いてください。")
			item := e.confirmation()
			if !strings.Contains(item.Text, tool.Name) || !strings.Contains(item.Text, e.proof) {
				t.Errorf("got %q, want %s and its file", item.Text, tool.Name)
			}
			e.ran(0)
			e.must("approve", item.ID)
			e.ended(done, didIt)
			e.ran(1)
		})
	}
}

// Of two calls at once each has a question of its own, and only what was
// approved runs.
func TestApprovalOfSeveral(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		for _, want := range []struct{ name, second, says, proof string }{
			{"both", "approve", didIt, "first\nsecond\n"}, {"one", "deny", refused, "first\n"},
		} {
			t.Run(p.name+"/"+want.name, func(t *testing.T) {
				t.Parallel()
				e := newErrand(t, p, "")
				var tools []modeltest.Tool
				for _, word := range []string{"first", "second"} {
					name, input := p.shell("echo " + word + " >> " + e.proof)
					tools = append(tools, modeltest.Tool{Name: name, Input: input})
				}
				e.uses("実行", nil, tools...)
				done := e.background(specialist, "実行してください。")
				e.must("approve", e.confirmationOf("echo first").ID)
				e.must(want.second, e.confirmationOf("echo second").ID)
				e.ended(done, want.says)
				text, err := os.ReadFile(e.proof)
				lines := slices.Sorted(strings.Lines(string(text))) // they may run in any order
				if got := strings.Join(lines, ""); got != want.proof {
					t.Errorf("got %q (%v) run, want %q", got, err, want.proof)
				}
			})
		}
	}
}

// What the user's own rules forbid stays forbidden, whoever approves it here.
func TestOwnRulesStay(t *testing.T) {
	t.Parallel()
	e := newErrand(t, gemini(), "", func(c *company) {
		c.write("home/.gemini/policies/mine.toml", `[[rule]]
toolName = "run_shell_command"
commandPrefix = "touch banned"
decision = "deny"
priority = 100
`)
	})
	e.wants("禁止", "touch banned")
	done := e.background(specialist, "禁止されたことを。")
	e.must("approve", e.confirmation().ID)
	e.ended(done, refused)
	if _, err := os.Stat(filepath.Join(e.project, "banned")); err == nil {
		t.Error("got a command that the user's own rules deny")
	}
}

// inbox is what waits for a person.
func (c *company) inbox() []protocol.InboxItem {
	c.t.Helper()
	var list struct{ Inbox []protocol.InboxItem }
	if err := json.Unmarshal([]byte(c.must("inbox", "--json")), &list); err != nil {
		c.t.Fatal(err)
	}
	return list.Inbox
}

// confirmation waits for the one thing in the inbox that asks for a tool.
func (c *company) confirmation() protocol.InboxItem {
	c.t.Helper()
	return c.confirmationOf("")
}

// confirmationOf waits for one about a certain call.
func (c *company) confirmationOf(words string) (found protocol.InboxItem) {
	c.t.Helper()
	c.wait("tool call in the inbox", func() bool {
		for _, item := range c.inbox() {
			if item.Kind == api.KindConfirmation && strings.Contains(item.Text, words) {
				found = item
				return true
			}
		}
		return false
	})
	return found
}
