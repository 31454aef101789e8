package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"orchestrator-cc/protocol"
)

// unending is a task whose answer is begun and never completed: what is seen of
// it was sent while it was being written.
const unending = "/say begun by the boss\n/think 10m\n/say never"

// TestAnswersStream reads along with curl: an answer of the boss, and one of a
// delegate, neither of which ever ends.
func TestAnswersStream(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	task := w.submit("s1", unending)
	want := protocol.Part{TaskID: task, Agent: "grand_boss", Text: "begun by the boss", Exact: true}
	if got := w.firstPart("/tasks/" + task + "/events"); got != want {
		t.Errorf("got part %+v, want %+v", got, want)
	}
	if got := w.firstPart("/events?sessionId=s1"); got != want {
		t.Errorf("by session: got part %+v, want %+v", got, want)
	}
	w.cancel(task)
	task = w.submit("s1", "/delegate testing_specialist\n  /say 始めました\n  /think 10m")
	want = protocol.Part{TaskID: task, Agent: "testing_specialist", Text: "始めました", Exact: true}
	if got := w.firstPart("/tasks/" + task + "/events"); got != want {
		t.Errorf("of a delegate: got part %+v, want %+v", got, want)
	}
	w.cancel(task)
}

// firstPart reads events by curl until a part comes.
func (w *web) firstPart(path string) (part protocol.Part) {
	w.t.Helper()
	cmd := exec.Command("curl", "-sSN", "--max-time", "60", "-H", w.bearer(), w.url+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	event := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			event = name
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && event == "part" {
			if err := json.Unmarshal([]byte(data), &part); err != nil {
				w.t.Fatal(err)
			}
			return part
		}
	}
	w.t.Fatalf("%s: got no part, want one while the answer is being written", path)
	return part
}

func (w *web) cancel(task string) {
	w.t.Helper()
	w.curl("-H", w.bearer(), "-H", "Content-Type: application/json", "-d", `{"command":"cancel"}`, w.url+"/tasks/"+task+"/control")
}

// TestBrowserReadsAlong does so with EventSource and WebSocket of a browser.
func TestBrowserReadsAlong(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	b := newBrowser(t, w.url+"/docs")
	b.eval(`fetch("/login", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({key: "` + w.key + `"})}).then(r => r.status)`)
	got := b.eval(`(async () => {
		const source = new EventSource("/events?sessionId=page");
		await new Promise(ok => source.onopen = ok);
		const part = new Promise(done => source.addEventListener("part", e => done(JSON.parse(e.data))));
		await fetch("/submit_task", {method: "POST", headers: {"Content-Type": "application/json"},
			body: JSON.stringify({sessionId: "page", userPrompt: "/say begun for a page\n/think 10m", taskType: "chat"})});
		const {taskId, agent, offset, text} = await part;
		source.close();
		await fetch("/tasks/" + taskId + "/control", {method: "POST", headers: {"Content-Type": "application/json"}, body: '{"command":"cancel"}'});
		return agent + " " + offset + " " + text;
	})()`)
	if want := "grand_boss 0 begun for a page"; got != want {
		t.Errorf("EventSource: got %q, want %q", got, want)
	}
	got = b.eval(`new Promise(done => {
		const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws");
		socket.onopen = () => socket.send(JSON.stringify({type: "submitUserInput", payload: {text: "/say begun for a window\n/think 10m"}}));
		socket.onmessage = e => {
			const {type, payload} = JSON.parse(e.data);
			if (type === "onMessagePart") { socket.close(); done(payload.agent + " " + payload.offset + " " + payload.content); }
		};
	})`)
	if want := "grand_boss 0 begun for a window"; got != want {
		t.Errorf("WebSocket: got %q, want %q", got, want)
	}
}
