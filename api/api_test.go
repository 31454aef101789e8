package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// serve runs the real server over a hub in memory, on a real socket.
func serve(t testing.TB, hub *apitest.Hub, o api.Options) (socket string, stop func()) {
	t.Helper()
	socket = apitest.SocketPath(t)
	return socket, serveAt(t, hub, socket, o)
}

func serveAt(t testing.TB, hub *apitest.Hub, socket string, o api.Options) (stop func()) {
	t.Helper()
	l, err := api.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Serve(t, api.New(hub, o), l)
}

// raw speaks plain HTTP, as a program that does not use our client.
func raw(t testing.TB, socket, method, path, body string, header ...string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	req, err := http.NewRequest(method, "http://hub"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

const plainMessage = `{"header":{"message_id":"","from":{"agent_type":"","agent_id":""},"to":{"agent_type":"","agent_id":"grand_boss"},"type":"request"},"payload":{"action":"task","params":{"text":"hello"}}}`

func TestRoutes(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	hub.PutTask(protocol.Task{ID: "done1", Root: "done1", Agent: "grand_boss", State: protocol.TaskCompleted, Result: "done", Progress: 100})
	hub.PutTask(protocol.Task{ID: "over1", Root: "over1", Agent: "grand_boss", State: protocol.TaskCancelled, Reason: "no longer needed"})
	hub.PutTask(protocol.Task{ID: "stuck1", Root: "stuck1", Agent: "grand_boss", State: protocol.TaskNeedsHuman, Progress: 40})
	hub.PutTask(protocol.Task{ID: "cheap1", Root: "cheap1", Agent: "grand_boss", TreeTokens: &protocol.Tokens{Input: 1}})
	hub.PutTask(protocol.Task{ID: "dear1", Root: "dear1", Agent: "grand_boss", State: protocol.TaskInProgress, TreeTokens: &protocol.Tokens{Input: 9, Output: 1}})
	hub.Change(func(o *protocol.Overview) {
		o.Inbox = []protocol.InboxItem{{ID: "stuck1", Kind: "needs_human", Agent: "grand_boss", Task: "stuck1"}, {ID: "testing_specialist", Kind: "dialog", Agent: "testing_specialist"},
			{ID: "tokens-today", Kind: protocol.InboxTokens, Agent: protocol.All}, {ID: "dear1", Kind: protocol.InboxTokens, Agent: "grand_boss", Task: "dear1"}}
	})
	socket, _ := serve(t, hub, api.Options{Version: "test"})
	boss := []string{"Authorization", "Pane secret-of-grand_boss"}

	tests := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string // must stand in the answer
	}{
		{"a message", "POST", "/messages", plainMessage, nil, 200, `"taskId":"`},
		{"a message of an agent", "POST", "/messages", strings.ReplaceAll(plainMessage, "grand_boss", "middle_manager"), boss, 200, `"seq":`},
		{"a sender who is not who he says", "POST", "/messages", strings.Replace(plainMessage, `"from":{"agent_type":"","agent_id":""`, `"from":{"agent_type":"","agent_id":"middle_manager"`, 1), nil, 403, `"code":"E_IMPOSTOR"`},
		{"an unknown secret", "POST", "/messages", plainMessage, []string{"Authorization", "Pane nonsense"}, 401, `"code":"E_FORBIDDEN"`},
		{"another scheme", "GET", "/status", "", []string{"Authorization", "Bearer x"}, 401, `"code":"E_FORBIDDEN"`},
		{"forbidden", "POST", "/messages", plainMessage, []string{"Authorization", "Pane secret-of-testing_specialist"}, 403, `"code":"E_FORBIDDEN"`},
		{"unknown agent", "POST", "/messages", strings.Replace(plainMessage, "grand_boss", "grand_bos", 1), nil, 404, `"code":"E_UNKNOWN_AGENT"`},
		{"unknown field", "POST", "/messages", `{"header":{"type":"request","colour":"red"},"payload":{}}`, nil, 400, `colour`},
		{"bad payload names the field", "POST", "/messages", strings.Replace(plainMessage, `"hello"`, `""`, 1), nil, 400, `"field":"payload.params.text"`},
		{"wrong version", "POST", "/messages", strings.Replace(plainMessage, `"type":"request"`, `"type":"request","version":"2.0"`, 1), nil, 400, `"code":"E_VERSION"`},
		{"no payload", "POST", "/messages", `{"header":{}}`, nil, 400, `"code":"E_INVALID"`},
		{"broken JSON", "POST", "/messages", `{"header":`, nil, 400, `"code":"E_INVALID"`},
		{"no body", "POST", "/messages", ``, nil, 400, `"code":"E_INVALID"`},
		{"invalid UTF-8", "POST", "/messages", strings.Replace(plainMessage, "hello", "he\xffllo", 1), nil, 400, `UTF-8`},
		{"another content type", "POST", "/messages", plainMessage, []string{"Content-Type", "text/xml"}, 415, `"code":"E_INVALID"`},
		{"submit_task", "POST", "/submit_task", `{"sessionId":"s","userPrompt":"hi","taskType":"chat","context":{"cwd":"/x"}}`, nil, 200, `"status":"accepted"`},
		{"submit_task without a prompt", "POST", "/submit_task", `{"sessionId":"s","taskType":"chat"}`, nil, 400, `userPrompt`},
		{"submit_task of an unknown kind", "POST", "/submit_task", `{"sessionId":"s","userPrompt":"hi","taskType":"dance"}`, nil, 400, `"field":"taskType"`},
		{"status of a completed task", "GET", "/tasks/done1/status", "", nil, 200, `{"taskId":"done1","status":"completed","progress":100,"result":{"content":"done","format":"text"}}`},
		{"status of a cancelled task", "GET", "/tasks/over1/status", "", nil, 200, `{"taskId":"over1","status":"failed","progress":0,"errorMessage":"no longer needed"}`},
		{"status of a stuck task", "GET", "/tasks/stuck1/status", "", nil, 200, `{"taskId":"stuck1","status":"in_progress","progress":40}`},
		{"status of no task", "GET", "/tasks/zzzz/status", "", nil, 404, `"code":"E_NOT_FOUND"`},
		{"tasks", "GET", "/tasks", "", nil, 200, `"id":"stuck1"`},
		{"less than no task", "GET", "/tasks?limit=-1", "", nil, 400, `"field":"query.limit"`},
		{"task by prefix", "GET", "/tasks/don", "", nil, 200, `"id":"done1"`},
		{"cancel", "POST", "/tasks/stuck1/control", `{"command":"cancel"}`, nil, 200, `"messageId":`},
		{"pause a task", "POST", "/tasks/stuck1/control", `{"command":"pause"}`, nil, 400, `"field":"command"`},
		{"pause", "POST", "/agents/grand_boss/control", `{"command":"pause"}`, nil, 200, `"messageId":`},
		{"pause nobody", "POST", "/agents/nobody/control", `{"command":"pause"}`, nil, 404, `"code":"E_UNKNOWN_AGENT"`},
		{"an agent orders its boss", "POST", "/agents/grand_boss/control", `{"command":"pause"}`, []string{"Authorization", "Pane secret-of-testing_specialist"}, 403, `"code":"E_FORBIDDEN"`},
		{"agents", "GET", "/agents", "", nil, 200, `"name":"testing_specialist"`},
		{"poke", "POST", "/agents/grand_boss/poke", "", boss, 204, ""},
		{"poke another", "POST", "/agents/middle_manager/poke", "", boss, 403, `"code":"E_FORBIDDEN"`},
		{"overview", "GET", "/status", "", nil, 200, `"problems":[]`},
		{"inbox", "GET", "/inbox", "", nil, 200, `"kind":"needs_human"`},
		{"answer", "POST", "/inbox/stu/answer", `{"text":"try the other file"}`, nil, 200, `"messageId":`},
		{"answer a dialog", "POST", "/inbox/testing/answer", `{"text":"yes"}`, nil, 409, `attach testing_specialist`},
		{"answer nothing", "POST", "/inbox/zz/answer", `{"text":"yes"}`, nil, 404, `"code":"E_NOT_FOUND"`},
		{"empty answer", "POST", "/inbox/stuck1/answer", `{"text":""}`, nil, 400, `"field":"text"`},
		{"answer what wants tokens", "POST", "/inbox/dear1/answer", `{"text":"yes"}`, nil, 409, `approve dear1`},
		{"allow a task", "POST", "/inbox/dear1/allow", ``, nil, 200, `"messageId":`},
		{"allow a day", "POST", "/inbox/tokens-today/allow", ``, nil, 200, `"messageId":`},
		{"allow a dialog", "POST", "/inbox/testing/allow", ``, nil, 409, `does not wait for tokens`},
		{"an agent allows itself", "POST", "/inbox/dear1/allow", ``, boss, 403, `"code":"E_FORBIDDEN"`},
		{"stats name the dearest task", "GET", "/stats", "", nil, 200, `"by_task":[{"task":"dear1","agent":"grand_boss","text":"","total":{"input":9,"output":1}}`},
		{"stats", "GET", "/stats", "", nil, 200, `"messages_sent"`},
		{"health", "GET", "/healthz", "", nil, 200, `"status":"ok"`},
		{"an agent ends the session", "POST", "/shutdown", "", boss, 403, `"code":"E_FORBIDDEN"`},
		{"events of no task", "GET", "/tasks/zzzz/events", "", nil, 404, `"code":"E_NOT_FOUND"`},
		{"no such route", "GET", "/nowhere", "", nil, 404, `"code":"E_NOT_FOUND"`},
		{"no such method", "DELETE", "/tasks", "", nil, 405, `"hint":"use GET"`},
		{"no such method but one that takes back", "GET", "/confirmations/rules/r1", "", nil, 405, `"hint":"use DELETE"`},
		{"no confirmations", "GET", "/confirmations", "", nil, 200, `"confirmations":[]`},
		{"the description", "GET", "/openapi.json", "", nil, 200, `"/submit_task"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := raw(t, socket, tt.method, tt.path, tt.body, tt.header...)
			if status != tt.status || !strings.Contains(body, tt.want) {
				t.Fatalf("got %d %s, want %d with %s", status, body, tt.status, tt.want)
			}
			if status >= 400 {
				wantProblem(t, body)
			}
		})
	}
}

// wantProblem checks that an error has exactly the documented shape.
func wantProblem(t testing.TB, body string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	var p api.Problem
	if err := d.Decode(&p); err != nil || p.Error.Code == "" || p.Error.Message == "" {
		t.Errorf("got %s (%v), want {error:{code,message,details}}", body, err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, apitest.New(nil), api.Options{})
	tests := []struct {
		name string
		size int
	}{
		{"payload", protocol.MaxPayload + 1},
		{"body", protocol.MaxPayload + 2<<20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := raw(t, socket, "POST", "/messages", strings.Replace(plainMessage, "hello", strings.Repeat("x", tt.size), 1))
			if status != http.StatusRequestEntityTooLarge || !strings.Contains(body, "E_TOO_LARGE") {
				t.Errorf("got %d %.200s, want 413 E_TOO_LARGE", status, body)
			}
			wantProblem(t, body)
		})
	}
}

func TestSubmitTaskReachesTheBoss(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	raw(t, socket, "POST", "/submit_task", `{"sessionId":"s-1","userPrompt":"do it","taskType":"complex_task","context":{"cwd":"/x"}}`)
	got := hub.Tasks()
	if len(got) != 1 {
		t.Fatalf("got %d tasks, want 1", len(got))
	}
	if got[0].Agent != "grand_boss" || got[0].Session != "s-1" || got[0].Text != "do it\n\nContext:\n{\n  \"cwd\": \"/x\"\n}" {
		t.Errorf("got %+v, want the prompt and its context at the boss", got[0])
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	client := api.NewClient(socket, "")
	defer client.Close()
	if err := client.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-hub.Stopped():
	case <-time.After(5 * time.Second):
		t.Fatal("the hub was not stopped")
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	socket := apitest.SocketPath(t)
	l, err := api.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %o, want 600", got)
	}
	if _, err := api.Listen(socket); err == nil || !strings.Contains(err.Error(), "another hub") {
		t.Errorf("got %v, want the living socket refused", err)
	}
	// A hub that is killed leaves its socket file behind.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = api.Listen(socket)
	if err != nil {
		t.Fatalf("got %v, want the dead socket replaced", err)
	}
	defer l.Close()

	file := apitest.SocketPath(t)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Listen(file); err == nil {
		t.Error("got no error, want a plain file left alone")
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the file was removed: %v", err)
	}
}

func TestOpenAPIDescribesErrors(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, apitest.New(nil), api.Options{Version: "1.2.3"})
	_, text := raw(t, socket, "GET", "/openapi.json", "")
	var doc struct {
		Info  struct{ Version string }
		Paths map[string]map[string]struct {
			Responses map[string]json.RawMessage
		}
	}
	if err := json.NewDecoder(bytes.NewBufferString(text)).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if doc.Info.Version != "1.2.3" {
		t.Errorf("got version %q, want 1.2.3", doc.Info.Version)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if got := string(op.Responses["default"]); !strings.Contains(got, "#/components/schemas/Problem") {
				t.Errorf("%s %s: got default response %s, want Problem", method, path, got)
			}
		}
	}
	if diff := cmp.Diff(false, strings.Contains(text, "ErrorModel\"}")); diff != "" {
		t.Errorf("the framework's own error is described (-want +got):\n%s", diff)
	}
}
