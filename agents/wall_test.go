package agents_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux/tmuxtest"
)

// walls are the patterns of an engine that shows its limits.
func walls(o *agents.Options) {
	o.Engine.Wall = []*regexp.Regexp{regexp.MustCompile(`^● Limit reached`), regexp.MustCompile(`quota is used up, back (?P<reset>.*)`)}
}

// A program that shows a wall in place of an answer has hit it; one that only
// speaks of it in an answer has not.
func TestWallOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, said string
		wall       bool
		wait       time.Duration // 0: it does not say
	}{
		{"with its end", "Limit reached. Try again in 2h.", true, 2 * time.Hour},
		{"on two lines", "Limit reached. Try again in\n2h.", true, 2 * time.Hour},
		{"with a named group", "the quota is used up, back 11:59 pm", true, 0},
		{"without its end", "Limit reached.", true, 0},
		{"spoken of", "Limit reached. Try again in 2h.\n{token}", false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: says(tt.said)}, options: walls})
			began := time.Now()
			got := r.send(agents.Request{ID: "abc123", Body: "hello"})
			var f *agents.Failure
			switch {
			case !tt.wall:
				if got.err != nil || got.answer.Evidence != agents.ByToken {
					t.Errorf("got %+v, %v, want an answer by its token", got.answer, got.err)
				}
				return
			case !errors.As(got.err, &f) || f.Code != protocol.CodeWall || !f.Again:
				t.Fatalf("got %+v, %v, want a wall after which it may be tried again\n%s", got.answer, got.err, r.screen())
			case tt.name == "with a named group" && f.Until.Local().Format("15:04") != "23:59":
				t.Errorf("got a wall until %s, want one minute before midnight", f.Until)
			case tt.wait > 0 && (f.Until.Before(began.Add(tt.wait)) || f.Until.After(time.Now().Add(tt.wait))):
				t.Errorf("got a wall until %s, want one of %s", f.Until, tt.wait)
			}
		})
	}
}

// A program may report that its turn failed before it shows at which wall.
func TestWallShownAfterTheReport(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{pause(300 * time.Millisecond), say("Limit reached. Try again in 2h."), pause(10 * time.Minute)}
	r := newRig(t, setup{channel: true, script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}}, options: walls})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return len(r.entries("prompt")) == 1 })
	if err := agents.Append(r.options.Spool, protocol.Report{Event: protocol.ReportFailed, Req: "abc123", Text: "it failed"}); err != nil {
		t.Fatal(err)
	}
	var f *agents.Failure
	if got := <-done; !errors.As(got.err, &f) || f.Code != protocol.CodeWall || f.Until.Before(time.Now().Add(time.Hour)) {
		t.Errorf("got %+v, %v, want a wall of two hours", got.answer, got.err)
	}
}

// A dialog about a wall says so.
func TestDialogAtAWall(t *testing.T) {
	t.Parallel()
	acts := []agentstest.Act{say("Limit reached. Try again in 2h."), {Dialog: "Do you want to proceed?"}, say("{token}")}
	r := newRig(t, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: [][]agentstest.Act{acts}}, options: walls})
	done := make(chan attempt, 1)
	go func() { done <- r.send(agents.Request{ID: "abc123", Body: "hello"}) }()
	r.waitState(protocol.Waiting, "a dialog waits for an answer at a limit: Limit reached. Try again in 2h.")
	r.command("send-keys", "-t", r.info.ID, "1")
	if got := <-done; got.err != nil {
		t.Errorf("got %v, want an answer after the dialog", got.err)
	}
}
