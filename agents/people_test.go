package agents_test

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// person is somebody who is attached to the session.
type person struct {
	r    *rig
	file interface {
		io.Writer
		Fd() uintptr
	}
	resize func(columns, rows uint16)
}

// attach brings a person with a terminal of a given size to the session.
func (r *rig) attach(columns, rows uint16) person {
	r.t.Helper()
	argv := r.server.AttachArgv(r.info.ID)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append([]string(nil), r.tmux.Env...), "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		r.t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, f) // ends with an error when the client does
	}()
	r.t.Cleanup(func() {
		f.Close()
		_ = cmd.Process.Kill() // it may have gone with its server
		_ = cmd.Wait()
		<-drained
	})
	tmuxtest.Eventually(r.t, tmuxtest.Wait, func() bool {
		return strings.Contains(r.command("list-clients", "-F", "#{client_control_mode}"), "0")
	})
	return person{r: r, file: f, resize: func(columns, rows uint16) {
		if err := pty.Setsize(f, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
			r.t.Error(err)
		}
	}}
}

func (r *rig) waitState(state protocol.AgentState, reason string) {
	r.t.Helper()
	ok := tmuxtest.Within(tmuxtest.Wait, func() bool {
		// A pane that dies prints nothing; the hub pokes when it hears of it.
		r.agent.Poke()
		s := r.agent.Status()
		return s.State == state && strings.Contains(s.Reason, reason)
	})
	if !ok {
		r.t.Fatalf("got status %+v, want %s with %q\n%s", r.agent.Status(), state, reason, r.screen())
	}
}

func (r *rig) waitLog(event string, n int) {
	r.t.Helper()
	tmuxtest.Eventually(r.t, tmuxtest.Wait, func() bool { return len(r.entries(event)) >= n })
}

func TestTrapsOfPeople(t *testing.T) {
	t.Parallel()
	slow := [][]agentstest.Act{{say("one"), spin(700 * time.Millisecond), say("two"), pause(700 * time.Millisecond), say("three\n{token}")}}
	script := setup{script: agentstest.Script{Turns: slow}}
	runTraps(t, []trap{
		{name: "attaches, resizes and zooms", kinds: screens, setup: script, during: func(r *rig) {
			p := r.attach(200, 60)
			r.waitLog("prompt", 1)
			for _, size := range [][2]uint16{{120, 40}, {240, 70}, {80, 24}} {
				p.resize(size[0], size[1])
				r.command("resize-pane", "-Z", "-t", r.info.ID)
			}
		}},
		{name: "resizes a line program", kinds: []string{agentstest.Line}, setup: script, during: func(r *rig) {
			r.waitLog("prompt", 1)
			r.resize(60, 30)
			r.resize(200, 50)
		}},
		{name: "scrolls during the answer", setup: script, during: func(r *rig) {
			r.attach(200, 60)
			r.waitLog("prompt", 1)
			r.command("copy-mode", "-t", r.info.ID)
		}},
	})
}

func TestScrollingPersonIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")}})
	r.waitState(protocol.Idle, "")
	r.attach(200, 60)
	r.command("copy-mode", "-t", r.info.ID)
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	r.waitState(protocol.Waiting, "scrolling")
	if n := len(r.entries("prompt")); n != 0 {
		t.Errorf("got %d prompts, want none while somebody scrolls", n)
	}
	r.command("send-keys", "-t", r.info.ID, "-X", "cancel")
	if got := <-done; got.err != nil || got.answer.Text != "fine\n"+testMarker {
		t.Errorf("got %+v, %v, want the answer", got.answer, got.err)
	}
}

func TestDraftIsNotDestroyed(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{script: agentstest.Script{Kind: kind, Turns: says("fine\n{token}")}})
			r.waitState(protocol.Idle, "")
			r.command("send-keys", "-t", r.info.ID, "-l", "my own words")
			r.waitState(protocol.Waiting, "composer; finish or clear it in its pane")
			if got := r.agent.Status().Dialog; got != "" {
				t.Errorf("got dialog %q, want none: no key answers a draft", got)
			}
			done := make(chan attempt, 1)
			go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
			tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return r.agent.Status().Request == "abc123" })
			r.waitState(protocol.Waiting, "composer")
			r.command("send-keys", "-t", r.info.ID, "Enter")
			if got := <-done; got.err != nil || got.answer.Text != "fine\n"+testMarker {
				t.Fatalf("got %+v, %v, want the answer\n%s", got.answer, got.err, r.screen())
			}
			prompts := r.entries("prompt")
			if len(prompts) != 2 || prompts[0].Text != "my own words" || !strings.HasPrefix(prompts[1].Text, "req-abc123 from user") {
				t.Errorf("got prompts %q, want the person's words and then ours", prompts)
			}
		})
	}
}

func TestDialogIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	for _, kind := range screens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{options: brief, script: agentstest.Script{
				Kind: kind, Turns: [][]agentstest.Act{{say("I need a tool."), {Dialog: "Do you want to proceed?"}, say("fine\n{token}")}},
			}})
			done := make(chan attempt, 1)
			// The prompt quotes the question, which must not be taken for it.
			go func() {
				done <- r.send(agents.Request{ID: "abc123", Body: "x\nDo you want to proceed?\n❯ 1. Yes"})
			}()
			r.waitState(protocol.Waiting, "dialog")
			if screen := r.agent.Status().Screen; !strings.Contains(screen, "Do you want to proceed?") {
				t.Errorf("got screen %q, want the question", screen)
			}
			select {
			case got := <-done:
				t.Fatalf("got %+v, %v, want to wait for the person beyond the timeout", got.answer, got.err)
			case <-time.After(2 * time.Second):
			}
			if err := r.agent.Answer(t.Context(), "another", []string{"2"}); !errors.Is(err, agents.ErrAnotherDialog) {
				t.Errorf("answer to another dialog: got %v, want it refused", err)
			}
			if err := r.agent.Answer(t.Context(), r.agent.Status().Dialog, []string{"1"}); err != nil {
				t.Fatal(err)
			}
			got := <-done
			if want := "I need a tool.\nfine\n" + testMarker; got.err != nil || got.answer.Text != want {
				t.Errorf("got %+v, %v, want %q", got.answer, got.err, want)
			}
			if keys := r.entries("key"); len(keys) != 1 || keys[0].Text != "1" {
				t.Errorf("got keys %v in the dialog, want only the person's", keys)
			}
			if r.agent.Status().State != protocol.Idle {
				t.Errorf("got %+v, want the agent idle again", r.agent.Status())
			}
		})
	}
}

func TestDialogBeforeThePromptIsNotAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{
		Kind: agentstest.Inline, Turns: [][]agentstest.Act{{{Dialog: "Do you want to proceed?"}}, acts("fine\n{token}")},
	}})
	r.waitState(protocol.Idle, "")
	r.command("send-keys", "-t", r.info.ID, "a person's turn", "Enter")
	r.waitState(protocol.Waiting, "dialog")
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return r.agent.Status().Request == "abc123" })
	r.command("send-keys", "-t", r.info.ID, "2")
	got := <-done
	if got.err != nil || got.answer.Text != "fine\n"+testMarker {
		t.Errorf("got %+v, %v, want the answer\n%s", got.answer, got.err, r.screen())
	}
	if keys := r.entries("key"); len(keys) != 1 || keys[0].Text != "2" {
		t.Errorf("got keys %v in the dialog, want only the person's", keys)
	}
}

// Whoever cancels a prompt that still waits for a person's draft must not
// destroy the draft.
func TestInterruptLeavesADraftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")}})
	r.waitState(protocol.Idle, "")
	r.command("send-keys", "-t", r.info.ID, "-l", "my own words")
	r.waitState(protocol.Waiting, "composer")
	if err := r.agent.Interrupt(t.Context()); err != nil {
		t.Errorf("with nothing under way: got %v, want nothing to do", err)
	}
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return r.agent.Status().Request == "abc123" })
	if err := r.agent.Interrupt(t.Context()); err != nil {
		t.Errorf("with a prompt that waits: got %v, want it cancelled", err)
	}
	got := <-done
	if f := got.failure(); f == nil || f.Code != protocol.CodeCancelled || !f.Again || len(got.steps) != 0 {
		t.Errorf("got %v after %v, want a cancelled prompt that was not typed", got.err, got.steps)
	}
	if screen := r.screen(); !strings.Contains(screen, "❯ my own words") {
		t.Errorf("got a screen without the draft, want it untouched\n%s", screen)
	}
}

// Whoever begins to type after the look at the pane and before the paste is not
// met by it: the prompt waits until the person's words are sent.
func TestWordsBegunBeforeThePasteStay(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			r := newRig(t, setup{
				script: agentstest.Script{Kind: kind, Turns: says("fine\n{token}")},
				meddle: func(r *rig) {
					once.Do(func() {
						r.command("send-keys", "-t", r.info.ID, "-l", "my own words")
						tmuxtest.Within(tmuxtest.Wait, func() bool { return strings.Contains(r.screen(), "my own words") })
					})
				},
			})
			r.waitState(protocol.Idle, "")
			done := make(chan attempt, 1)
			go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
			r.waitState(protocol.Waiting, "composer")
			r.command("send-keys", "-t", r.info.ID, "Enter")
			if got := <-done; got.err != nil || got.answer.Text != "fine\n"+testMarker {
				t.Fatalf("got %+v, %v, want the answer\n%s", got.answer, got.err, r.screen())
			}
			prompts := r.entries("prompt")
			if len(prompts) != 2 || prompts[0].Text != "my own words" || !strings.HasPrefix(prompts[1].Text, "req-abc123 from user") {
				t.Errorf("got prompts %q, want the person's words and then ours", prompts)
			}
		})
	}
}

// A person who has just pressed a key is given a moment to go on.
func TestTypingPersonIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says("fine\n{token}")}})
	r.waitState(protocol.Idle, "")
	p := r.attach(200, 60)
	ended := make(chan struct{})
	var typing sync.WaitGroup
	typing.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
				io.WriteString(p.file, "x\x7f")
			}
		}
	})
	stop := sync.OnceFunc(func() { close(ended); typing.Wait() })
	t.Cleanup(stop)
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return r.was(protocol.Waiting, "typing") })
	if n := len(r.entries("prompt")); n != 0 {
		t.Errorf("got %d prompts, want none while somebody types", n)
	}
	stop()
	if got := <-done; got.err != nil || got.answer.Text != "fine\n"+testMarker {
		t.Errorf("got %+v, %v, want the answer\n%s", got.answer, got.err, r.screen())
	}
}
