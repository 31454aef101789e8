package api_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

func TestSubmitRouting(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, taskType, context string
		agent, text             string
		priority                protocol.Priority
		timeout                 time.Duration
	}{
		{name: "the boss by default", taskType: "chat", agent: "grand_boss", text: "hi"},
		{name: "routed by its type", taskType: "file_operation", agent: "testing_specialist", text: "hi"},
		{name: "named", taskType: "file_operation", context: `{"agent":"middle_manager"}`, agent: "middle_manager", text: "hi"},
		{name: "urgent", taskType: "chat", context: `{"priority":"high","timeout":"90s"}`, agent: "grand_boss", text: "hi", priority: protocol.High, timeout: 90 * time.Second},
		{name: "seconds", taskType: "chat", context: `{"timeout":1.5}`, agent: "grand_boss", text: "hi", timeout: 1500 * time.Millisecond},
		{name: "the rest is text", taskType: "chat", context: `{"agent":"grand_boss","cwd":"/x","html":"<b>"}`, agent: "grand_boss", text: "hi\n\nContext:\n{\n  \"cwd\": \"/x\",\n  \"html\": \"<b>\"\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got protocol.Message
			hub := apitest.New(func(_ *apitest.Hub, in protocol.Accepted) { got = in.Message })
			socket, _ := serve(t, hub, api.Options{Routing: map[string]string{"file_operation": "testing_specialist"}})
			body := `{"sessionId":"s","userPrompt":"hi","taskType":"` + tt.taskType + `"}`
			if tt.context != "" {
				body = strings.TrimSuffix(body, "}") + `,"context":` + tt.context + `}`
			}
			if status, text := raw(t, socket, "POST", "/submit_task", body); status != 200 {
				t.Fatalf("got %d %s, want it taken", status, text)
			}
			payload := got.Payload.(*protocol.RequestPayload)
			timeout := time.Duration(0)
			if payload.TimeoutMS != nil {
				timeout = time.Duration(*payload.TimeoutMS) * time.Millisecond
			}
			priority := tt.priority
			if priority == "" {
				priority = protocol.Normal
			}
			if got.To() != tt.agent || got.Text() != tt.text || got.Priority() != priority || timeout != tt.timeout {
				t.Errorf("got %s %q %s %s, want %s %q %s %s", got.To(), got.Text(), got.Priority(), timeout, tt.agent, tt.text, priority, tt.timeout)
			}
		})
	}
}

func TestSubmitBadContext(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, apitest.New(nil), api.Options{})
	tests := []struct {
		name, context string
		status        int
		want          []string
	}{
		{"unknown agent", `{"agent":"nobody"}`, 404, []string{"context.agent"}},
		{"everything wrong", `{"agent":1,"priority":"soon","timeout":"-1s"}`, 400, []string{"context.agent", "context.priority", "context.timeout"}},
		{"no duration", `{"timeout":"soon"}`, 400, []string{"context.timeout"}},
		{"endless", `{"timeout":1e12}`, 400, []string{"context.timeout"}},
		{"no object", `[]`, 400, []string{"context"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := raw(t, socket, "POST", "/submit_task", `{"sessionId":"s","userPrompt":"hi","taskType":"chat","context":`+tt.context+`}`)
			if status != tt.status {
				t.Errorf("got %d %s, want %d", status, body, tt.status)
			}
			for _, field := range tt.want {
				if !strings.Contains(body, field) {
					t.Errorf("got %s, want %s named", body, field)
				}
			}
			wantProblem(t, body)
		})
	}
}

// TestSubmitOnce repeats a submit at the same time and afterwards: it is one
// task with one receipt, and another session's key of that name is another.
func TestSubmitOnce(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	var hands sync.WaitGroup
	receipts := make(chan string, 100)
	for range cap(receipts) {
		hands.Go(func() {
			_, body := raw(t, socket, "POST", "/submit_task", chat, "Idempotency-Key", "k1")
			receipts <- body
		})
	}
	hands.Wait()
	close(receipts)
	seen := map[string]int{}
	for r := range receipts {
		seen[r]++
	}
	if len(seen) != 1 || len(hub.Tasks()) != 1 {
		t.Errorf("got %d tasks and receipts %v, want one", len(hub.Tasks()), seen)
	}
	raw(t, socket, "POST", "/submit_task", strings.Replace(chat, `"s"`, `"other"`, 1), "Idempotency-Key", "k1")
	raw(t, socket, "POST", "/submit_task", chat, "Idempotency-Key", "k2")
	raw(t, socket, "POST", "/submit_task", chat)
	if got := len(hub.Tasks()); got != 4 {
		t.Errorf("got %d tasks, want 4", got)
	}
}

// TestSubmitOnceWithAnotherBody keeps a key for one task: what asks for
// something else with it is refused, and the task stays as it was.
func TestSubmitOnceWithAnotherBody(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	const first = `{"sessionId":"s","userPrompt":"hi","taskType":"chat","context":{"timeout":"9s","cwd":"/x","n":1}}`
	once := []string{"Idempotency-Key", "k1"}
	_, receipt := raw(t, socket, "POST", "/submit_task", first, once...)
	tests := []struct {
		name, body string
		status     int
	}{
		{"the same", first, 200},
		{"the same in another order", `{"context":{"n":1,"cwd":"/x","timeout":"9s"},"taskType":"chat","userPrompt":"hi","sessionId":"s"}`, 200},
		{"another prompt", strings.Replace(first, `"hi"`, `"ho"`, 1), 409},
		{"another type", strings.Replace(first, "chat", "complex_task", 1), 409},
		{"another agent", strings.Replace(first, `"cwd"`, `"agent":"middle_manager","cwd"`, 1), 409},
		{"another priority", strings.Replace(first, `"cwd"`, `"priority":"high","cwd"`, 1), 409},
		{"another timeout", strings.Replace(first, "9s", "8s", 1), 409},
		{"another context", strings.Replace(first, "/x", "/y", 1), 409},
	}
	for _, tt := range tests {
		status, body := raw(t, socket, "POST", "/submit_task", tt.body, once...)
		if status != tt.status || status == 200 && body != receipt {
			t.Errorf("%s: got %d %s, want %d", tt.name, status, body, tt.status)
		}
		if status == 409 && (!strings.Contains(body, `"field":"Idempotency-Key"`) || !strings.Contains(body, "use a new key")) {
			t.Errorf("%s: got %s, want the key named and the cure", tt.name, body)
		}
	}
	if got := len(hub.Tasks()); got != 1 {
		t.Errorf("got %d tasks, want 1", got)
	}
}

// TestSubmitRejected fills the company: a task too many is rejected, not an
// error, and may be sent again with its key.
func TestSubmitRejected(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	hub.Limit(1)
	socket, _ := serve(t, hub, api.Options{})
	raw(t, socket, "POST", "/submit_task", chat)
	status, body := raw(t, socket, "POST", "/submit_task", chat, "Idempotency-Key", "k")
	var got api.Submitted
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || got.Status != "rejected" || got.TaskID == "" || !strings.Contains(got.Message, "open tasks") {
		t.Fatalf("got %d %s, want it rejected, and why", status, body)
	}
	if status, body := raw(t, socket, "GET", "/tasks/"+got.TaskID+"/status", ""); status != 404 {
		t.Errorf("got %d %s, want nothing kept of it", status, body)
	}
	hub.Limit(2)
	if _, body := raw(t, socket, "POST", "/submit_task", chat, "Idempotency-Key", "k"); !strings.Contains(body, `"accepted"`) {
		t.Errorf("got %s, want it accepted when there is room", body)
	}
}

// TestStatusHasTheWholeResult asks for a task of which the hub keeps only the
// beginning.
func TestStatusHasTheWholeResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long answer, ", 100)
	hub := apitest.New(func(h *apitest.Hub, in protocol.Accepted) {
		h.Reply(in.Message.ID(), long)
		task, _ := h.Task(in.Message.ID())
		task.Result, task.Text = long[:120]+"…", task.Text[:10]+"…"
		h.PutTask(task)
	})
	socket, _ := serve(t, hub, api.Options{})
	_, receipt := raw(t, socket, "POST", "/submit_task", strings.Replace(chat, `"hi"`, `"a long question"`, 1))
	var taken api.Submitted
	if err := json.Unmarshal([]byte(receipt), &taken); err != nil {
		t.Fatal(err)
	}
	_, body := raw(t, socket, "GET", "/tasks/"+taken.TaskID+"/status", "")
	var got api.Progress
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Result == nil || got.Result.Content != long {
		t.Errorf("got %s, want the whole answer", body)
	}
	if _, body = raw(t, socket, "GET", "/tasks/"+taken.TaskID, ""); !strings.Contains(body, long) || !strings.Contains(body, "a long question") {
		t.Errorf("got %s, want the whole question and answer", body)
	}
}

// FuzzContext feeds the reader of a task's context.
func FuzzContext(f *testing.F) {
	f.Add([]byte(`{"agent":"x","priority":"low","timeout":"1s","more":[1,{"a":null}]}`))
	f.Add([]byte(`{"timeout":1e400}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := api.CheckContext(data); err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("got %v, want an invalid field", err)
		}
	})
}

// FuzzSubmit feeds the whole way in: whatever the body is, the answer is one
// of ours and the server lives.
func FuzzSubmit(f *testing.F) {
	f.Add([]byte(chat))
	f.Add([]byte(`{"sessionId":"a/b","userPrompt":"","taskType":1,"context":[]}`))
	f.Add([]byte(plainMessage))
	socket, _ := serve(f, apitest.New(nil), api.Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, path := range []string{"/submit_task", "/messages"} {
			status, body := raw(t, socket, "POST", path, string(data))
			if status >= 500 {
				t.Errorf("%s: got %d %s, want no error of the server's", path, status, body)
			}
			if status >= 400 {
				wantProblem(t, body)
			} else if !json.Valid([]byte(body)) {
				t.Errorf("%s: got %s, want JSON", path, body)
			}
		}
	})
}
