package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// browser is a headless Chromium with one page, steered by its own protocol.
type browser struct {
	t       testing.TB
	ctx     context.Context
	conn    *websocket.Conn
	session string
	calls   int
}

// leaveOut skips a test whose foreign client is not here. In CI it fails
// instead: scripts/tools.sh has installed all of them.
func leaveOut(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

var listening = regexp.MustCompile(`DevTools listening on (ws://\S+)`)

// newBrowser opens a page. Where there is no Chromium the test is skipped.
func newBrowser(t testing.TB, page string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		leaveOut(t, "no Chromium is installed: apt-get install chromium")
	}
	profile, err := os.MkdirTemp("", "occ-chromium")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--remote-debugging-port=0", "--user-data-dir="+profile, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	// Its helpers are in its group, which is ended as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	diag, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_ = os.RemoveAll(profile)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	conn, _, err := websocket.Dial(ctx, address(t, diag), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(1 << 24)
	b.conn = conn
	var target struct {
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	b.call("Target.createTarget", map[string]any{"url": page}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	b.settle(page)
	return b
}

// address finds the browser's own WebSocket in what it says at its start, and
// reads on so that it never has to wait for us.
func address(t testing.TB, diag io.Reader) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(diag)
		for lines.Scan() {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case url := <-found:
		return url
	case <-time.After(60 * time.Second):
		t.Fatal("Chromium does not start")
		return ""
	}
}

// settle waits until the page is there.
func (b *browser) settle(page string) {
	b.t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if at := b.eval("location.href + ' ' + document.readyState"); at == page+" complete" {
			return
		} else if time.Now().After(limit) {
			b.t.Fatalf("got the page %q, want %s", at, page)
		}
	}
}

// call makes one request of the browser and reads until its answer.
func (b *browser) call(method string, params map[string]any, into any) {
	b.t.Helper()
	b.calls++
	request := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.conn.Write(b.ctx, websocket.MessageText, data); err != nil {
		b.t.Fatal(err)
	}
	for {
		_, data, err := b.conn.Read(b.ctx)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.calls {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if err := json.Unmarshal(answer.Result, into); err != nil {
			b.t.Fatal(err)
		}
		return
	}
}

// eval runs a script in the page, waits for its promise, and returns its text.
func (b *browser) eval(script string) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("script: %s %s", out.ExceptionDetails.Text, out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value)
}

// TestBrowser uses EventSource and WebSocket of a real browser, with the cookie
// of /login, from a page of the hub's own.
func TestBrowser(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	b := newBrowser(t, w.url+"/docs")
	if routes := b.eval(`new Promise(done => { const look = () => { const n = document.querySelectorAll("details").length; n > 10 ? done(n) : setTimeout(look, 20); }; look(); })`); routes == "" {
		t.Errorf("got an empty page of docs")
	}
	if got := b.eval(`fetch("/login", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({key: "` + w.key + `"})}).then(r => r.status + document.cookie)`); got != "200" {
		t.Fatalf("got %q, want to be logged in, with a cookie that no script sees", got)
	}
	got := b.eval(`(async () => {
		const heard = [];
		const source = new EventSource("/events?sessionId=page");
		const all = new Promise(done => source.addEventListener("message", e => {
			const entry = JSON.parse(e.data);
			if (!entry.message) return;
			heard.push(e.lastEventId > 0 ? entry.message.message.header.type : "no id");
			if (entry.message.closing) done();
		}));
		await new Promise(ok => source.onopen = ok);
		const answer = await fetch("/submit_task", {method: "POST", headers: {"Content-Type": "application/json"},
			body: JSON.stringify({sessionId: "page", userPrompt: "/say hello browser", taskType: "chat"})});
		const task = (await answer.json()).taskId;
		await all;
		source.close();
		const status = await (await fetch("/tasks/" + task + "/status")).json();
		return heard.join(" ") + ": " + status.result.content;
	})()`)
	if want := "request ack response: hello browser\nGRAND BOSS OK"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	question := b.eval(socketScript("/say hello socket"))
	if want := "waiting_for_input thinking message(hello socket) waiting_for_input"; question != want {
		t.Errorf("scenario 1: got %q, want %q", question, want)
	}
	tool := b.eval(socketScript("/shell echo hello tool"))
	if want := "waiting_for_input thinking shell:execute(INFO) executing_tool message(hello tool) waiting_for_input"; tool != want {
		t.Errorf("scenario 2: got %q, want %q", tool, want)
	}
}

// socketScript submits a prompt by WebSocket, approves what is asked, and
// writes down what it hears until the session waits again.
func socketScript(prompt string) string {
	return strings.ReplaceAll(`new Promise((done, fail) => {
		const heard = [], socket = new WebSocket(location.origin.replace("http", "ws") + "/ws");
		const send = (type, payload) => socket.send(JSON.stringify({type, payload}));
		socket.onerror = () => fail(new Error("the socket broke"));
		socket.onmessage = e => {
			const {type, payload} = JSON.parse(e.data);
			if (type === "onNewMessage") heard.push("message(" + payload.content.split("\n")[0] + ")");
			if (type === "onError") heard.push(JSON.stringify(payload));
			if (type === "onToolCallRequest") {
				heard.push(payload.toolName + "(" + payload.security_warning.level + ")");
				send("provideConfirmation", {confirmationId: payload.confirmationId, approved: true});
			}
			if (type !== "onAgentStateChange") return;
			heard.push(payload.state);
			if (payload.state !== "waiting_for_input") return;
			if (heard.length === 1) return send("submitUserInput", {text: "PROMPT"});
			socket.close();
			done(heard.join(" "));
		};
	})`, "PROMPT", prompt)
}
