package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// visitor plays the room that answers /mcp: it gives a task in its caller's
// name, waits for the answer and shows his journal.
func visitor(g api.Guest) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		receipt, err := g.Client.Post(r.Context(), request("grand_boss", r.FormValue("text")), true)
		if err != nil {
			fmt.Fprintf(w, "refused: %s", protocol.CodeOf(err))
			return
		}
		for e, err := range g.Client.Watch(r.Context(), receipt.TaskID, receipt.Seq) {
			if err != nil {
				fmt.Fprintf(w, "lost: %v", err)
				return
			}
			fmt.Fprintf(w, "answer: %s\n", e.Message.Message.Text())
			break
		}
		lines, err := g.Client.Journal(r.Context(), 10)
		for _, l := range lines {
			fmt.Fprintf(w, "line: %s\n", l.Content)
		}
		fmt.Fprintf(w, "agent %q submits %v %v", g.Agent, g.Submits, err)
	})
}

func answering(h *apitest.Hub, in protocol.Accepted) {
	if in.Message.Header.Type == protocol.Request {
		h.Reply(in.Message.ID(), "done "+in.Message.Text())
	}
}

func TestMCPAsksInItsCallersName(t *testing.T) {
	t.Parallel()
	hub := apitest.New(answering)
	p := openPort(t, hub, api.Options{MCP: visitor})
	whole, reader, approver := p.key("whole"), p.key("reader", api.ScopeRead), p.key("approver", api.ScopeApprove)
	tests := []struct {
		name, key, session, text string
		status                   int
		want                     string
	}{
		{"no key", "", "", "a", 401, `"code":"E_FORBIDDEN"`},
		{"wrong scope", approver, "", "b", 403, "has not the scope read"},
		{"read only", reader, "", "c", 200, "refused: E_FORBIDDEN"},
		{"one session", whole, "one", "d", 200, "answer: done d\nline: d\nline: done d\nagent \"\" submits true <nil>"},
		{"another", whole, "two", "e", 200, "answer: done e\nline: e\nline: done e\nagent \"\" submits true <nil>"},
	}
	for _, tt := range tests {
		header := []string{"X-Session-Id", tt.session}
		if tt.key != "" {
			header = append(header, "Authorization", "Bearer "+tt.key)
		}
		status, body, _ := p.do("POST", "/mcp?text="+tt.text, "", header...)
		if status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: got %d %q, want %d %q", tt.name, status, body, tt.status, tt.want)
		}
	}
	if task := hub.Tasks()[0]; !strings.HasSuffix(task.Session, "/two") {
		t.Errorf("got the session %q, want the caller's", task.Session)
	}
}

// TestMCPEndsWithItsRequest hangs up on a caller that waits for an answer: what
// was asked inside ends too.
func TestMCPEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	p := openPort(t, apitest.New(nil), api.Options{MCP: func(g api.Guest) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			visitor(g).ServeHTTP(w, r)
		})
	}})
	req, err := http.NewRequest("POST", "http://"+p.addr+"/mcp?text=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.key("k"))
	impatient := http.Client{Timeout: 200 * time.Millisecond}
	if resp, err := impatient.Do(req); err == nil {
		resp.Body.Close()
		t.Fatal("got an answer, want none")
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("got a request that goes on, want it ended with its caller")
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	for i := range 2_500 {
		hub.Append(protocol.Entry{Kind: protocol.KindStep, Step: &protocol.Step{Name: protocol.Queued}})
		if i == 0 || i > 2_490 {
			hub.Append(note(fmt.Sprint("hop ", i)))
		}
	}
	client := api.NewClient(socket, "")
	defer client.Close()
	tests := []struct {
		lines, want int
		first       string
	}{
		{3, 3, "hop 2497"},
		{100, 10, "hop 0"}, // The oldest lies further back than is looked at first.
	}
	for _, tt := range tests {
		got, err := client.Journal(t.Context(), tt.lines)
		if err != nil || len(got) != tt.want || got[0].Content != tt.first || got[len(got)-1].Content != "hop 2499" {
			t.Errorf("%d lines: got %d, %v, want %d from %q", tt.lines, len(got), err, tt.want, tt.first)
		}
	}
	var all []string
	for l, err := range client.WholeJournal(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Content)
	}
	if len(all) != 10 || all[0] != "hop 0" || all[9] != "hop 2499" {
		t.Errorf("got %q, want all ten hops", all)
	}
	if _, body := raw(t, socket, "GET", "/journal?from=2&lines=1", ""); !strings.Contains(body, `"hop 0"`) || strings.Contains(body, "hop 24") {
		t.Errorf("got %s, want the first line from there on", body)
	}
	if _, err := client.Journal(t.Context(), 0); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("got %v, want none refused", err)
	}
	empty, _ := serve(t, apitest.New(nil), api.Options{})
	_, text := raw(t, empty, "GET", "/journal", "")
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &answer); err != nil || string(answer["lines"]) != "[]" {
		t.Errorf("got %s, want an empty list", text)
	}
}
