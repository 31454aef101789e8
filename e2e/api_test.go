package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/e2e/hometest"
)

// apiConfig is a company of two, who may run commands when a person approves.
const apiConfig = `engine: builtin
retry: {max: 0}
agents:
  - name: grand_boss
    role: grand_boss
    marker: GRAND BOSS OK
    timeout: 60s
    env: {ORCHESTRATOR_CC_SHELL: "1"}
  - name: testing_specialist
    role: specialist_testing
    marker: TESTING OK
    timeout: 60s
    env: {ORCHESTRATOR_CC_SHELL: "1"}
`

// web is a company with the HTTP interface and a key for it.
type web struct {
	*company
	url, key string
	admin    string // a key that steers, where a test has made one
}

func newWeb(t testing.TB) *web {
	t.Helper()
	return newProject(t, apiConfig).web()
}

// web starts a project's company and makes a key for it.
func (c *company) web() *web {
	c.t.Helper()
	c.run("up", "--port", "0")
	w := &web{company: c, key: strings.TrimSpace(c.run("keys", "add", "tester", "--scope", "read", "--scope", "submit", "--scope", "approve"))}
	w.url = c.address()
	return w
}

// address is where the hub's card says that HTTP is served.
func (c *company) address() string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.project, stateFolder, "hub.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	var card struct{ URL string }
	if err := json.Unmarshal(data, &card); err != nil || card.URL == "" {
		c.t.Fatalf("got card %s, want the address in it", data)
	}
	return card.URL
}

// curl runs the real curl and returns the status and the body.
func (w *web) curl(args ...string) (status, body string) {
	w.t.Helper()
	all := append([]string{"-sS", "--max-time", "30", "-w", "\n%{http_code}"}, args...)
	cmd := exec.Command("curl", all...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("curl %v: %v\n%s", args, err, diag.String())
	}
	text := out.String()
	at := strings.LastIndexByte(text, '\n')
	return text[at+1:], text[:at]
}

func (w *web) bearer() string { return "Authorization: Bearer " + w.key }

// submit gives a task by curl and returns its id.
func (w *web) submit(session, prompt string) string {
	w.t.Helper()
	body, err := json.Marshal(map[string]string{"sessionId": session, "userPrompt": prompt, "taskType": "chat"})
	if err != nil {
		w.t.Fatal(err)
	}
	status, text := w.curl("-H", w.bearer(), "-H", "Content-Type: application/json", "-d", string(body), w.url+"/submit_task")
	var taken api.Submitted
	if err := json.Unmarshal([]byte(text), &taken); err != nil || status != "200" || taken.Status != "accepted" {
		w.t.Fatalf("got %s %s, want it accepted", status, text)
	}
	return taken.TaskID
}

// finished polls a task by curl until it is over.
func (w *web) finished(id string) api.Progress {
	w.t.Helper()
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		status, text := w.curl("-H", w.bearer(), w.url+"/tasks/"+id+"/status")
		var p api.Progress
		if err := json.Unmarshal([]byte(text), &p); err != nil || status != "200" {
			w.t.Fatalf("got %s %s, want a status", status, text)
		}
		if p.Status == "completed" || p.Status == "failed" {
			return p
		}
	}
	w.t.Fatalf("task %s is not finished", id)
	return api.Progress{}
}

// TestCurl uses the interface as a program does that nobody here wrote.
func TestCurl(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	task := w.submit("s1", "/say forty-two")
	got := w.finished(task)
	if got.Result == nil || got.Result.Content != "forty-two\nGRAND BOSS OK" || got.Progress != 100 {
		t.Errorf("got %+v, want the answer", got)
	}
	failed := w.finishedBadly("/fail no idea")
	if !strings.Contains(failed, "no idea") {
		t.Errorf("got %q, want why it failed", failed)
	}
	events := w.events("/tasks/" + task + "/events")
	for _, want := range []string{"event: message\n", "event: step\n", "forty-two", "id: "} {
		if !strings.Contains(events, want) {
			t.Errorf("got %q, want %q in the events", events, want)
		}
	}
	once := []string{"-H", w.bearer(), "-H", "Content-Type: application/json", "-H", "Idempotency-Key: k", "-d", `{"sessionId":"s1","userPrompt":"/say once","taskType":"chat"}`, w.url + "/submit_task"}
	_, first := w.curl(once...)
	if _, second := w.curl(once...); first != second {
		t.Errorf("got %s, then %s, want one receipt", first, second)
	}
	for name, tt := range map[string]struct {
		want string
		args []string
	}{
		"no key":       {"401", []string{w.url + "/tasks"}},
		"wrong key":    {"401", []string{"-H", "Authorization: Bearer x", w.url + "/tasks"}},
		"wrong scope":  {"403", []string{"-H", w.bearer(), "-X", "POST", w.url + "/shutdown"}},
		"no task":      {"404", []string{"-H", w.bearer(), w.url + "/tasks/none/status"}},
		"no method":    {"405", []string{"-H", w.bearer(), "-X", "DELETE", w.url + "/tasks"}},
		"no JSON":      {"400", []string{"-H", w.bearer(), "-H", "Content-Type: application/json", "-d", "{", w.url + "/submit_task"}},
		"no media":     {"415", []string{"-H", w.bearer(), "-H", "Content-Type: text/xml", "-d", "<a/>", w.url + "/submit_task"}},
		"another host": {"403", []string{"-H", w.bearer(), "-H", "Host: evil.example", w.url + "/tasks"}},
	} {
		if status, body := w.curl(tt.args...); status != tt.want || !strings.Contains(body, `"error":{"code":`) {
			t.Errorf("%s: got %s %s, want %s with an error object", name, status, body, tt.want)
		}
	}
	w.run("keys", "revoke", "tester")
	if status, _ := w.curl("-H", w.bearer(), w.url+"/tasks"); status != "401" {
		t.Errorf("got %s after the key was revoked, want 401", status)
	}
}

// events reads an event stream by curl for a moment.
func (w *web) events(path string) string {
	w.t.Helper()
	out, err := exec.Command("curl", "-sSN", "--max-time", "1", "-H", w.bearer(), w.url+path).Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != curlTimedOut) {
		w.t.Fatalf("curl %s: %v", path, err)
	}
	return string(out)
}

// curlTimedOut is how curl ends a stream that goes on.
const curlTimedOut = 28

// finishedBadly submits a task that fails, cancels what waits for a person,
// and returns the reason.
func (w *web) finishedBadly(prompt string) string {
	w.t.Helper()
	id := w.submit("s1", prompt)
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		_, text := w.curl("-H", w.bearer(), "-H", "X-Session-Id: s1", w.url+"/inbox")
		if strings.Contains(text, id) {
			w.curl("-H", w.bearer(), "-H", "Content-Type: application/json", "-d", `{"command":"cancel"}`, w.url+"/tasks/"+id+"/control")
			return text
		}
	}
	return ""
}

// TestApprovals lets the boss ask for a command: a person answers at the
// terminal, and the journal says who.
func TestApprovals(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	for _, tt := range []struct{ verb, want string }{{"approve", "hello from the shell"}, {"deny", "shell:execute is denied by user"}} {
		task := w.submit("s1", "/shell echo hello from the shell")
		id := w.question()
		inside := exec.Command(hometest.Binary(), tt.verb, id)
		inside.Dir, inside.Env = w.project, append(w.command().Env, "ORCHESTRATOR_CC_SECRET=nonsense")
		if out, err := inside.CombinedOutput(); err == nil {
			t.Errorf("got %s, want a stranger's secret refused", out)
		}
		if out := w.run("inbox"); !strings.Contains(out, "shell:execute") || !strings.Contains(out, "approve "+id[:8]) {
			t.Errorf("got inbox %q, want the question", out)
		}
		w.run(tt.verb, id[:8])
		if got := w.finished(task); got.Result == nil || !strings.HasPrefix(got.Result.Content, tt.want) {
			t.Errorf("got %+v, want the command's output", got)
		}
	}
	log := w.run("log", "--json")
	for _, want := range []string{"asks to use shell:execute", "approved shell:execute of grand_boss, by user", "denied shell:execute of grand_boss, by user"} {
		if !strings.Contains(log, want) {
			t.Errorf("got journal %s, want %q in it", log, want)
		}
	}
}

// TestApprovalFromAPane lets a command in one agent's pane, which leaves the
// pane's secret out, try to answer for another agent.
func TestApprovalFromAPane(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	w.give("testing_specialist", "/shell echo mischief")
	open := w.question()
	task := w.give("grand_boss", "/shell env -u ORCHESTRATOR_CC_SECRET "+hometest.Binary()+" approve "+open+" 2>&1; echo tried")
	own := w.question(open)
	w.run("approve", own)
	got := w.finished(task)
	if got.Result == nil || !strings.Contains(got.Result.Content, "inside an agent's pane") || !strings.Contains(got.Result.Content, "tried") {
		t.Errorf("got %+v, want the answer from a pane refused", got)
	}
	if still := w.question(); still != open {
		t.Errorf("got %s open, want %s still to wait", still, open)
	}
	w.run("deny", open)
	task = w.give("grand_boss", "/shell env -u ORCHESTRATOR_CC_SECRET "+hometest.Binary()+" keys add mine --scope approve 2>&1")
	w.run("approve", w.question())
	if got := w.finished(task); got.Result == nil || !strings.Contains(got.Result.Content, "not made inside an agent's pane") {
		t.Errorf("got %+v, want no key made in a pane", got)
	}
}

// give gives an agent a task as its context names it.
func (w *web) give(agent, prompt string) string {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"sessionId": "s1", "userPrompt": prompt, "taskType": "command_execution", "context": map[string]string{"agent": agent}})
	if err != nil {
		w.t.Fatal(err)
	}
	status, text := w.curl("-H", w.bearer(), "-H", "Content-Type: application/json", "-d", string(body), w.url+"/submit_task")
	var taken api.Submitted
	if err := json.Unmarshal([]byte(text), &taken); err != nil || status != "200" {
		w.t.Fatalf("got %s %s, want it accepted", status, text)
	}
	return taken.TaskID
}

// question waits until something waits for approval, besides those known.
func (w *web) question(known ...string) string {
	w.t.Helper()
	client := w.client()
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		all, err := client.Confirmations(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, c := range all {
			if c.State == "pending" && !slices.Contains(known, c.ID) {
				return c.ID
			}
		}
	}
	w.t.Fatal("nothing waits for approval")
	return ""
}
