package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// wire is the other end of a WebSocket.
type wire struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context
}

// window opens a WebSocket with a key.
func (p *port) window(key, query string) *wire {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 60*time.Second)
	p.t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, "ws://"+p.addr+"/ws"+query, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + key}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	p.t.Cleanup(func() { conn.CloseNow() })
	return &wire{t: p.t, conn: conn, ctx: ctx}
}

func (w *wire) say(text string) {
	w.t.Helper()
	if err := w.conn.Write(w.ctx, websocket.MessageText, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

type heard struct {
	Type      string
	Timestamp int64
	Payload   map[string]any
}

// hear waits for the next frame.
func (w *wire) hear() heard {
	w.t.Helper()
	_, data, err := w.conn.Read(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var f heard
	if err := json.Unmarshal(data, &f); err != nil {
		w.t.Fatalf("got %s: %v, want a frame", data, err)
	}
	return f
}

// expect hears the next frame and checks its type and one word of its payload.
func (w *wire) expect(kind, field string, want any) heard {
	w.t.Helper()
	f := w.hear()
	if f.Type != kind || f.Payload[field] != want {
		w.t.Fatalf("got %s %v, want %s with %s %v", f.Type, f.Payload, kind, field, want)
	}
	return f
}

// keepConfirmations runs what a hub process runs beside the listeners.
func keepConfirmations(t testing.TB, s *api.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("confirmations: got %v, want an orderly end", err)
		}
	})
}

// Scenario 1 of the communication interface: a question and its answer.
func TestSocketQuestion(t *testing.T) {
	t.Parallel()
	hub := apitest.New(func(h *apitest.Hub, in protocol.Accepted) {
		if in.Message.Header.Type == protocol.Request {
			h.Reply(in.Message.ID(), "hello to you\nGRAND BOSS OK")
		}
	})
	p := openPort(t, hub, api.Options{})
	w := p.window(p.key("ui"), "")
	first := w.expect("onAgentStateChange", "state", "waiting_for_input")
	session, _ := first.Payload["sessionId"].(string)
	if !strings.HasPrefix(session, "ws-") {
		t.Errorf("got session %q, want one of its own", session)
	}
	w.say(`{"type":"submitUserInput","payload":{"text":"hello"}}`)
	w.expect("onAgentStateChange", "state", "thinking")
	answer := w.expect("onNewMessage", "content", "hello to you\nGRAND BOSS OK")
	metadata, _ := answer.Payload["metadata"].(map[string]any)
	if answer.Payload["format"] != "text" || metadata["latency_ms"] != 12.0 || metadata["source_documents"] == nil || answer.Payload["sessionId"] != session {
		t.Errorf("got %v, want format, latency, sources and the session", answer.Payload)
	}
	if age := time.Since(time.UnixMilli(answer.Timestamp)); age < 0 || age > time.Minute {
		t.Errorf("got a timestamp %s ago, want now", age)
	}
	w.expect("onAgentStateChange", "state", "waiting_for_input")
}

// Scenario 2: the answer needs a tool, which the person approves.
func TestSocketToolCall(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{})
	key := p.key("ui")
	w := p.window(key, "?sessionId=desk")
	w.expect("onAgentStateChange", "sessionId", "desk")
	w.say(`{"type":"submitUserInput","payload":{"text":"read report.txt"}}`)
	task, _ := w.expect("onAgentStateChange", "state", "thinking").Payload["taskId"].(string)
	hub.Change(func(o *protocol.Overview) { o.Agents[0].Task = task })
	decided := make(chan protocol.Confirmation, 1)
	go func() {
		client := api.NewClient(p.socket, "secret-of-grand_boss")
		defer client.Close()
		c, err := client.Confirm(t.Context(), api.Ask{Tool: "file:read", Args: json.RawMessage(`{"path":"report.txt"}`), Warning: &protocol.Warning{Level: "WARN", Message: "reads a file"}})
		if err != nil {
			t.Error(err)
		}
		decided <- c
	}()
	asked := w.expect("onToolCallRequest", "toolName", "file:read")
	warning, _ := asked.Payload["security_warning"].(map[string]any)
	args, _ := asked.Payload["args"].(map[string]any)
	if warning["level"] != "WARN" || args["path"] != "report.txt" || asked.Payload["sessionId"] != "desk" {
		t.Errorf("got %v, want the warning, the arguments and the session", asked.Payload)
	}
	id, _ := asked.Payload["confirmationId"].(string)
	late := p.window(key, "?sessionId=desk")
	late.expect("onAgentStateChange", "state", "thinking")
	if again := late.expect("onToolCallRequest", "confirmationId", id); !reflect.DeepEqual(again.Payload, asked.Payload) {
		t.Errorf("got %v in a window that opened later, want %v", again.Payload, asked.Payload)
	}
	w.say(`{"type":"provideConfirmation","payload":{"confirmationId":"` + id + `","approved":true}}`)
	w.expect("onAgentStateChange", "state", "executing_tool")
	if got := <-decided; got.State != protocol.ConfirmationApproved || got.By != "key ui" {
		t.Errorf("got %+v, want it approved by the key", got)
	}
	hub.Reply(task, "the file says hello")
	w.expect("onNewMessage", "content", "the file says hello")
	w.expect("onAgentStateChange", "state", "waiting_for_input")
	w.say(`{"type":"provideConfirmation","payload":{"confirmationId":"` + id + `","approved":false}}`)
	if f := w.hear(); f.Type != "onError" || !strings.Contains(errorText(f), "E_CONFLICT") {
		t.Errorf("got %v, want the second answer refused", f)
	}
}

func errorText(f heard) string {
	text, err := json.Marshal(f.Payload["error"])
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestSocketBadFrames(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{})
	key := p.key("ui")
	w := p.window(key, "")
	w.hear()
	tests := []struct{ name, frame, want string }{
		{"no JSON", `hello`, "is no command"},
		{"half JSON", `{"type":`, "is no command"},
		{"two values", `{"type":"x","payload":{}} {}`, "after the value"},
		{"a list", `[]`, "is no command"},
		{"no type", `{"payload":{}}`, "submitUserInput, provideConfirmation or provideDialogAnswer"},
		{"unknown type", `{"type":"dance","payload":{}}`, "dance"},
		{"unknown field", `{"type":"submitUserInput","payload":{"text":"x","colour":1}}`, "colour"},
		{"no text", `{"type":"submitUserInput","payload":{}}`, "payload.text"},
		{"no payload", `{"type":"submitUserInput"}`, "payload.text"},
		{"text of another type", `{"type":"submitUserInput","payload":{"text":1}}`, "payload"},
		{"not base64", `{"type":"submitUserInput","payload":{"text":"x","attachments":[{"type":"image","data":"%%%"}]}}`, "base64"},
		{"no image", `{"type":"submitUserInput","payload":{"text":"x","attachments":[{"type":"image","data":"aGVsbG8="}]}}`, "is no image"},
		{"another attachment", `{"type":"submitUserInput","payload":{"text":"x","attachments":[{"type":"video","data":""}]}}`, "use image"},
		{"confirmation without anything", `{"type":"provideConfirmation","payload":{}}`, "payload.approved"},
		{"unknown confirmation", `{"type":"provideConfirmation","payload":{"confirmationId":"x","approved":true}}`, "E_NOT_FOUND"},
		{"answer without anything", `{"type":"provideDialogAnswer","payload":{}}`, "payload.dialogId"},
		{"answer without keys", `{"type":"provideDialogAnswer","payload":{"agent":"grand_boss","dialogId":"d1","keys":[]}}`, "payload.keys"},
		{"answer to nothing", `{"type":"provideDialogAnswer","payload":{"agent":"grand_boss","dialogId":"d1","keys":["Enter"]}}`, "E_NOT_FOUND"},
		{"invalid UTF-8", "{\"type\":\"\xff\"}", "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w.say(tt.frame)
			f := w.hear()
			if text := errorText(f); f.Type != "onError" || !strings.Contains(text, tt.want) || f.Payload["sessionId"] == "" {
				t.Errorf("got %s %s, want onError with %s", f.Type, text, tt.want)
			}
		})
	}
	if err := w.conn.Write(w.ctx, websocket.MessageBinary, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if f := w.hear(); !strings.Contains(errorText(f), "binary") {
		t.Errorf("got %v, want the binary frame refused", f)
	}
	status, body, _ := p.do("GET", "/ws", "", "Authorization", "Bearer "+key)
	if status != 400 {
		t.Errorf("got %d, want 400 for a plain request", status)
	}
	wantProblem(t, body)
}

func TestSocketScopes(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{KeepAlive: 20 * time.Millisecond})
	w := p.window(p.key("reader", api.ScopeRead), "")
	w.hear()
	w.say(`{"type":"submitUserInput","payload":{"text":"hello"}}`)
	if f := w.hear(); !strings.Contains(errorText(f), "scope submit") {
		t.Errorf("got %v, want the scope refused", f)
	}
	w.say(`{"type":"provideConfirmation","payload":{"confirmationId":"x","approved":true}}`)
	if f := w.hear(); !strings.Contains(errorText(f), "scope approve") {
		t.Errorf("got %v, want the scope refused", f)
	}
	if err := p.keys.Revoke("reader"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.conn.Read(w.ctx); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("got %v, want the window closed with its key", err)
	}
}

func TestSocketAttachment(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{Attachments: t.TempDir()})
	w := p.window(p.key("ui"), "")
	w.hear()
	image := "\x89PNG\r\n\x1a\n and so on"
	for _, data := range []string{
		base64.StdEncoding.EncodeToString([]byte(image)),
		"data:image/png;base64," + base64.RawStdEncoding.EncodeToString([]byte(image)),
	} {
		w.say(`{"type":"submitUserInput","payload":{"text":"what is this?","attachments":[{"type":"image","data":"` + data + `"}]}}`)
		w.expect("onAgentStateChange", "state", "thinking")
		text := hub.Tasks()[0].Text
		words, path, found := strings.Cut(text, "\n\nAttached files:\n- ")
		if !found || words != "what is this?" || !strings.HasSuffix(path, ".png") {
			t.Fatalf("got %q, want the words and a file", text)
		}
		kept, err := os.ReadFile(path)
		if err != nil || string(kept) != image {
			t.Errorf("got %q, %v, want the image", kept, err)
		}
	}
}

// TestSocketEndsWithTheServer opens windows and stops the server: it must not
// leave them behind.
func TestSocketEndsWithTheServer(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{})
	w := p.window(p.key("ui"), "")
	w.hear()
	p.stop()
	if _, _, err := w.conn.Read(w.ctx); err == nil {
		t.Error("got a frame, want the end")
	}
}

// FuzzCommand feeds the decoder of frames.
func FuzzCommand(f *testing.F) {
	f.Add([]byte(`{"type":"submitUserInput","payload":{"text":"x","attachments":[{"type":"image","data":"iVBORw0KGgo="}]}}`))
	f.Add([]byte(`{"type":"provideConfirmation","payload":{"confirmationId":"x","approved":true}}`))
	f.Add([]byte(`{"type":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := api.CheckCommand(data); err != nil && protocol.CodeOf(err) == protocol.CodeInternal {
			t.Errorf("got %v, want a fault with a code", err)
		}
	})
}

// TestSocketHalfOpen upgrades by hand and then says nothing more, not even to
// a ping: the server lets go of it.
func TestSocketHalfOpen(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{KeepAlive: 20 * time.Millisecond, WriteWait: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer %s\r\n\r\n", p.key("k"))
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	text, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 101 ") {
		t.Errorf("got %.40q, %v, want an open window that is closed again", text, err)
	}
}
