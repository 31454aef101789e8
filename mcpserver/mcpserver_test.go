package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/mcpserver"
	"orchestrator-cc/protocol"
)

// desk is the real client of a real server in front of a small hub.
type desk struct{ *api.Client }

func (d desk) Post(ctx context.Context, m protocol.Message, collect bool) (mcpserver.Receipt, error) {
	r, err := d.Client.Post(ctx, m, collect)
	return mcpserver.Receipt{MessageID: r.MessageID, Seq: r.Seq}, err
}

func (d desk) Watch(ctx context.Context, task string, after uint64) iter.Seq2[protocol.Entry, error] {
	return d.Client.Watch(ctx, task, after)
}

func (d desk) Journal(ctx context.Context, n int) ([]json.RawMessage, error) {
	lines, err := d.Client.Journal(ctx, n)
	var out []json.RawMessage
	for _, l := range lines {
		data, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, err
}

// echo shows which command would be run.
type echo struct{}

func (echo) Investigate(_ context.Context, command string, args json.RawMessage) (string, error) {
	if strings.Contains(string(args), "(") {
		return "", protocol.Invalid("pattern", "is no regular expression")
	}
	return command + " " + string(args), nil
}

// program is an agent program that is connected to a server of its own.
type program struct {
	t *testing.T
	*mcp.ClientSession
	hub   *apitest.Hub
	heard chan string // the progress it was told
}

// connect joins a program, which sits in an agent's pane, with the hub.
func connect(t *testing.T, hub *apitest.Hub, agent string) *program {
	t.Helper()
	l, err := api.Listen(apitest.SocketPath(t))
	if err != nil {
		t.Fatal(err)
	}
	apitest.Serve(t, api.New(hub, api.Options{}), l)
	secret := ""
	if agent != "" {
		secret = "secret-of-" + agent
	}
	client := api.NewClient(l.Addr().String(), secret)
	t.Cleanup(client.Close)
	server := mcpserver.New(mcpserver.Options{
		Version: "1", Agent: agent, Company: desk{client}, Journal: desk{client}, Investigator: echo{}, Schemas: mcpserver.NewSchemas(),
	})
	ctx, cancel := context.WithCancel(t.Context())
	near, far := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.Serve(ctx, server, far) }()
	p := &program{t: t, hub: hub, heard: make(chan string, 100)}
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { p.heard <- r.Params.Message }}
	if p.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(ctx, near, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.ClientSession.Close()
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("serve: got %v, want an orderly end", err)
		}
	})
	return p
}

// call calls a tool and returns its words and its data.
func (p *program) call(name string, args map[string]any) (text string, data map[string]any, failed bool) {
	p.t.Helper()
	result, err := p.CallTool(p.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		p.t.Fatalf("%s: got %v, want an answer", name, err)
	}
	if len(result.Content) != 1 {
		p.t.Fatalf("%s: got %d contents, want one", name, len(result.Content))
	}
	data, _ = result.StructuredContent.(map[string]any)
	return result.Content[0].(*mcp.TextContent).Text, data, result.IsError
}

// obliging answers each request at once.
func obliging(h *apitest.Hub, in protocol.Accepted) {
	if in.Message.Header.Type == protocol.Request {
		h.Reply(in.Message.ID(), "done: "+in.Message.Text()+"\nOK")
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(nil), "")
	var got []string
	for tool, err := range p.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, tool.Name)
		if tool.Description == "" || tool.Annotations == nil {
			t.Errorf("%s: got no description or annotations, want both", tool.Name)
		}
	}
	slices.Sort(got)
	want := []string{"delegate", "find", "grep", "list_agents", "report", "send_message", "signature_search", "static_analysis", "task_status", "tree"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got)\n%s", diff)
	}
}

func TestDelegateWaits(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(obliging), "middle_manager")
	text, data, failed := p.call("delegate", map[string]any{"agent": "testing_specialist", "text": "test it", "priority": "high"})
	if failed || text != "done: test it\nOK" {
		t.Fatalf("got %q, want the answer", text)
	}
	if data["state"] != "completed" || data["evidence"] != "channel" {
		t.Errorf("got %v, want it completed, by the channel", data)
	}
	m, ok := p.said(protocol.Request)
	if !ok || m.Message.From() != "middle_manager" || !m.Collected || m.Message.Priority() != protocol.High {
		t.Errorf("got %+v, want an urgent request of the manager, who waits", m)
	}
}

// said is the newest message of a type on the stream.
func (p *program) said(kind protocol.Type) (last protocol.Accepted, ok bool) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	follower := p.hub.Follow(0, "")
	for range p.hub.Overview().Hub.Seq {
		e, err := follower.Next(ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		if e.Message != nil && e.Message.Message.Header.Type == kind {
			last, ok = *e.Message, true
		}
	}
	return last, ok
}

func TestDelegateTellsItsHops(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(obliging), "")
	params := &mcp.CallToolParams{Name: "delegate", Arguments: map[string]any{"agent": "grand_boss", "text": "go"}}
	params.SetProgressToken("t")
	if _, err := p.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-p.heard:
		if got != "grand_boss → user: response" {
			t.Errorf("got %q, want the answer's hop", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("got no progress, want each hop")
	}
}

// TestDelegateGivesUp waits for an agent that never answers: the task goes on
// and can be asked for.
func TestDelegateGivesUp(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(nil), "")
	text, data, failed := p.call("delegate", map[string]any{"agent": "grand_boss", "text": "x", "timeout": "50ms"})
	fault, _ := data["error"].(map[string]any)
	if !failed || fault["code"] != "E_TIMEOUT" || !strings.Contains(text, "task_status") {
		t.Fatalf("got %q, want a timeout and how to go on", text)
	}
	id := p.hub.Tasks()[0].ID
	if _, data, _ = p.call("task_status", map[string]any{"task_id": id}); data["state"] != "pending" {
		t.Errorf("got %v, want the task still open", data)
	}
	p.hub.Reply(id, "late")
	if _, data, _ = p.call("task_status", map[string]any{"task_id": id[:8]}); data["result"] != "late" {
		t.Errorf("got %v, want the late answer", data)
	}
}

func TestDelegateWithoutWaiting(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(nil), "grand_boss")
	_, data, failed := p.call("delegate", map[string]any{"agent": "middle_manager", "text": "x", "wait": false})
	id, _ := data["task_id"].(string)
	if failed || id == "" || id != p.hub.Tasks()[0].ID {
		t.Fatalf("got %v, want the task's id", data)
	}
	if m, _ := p.said(protocol.Request); m.Collected {
		t.Error("got a request that is waited for, want its answer typed into the pane")
	}
}

func TestDelegateFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		state protocol.TaskState
		hint  string
	}{
		{"failed", protocol.TaskFailed, "delegate it anew"},
		{"needs a person", protocol.TaskNeedsHuman, "waits for a person"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := connect(t, apitest.New(func(h *apitest.Hub, in protocol.Accepted) {
				closing := protocol.Closing{Status: protocol.Failed, Code: protocol.CodeAgentDied}
				payload := &protocol.ErrorPayload{ErrorCode: string(protocol.CodeAgentDied), ErrorType: protocol.ErrResource, Message: "gone"}
				h.Finish(in.Message.ID(), payload, closing, func(t *protocol.Task) {
					t.State, t.Code, t.Reason = tt.state, protocol.CodeAgentDied, "gone"
				})
			}), "")
			text, data, failed := p.call("delegate", map[string]any{"agent": "grand_boss", "text": "x"})
			fault, _ := data["error"].(map[string]any)
			if !failed || fault["code"] != "E_AGENT_DIED" || !strings.Contains(text, tt.hint) {
				t.Errorf("got %q, want why, and %q", text, tt.hint)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, agent, tool string
		args              map[string]any
		kind              protocol.Type
		to                string
	}{
		{"info is the default", "", "send_message", map[string]any{"to": "all", "text": "hello"}, protocol.Event, "all"},
		{"a request", "", "send_message", map[string]any{"to": "grand_boss", "text": "hello", "kind": "request"}, protocol.Request, "grand_boss"},
		{"the manager reports to the boss", "middle_manager", "report", map[string]any{"text": "hello"}, protocol.Event, "grand_boss"},
		{"the boss reports to the user", "grand_boss", "report", map[string]any{"text": "hello"}, protocol.Event, "user"},
		{"the user reports to the boss", "", "report", map[string]any{"text": "hello"}, protocol.Event, "grand_boss"},
		{"to somebody named", "grand_boss", "report", map[string]any{"text": "hello", "to": "middle_manager"}, protocol.Event, "middle_manager"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := connect(t, apitest.New(nil), tt.agent)
			text, data, failed := p.call(tt.tool, tt.args)
			m, ok := p.said(tt.kind)
			if failed || !ok || m.Message.To() != tt.to || m.Message.Text() != "hello" || data["message_id"] != m.Message.ID() {
				t.Errorf("got %q and %+v, want it sent to %s", text, m, tt.to)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, agent, tool string
		args              map[string]any
		code, hint        string
	}{
		{"unknown agent", "", "delegate", map[string]any{"agent": "grand_bos", "text": "x"}, "E_UNKNOWN_AGENT", "did you mean grand_boss?"},
		{"nobody like it", "", "send_message", map[string]any{"to": "zzz", "text": "x"}, "E_UNKNOWN_AGENT", "the agents are"},
		{"up the ranks", "testing_specialist", "delegate", map[string]any{"agent": "grand_boss", "text": "x"}, "E_FORBIDDEN", "ask your leader"},
		{"unasked", "testing_specialist", "report", map[string]any{"text": "x"}, "E_FORBIDDEN", "put it into your answer"},
		{"empty", "", "delegate", map[string]any{"agent": "grand_boss", "text": " "}, "E_INVALID", ""},
		{"timeout", "", "delegate", map[string]any{"agent": "grand_boss", "text": "x", "timeout": "5"}, "E_INVALID", "90s"},
		{"priority", "", "send_message", map[string]any{"to": "grand_boss", "text": "x", "priority": "huge"}, "E_INVALID", "critical"},
		{"kind", "", "send_message", map[string]any{"to": "grand_boss", "text": "x", "kind": "shout"}, "E_INVALID", "info or request"},
		{"missing", "", "delegate", map[string]any{"agent": "grand_boss"}, "E_INVALID", "text"},
		{"wrong type", "", "delegate", map[string]any{"agent": "grand_boss", "text": 1}, "E_INVALID", "tools/list"},
		{"unknown field", "", "report", map[string]any{"text": "x", "loud": true}, "E_INVALID", "loud"},
		{"no task", "", "task_status", map[string]any{"task_id": "zzz"}, "E_NOT_FOUND", "orchestrator-cc tasks"},
		{"pattern", "", "grep", map[string]any{"pattern": "("}, "E_INVALID", "regular expression"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := connect(t, apitest.New(nil), tt.agent)
			text, data, failed := p.call(tt.tool, tt.args)
			fault, _ := data["error"].(map[string]any)
			if !failed || fault["code"] != tt.code || !strings.HasPrefix(text, tt.code+": ") || !strings.Contains(text, tt.hint) {
				t.Errorf("got %q, %v, want %s with %q", text, data, tt.code, tt.hint)
			}
		})
	}
}

func TestListAgents(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(nil), "middle_manager")
	_, data, _ := p.call("list_agents", nil)
	agents, _ := data["agents"].([]any)
	if len(agents) != 5 {
		t.Fatalf("got %v, want five agents", data)
	}
	want := map[string]any{"name": "middle_manager", "role": "middle_manager", "engine": "builtin", "state": "idle", "queue": 0.0, "you": true}
	if diff := cmp.Diff(want, agents[1]); diff != "" {
		t.Errorf("the second agent (-want +got)\n%s", diff)
	}
}

func TestInvestigation(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(nil), "")
	tests := []struct {
		tool string
		args map[string]any
		want string
	}{
		{"tree", map[string]any{"under": "cmd", "depth": 2}, `tree {"under":"cmd","depth":2}`},
		{"find", map[string]any{"name": "*.go", "no_tests": true}, `find {"name":"*.go","no_tests":true}`},
		{"grep", map[string]any{"pattern": "a<b", "literal": true, "limits": map[string]any{"lines": 5}}, `grep {"pattern":"a\u003cb","literal":true,"limits":{"lines":5}}`},
		{"signature_search", map[string]any{"pattern": "^Parse", "language": "go"}, `signature_search {"pattern":"^Parse","language":"go"}`},
		{"static_analysis", map[string]any{"targets": []string{"Retry"}, "skip": 3}, `static_analysis {"targets":["Retry"],"skip":3}`},
	}
	for _, tt := range tests {
		if got, _, _ := p.call(tt.tool, tt.args); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.tool, got, tt.want)
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	p := connect(t, apitest.New(obliging), "")
	p.call("delegate", map[string]any{"agent": "grand_boss", "text": "first"})
	id := p.hub.Tasks()[0].ID
	for uri, want := range map[string]string{
		"orchestrator-cc://journal":     `"type":"result","content":"done: first\nOK"`,
		"orchestrator-cc://tasks":       `"result": "done: first\nOK"`,
		"orchestrator-cc://tasks/" + id: `"id": "` + id + `"`,
	} {
		read, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, want) {
			t.Errorf("%s: got %+v, %v, want %s in it", uri, read, err, want)
		}
	}
	if _, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "orchestrator-cc://tasks/zzz"}); err == nil {
		t.Error("got a task that is not there, want an error")
	}
}
