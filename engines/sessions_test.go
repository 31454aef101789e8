package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// An agent forgets one session before it works for another: what the model is
// told holds no word of it. Within a session the conversation goes on.
func TestSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			model.say("甲", "桜の答え。")
			model.say("乙", "松の答え。")
			for _, x := range []struct{ session, body, want, knows, not string }{
				{"a", "甲の一。", "桜の答え。", "", "松"},
				{"a", "甲の二。", "桜の答え。", "甲の一。", "松"},
				{"b", "乙の一。", "松の答え。", "", "甲"},
				{"a", "甲の三。", "桜の答え。", "", "乙"},
			} {
				before := len(c.model.Calls())
				if got := c.ask(x.session, x.body); got != x.want+"\n"+marker {
					t.Errorf("%s: got %q, want %q", x.body, got, x.want)
				}
				for _, call := range c.model.Calls()[before:] {
					if _, ours := request(call); !ours {
						continue
					}
					if strings.Contains(string(call.Body), x.not) {
						t.Errorf("%s: got %q in what the model was told, want nothing of the other session", x.body, x.not)
					}
					if !strings.Contains(string(call.Body), x.knows) {
						t.Errorf("%s: got no %q in what the model was told, want its own session to go on", x.body, x.knows)
					}
				}
			}
			if n := c.status(specialist).Restarts; n != 0 {
				t.Errorf("got %d restarts, want none", n)
			}
		})
	}
}

// An answer is read along while the model still writes: the program's own words
// where it tells them, else what its screen shows.
func TestAnswersAreReadAlong(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			model.on("ゆっくり", func(call modeltest.Call, asked protocol.Prompt) modeltest.Turn {
				text := strings.Join(strings.Split(numbered("始まりの行です。\n"), "\n")[:120], "\n") + "\n終わり。\n" + protocol.Token(markerIn(call), asked.Req)
				return modeltest.Turn{Text: text, Pace: 3 * time.Second}
			})
			done := c.background(specialist, "ゆっくり書いてください。")
			c.wait("prompt at the model", func() bool { return len(received(c.model)) == 1 })
			client := api.NewClient(c.socket(), "")
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var early, all []protocol.Part
			over := false
			for e := range client.WatchWriting(ctx, c.openTask(), 0, func(p protocol.Part) {
				if !over {
					early = append(early, p)
				}
				all = append(all, p)
			}) {
				if over = e.Message != nil && e.Message.Closing != nil; over {
					break
				}
			}
			if r := c.finish(done); r.code != 0 || !strings.Contains(r.out, "終わり。") {
				t.Errorf("got exit %d and %q, want the answer\n%s", r.code, r.out, r.err)
			}
			if len(early) == 0 || !strings.Contains(early[0].Text, "始まりの行です。") || strings.Contains(early[0].Text, "終わり") {
				t.Fatalf("got parts %+v, want the beginning before the end", early)
			}
			for _, part := range all {
				if part.Agent != specialist || part.Exact != p.words || strings.Contains(part.Text, marker) {
					t.Errorf("got part %+v, want it exact: %v, and no marker in it", part, p.words)
				}
			}
			t.Logf("%s: %d parts before the end", p.name, len(early))
		})
	}
}

// socket is where the hub listens.
func (c *company) socket() string {
	c.t.Helper()
	card, err := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "hub.json"))
	var hub struct{ Socket string }
	if err == nil {
		err = json.Unmarshal(card, &hub)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return hub.Socket
}

// http asks the hub on its socket.
func (c *company) http(method, path string, body any, into any) {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", c.socket())
	}}}
	req, err := http.NewRequest(method, "http://hub"+path, bytes.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", resp.Status)
	}
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
}

// ask gives the agent a task in a session and waits for its result.
func (c *company) ask(session, body string) string {
	c.t.Helper()
	return c.result(c.submit(session, body), body)
}

// submit gives the agent a task in a session, and does not wait.
func (c *company) submit(session, body string) (task string) {
	c.t.Helper()
	var taken api.Submitted
	c.http(http.MethodPost, "/submit_task", map[string]any{
		"sessionId": session, "userPrompt": body, "taskType": "chat", "context": map[string]string{"agent": specialist, "timeout": "2m"},
	}, &taken)
	return taken.TaskID
}

// result waits for the end of a task.
func (c *company) result(task, body string) string {
	c.t.Helper()
	var p api.Progress
	c.wait("end of "+body, func() bool {
		c.http(http.MethodGet, "/tasks/"+task+"/status", nil, &p)
		return p.Status == "completed" || p.Status == "failed"
	})
	if p.Result == nil {
		c.t.Fatalf("%s: got %+v, want a result", body, p)
	}
	return p.Result.Content
}
