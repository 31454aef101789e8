package cmd

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

func withDeadline(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), 30*time.Second)
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatal("waited in vain")
		case <-tick.C:
		}
	}
}

// failWith is a company whose every task ends in the given state.
func failWith(state protocol.TaskState, code protocol.Code) func(*apitest.Hub, protocol.Accepted) {
	return func(h *apitest.Hub, in protocol.Accepted) {
		if in.Message.Header.Type != protocol.Request {
			return
		}
		failed := &protocol.ErrorPayload{ErrorCode: string(code), ErrorType: code.ErrorType(), Message: "it did not work"}
		closing := protocol.Closing{Status: protocol.Failed, Code: code, RetryCount: 3}
		h.Finish(in.Message.ID(), failed, closing, func(t *protocol.Task) {
			t.State, t.Code, t.Reason = state, code, "it did not work"
			t.Attempts = []protocol.Attempt{{Number: 1, Steps: []protocol.Mark{{Step: protocol.Undone, Text: "half an ans"}}}}
		})
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	answer := replyWith("42\nGRAND BOSS OK")
	tests := []struct {
		name      string
		react     func(*apitest.Hub, protocol.Accepted)
		stdin     string
		args      []string
		code      int
		out, text string
	}{
		{"an answer", answer, "", []string{"grand_boss", "what?"}, 0, "42\nGRAND BOSS OK\n", ""},
		{"words without quotes", answer, "", []string{"grand_boss", "what", "now?"}, 0, "42\n", ""},
		{"from stdin", answer, "what?\n", []string{"grand_boss", "-"}, 0, "42\n", ""},
		{"async", answer, "", []string{"--async", "grand_boss", "x"}, 0, "-", ""},
		{"info", answer, "", []string{"--type", "info", "all", "news"}, 0, "-", ""},
		{"unknown agent", answer, "", []string{"grandboss", "x"}, 2, "", "did you mean grand_boss?"},
		{"nothing like it", answer, "", []string{"zzz", "x"}, 2, "", "the agents are grand_boss"},
		{"empty", answer, "", []string{"grand_boss", ""}, 2, "", "the text is empty"},
		{"empty stdin", answer, "\n\n", []string{"grand_boss", "-"}, 2, "", "the text is empty"},
		{"invalid UTF-8", answer, "a\xffb", []string{"grand_boss", "-"}, 2, "", "not valid UTF-8"},
		{"oversize", answer, strings.Repeat("x", maxWords+1), []string{"grand_boss", "-"}, 2, "", "more than 8388608 bytes"},
		{"bad priority", answer, "", []string{"--priority", "urgent", "grand_boss", "x"}, 2, "", "low, normal, high or critical"},
		{"bad type", answer, "", []string{"--type", "wish", "grand_boss", "x"}, 2, "", "use task or info"},
		{"bad timeout", answer, "", []string{"--timeout", "soon", "grand_boss", "x"}, 2, "", "write a duration, such as 90s or 5m"},
		{"timeout without a unit", answer, "", []string{"--timeout", "5", "grand_boss", "x"}, 2, "", "write it with a unit, such as 5s"},
		{"a task for all", answer, "", []string{"all", "x"}, 2, "", "hint:  to tell everybody something: orchestrator-cc send all TEXT --type info"},
		{"to oneself", answer, "", []string{"user", "x"}, 3, "", "hint:  send it to an agent, as: orchestrator-cc send grand_boss TEXT"},
		{"negative timeout", answer, "", []string{"--timeout", "-1s", "grand_boss", "x"}, 2, "", "above 0"},
		{"as somebody else", answer, "", []string{"--from", "grand_boss", "middle_manager", "x"}, 3, "", "the sender is user"},
		{"failed", failWith(protocol.TaskFailed, protocol.CodeAgentFailed), "", []string{"grand_boss", "x"}, 1, "", "it did not work"},
		{"failed half-way", failWith(protocol.TaskFailed, protocol.CodeAgentFailed), "", []string{"grand_boss", "x"}, 1, "", "partial answer:\nhalf an ans"},
		{"timed out", failWith(protocol.TaskNeedsHuman, protocol.CodeTimeout), "", []string{"grand_boss", "x"}, 5, "", "it waits for you: orchestrator-cc retry"},
		{"expired", failWith(protocol.TaskFailed, protocol.CodeExpired), "", []string{"grand_boss", "x"}, 5, "", "orchestrator-cc show"},
		{"denied", failWith(protocol.TaskFailed, protocol.CodeForbidden), "", []string{"grand_boss", "x"}, 3, "", "it did not work"},
		{"cancelled", failWith(protocol.TaskCancelled, protocol.CodeCancelled), "", []string{"grand_boss", "x"}, 1, "", "it did not work"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, tt.react)
			r.in = strings.NewReader(tt.stdin)
			wantRun(t, r, append([]string{"send"}, tt.args...), tt.code, tt.out, tt.text)
			if tt.code != 0 && r.out.String() != "" {
				t.Errorf("got %q on stdout, want nothing without an answer", r.out)
			}
		})
	}
}

func TestSendJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t, replyWith("42\nGRAND BOSS OK"))
	wantRun(t, r, []string{"send", "--json", "grand_boss", "x"}, 0, "", "")
	var got map[string]any
	if err := json.Unmarshal([]byte(r.out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got["task_id"] != got["message_id"] || got["task_id"] == "" {
		t.Errorf("got ids %v and %v, want one id", got["task_id"], got["message_id"])
	}
	delete(got, "task_id")
	delete(got, "message_id")
	want := map[string]any{
		"from": "grand_boss", "content": "42\nGRAND BOSS OK", "status": "completed", "evidence": "channel",
		"truncated": false, "latency_ms": 12.0, "retry_count": 0.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}

	failed := newRig(t, failWith(protocol.TaskFailed, protocol.CodeTimeout))
	wantRun(t, failed, []string{"send", "--json", "grand_boss", "x"}, exitTimedOut, `"content": "half an ans"`, "")
	if !strings.Contains(failed.out.String(), `"code": "E_TIMEOUT"`) {
		t.Errorf("got %s, want the error's code", failed.out)
	}
}

func TestSendCarriesItsOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t, replyWith("ok"))
	wantRun(t, r, []string{"send", "--priority", "high", "--timeout", "90s", "grand_boss", "x"}, 0, "ok", "")
	entry, err := r.hub.Follow(0, "").Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := entry.Message.Message
	request := m.Payload.(*protocol.RequestPayload)
	if m.Priority() != protocol.High || request.TimeoutMS == nil || *request.TimeoutMS != 90_000 || !entry.Message.Collected {
		t.Errorf("got %+v, want high priority, 90 s, and an answer that the sender collects", entry.Message)
	}
}

func TestTruncatedAnswerIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(h *apitest.Hub, in protocol.Accepted) {
		closing := protocol.Closing{Status: protocol.Success, Truncated: true}
		h.Finish(in.Message.ID(), protocol.Answer(protocol.Success, "the end"), closing, func(t *protocol.Task) { t.State = protocol.TaskCompleted })
	})
	wantRun(t, r, []string{"send", "grand_boss", "x"}, 0, "the end", "warning: tmux no longer had all")
}

// TestSendSurvivesARestart takes the hub away while a sender waits.
func TestSendSurvivesARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	card, _, err := place{root: r.dir}.readHubCard()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	ctx, cancel := withDeadline(t)
	defer cancel()
	go func() { ended <- run(ctx, r.app, []string{"send", "grand_boss", "x"}) }()
	eventually(t, func() bool { return len(r.hub.Tasks()) == 1 })
	r.stop()
	r.hub.Reply(r.hub.Tasks()[0].ID, "said while nobody listened")
	r.serve(t, card.Socket)
	if code := <-ended; code != 0 {
		t.Fatalf("got exit %d, want 0 (%s)", code, r.err)
	}
	if got := r.out.String(); got != "said while nobody listened\n" {
		t.Errorf("got %q, want the answer", got)
	}
}

// TestSendAsksAgain lets the hub die between the closing entry and the
// question what became of the task.
func TestSendAsksAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, replyWith("42"))
	card, _, err := place{root: r.dir}.readHubCard()
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	l, err := api.Listen(card.Socket)
	if err != nil {
		t.Fatal(err)
	}
	inner := api.New(r.hub, api.Options{}).Handler()
	var questions atomic.Int32
	outer := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := strings.Split(req.URL.Path, "/")
		if len(path) == 3 && path[1] == "tasks" && questions.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, req)
	})}
	ended := make(chan error, 1)
	go func() { ended <- outer.Serve(l) }()
	defer func() { outer.Close(); <-ended }()
	wantRun(t, r, []string{"send", "grand_boss", "x"}, 0, "42", "")
	if got := questions.Load(); got != 2 {
		t.Errorf("got %d questions, want 2", got)
	}
}

// TestInterruptedSendLeavesTheTask stops waiting as Ctrl-C does.
func TestInterruptedSendLeavesTheTask(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ended := make(chan int, 1)
	ctx, cancel := withDeadline(t)
	go func() { ended <- run(ctx, r.app, []string{"send", "grand_boss", "x"}) }()
	eventually(t, func() bool { return len(r.hub.Tasks()) == 1 })
	cancel()
	if code := <-ended; code != exitFailed {
		t.Errorf("got exit %d, want %d", code, exitFailed)
	}
	task := r.hub.Tasks()[0]
	if want := "orchestrator-cc show " + short(task.ID); !strings.Contains(r.err.String(), want) {
		t.Errorf("got %q, want %q in it", r.err, want)
	}
	if task.State != protocol.TaskPending {
		t.Errorf("got state %s, want the task untouched", task.State)
	}
}

// TestProgressOnATerminal shows the hops, and nothing of them stays on the line.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(h *apitest.Hub, in protocol.Accepted) {
		id := in.Message.ID()
		h.Append(protocol.Entry{Kind: protocol.KindStep, Step: &protocol.Step{Name: protocol.Claimed, Agent: "grand_boss", Messages: []string{id}, Task: id}})
		h.Reply(id, "done")
	})
	r.app.err.terminal = true
	r.app.err.width = func() int { return 80 }
	if code := r.run(t, "send", "grand_boss", "x"); code != 0 {
		t.Fatalf("got exit %d, want 0 (%s)", code, r.err)
	}
	got := r.err.String()
	for _, want := range []string{"grand_boss is at work …", "\r\x1b[Kgrand_boss → user: success after 0.0s\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	if !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("got %q, want a clean line at the end", got)
	}
}
