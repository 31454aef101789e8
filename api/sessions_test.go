package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// The size of the isolation test: half of the clients read by WebSocket, half
// by server-sent events; each task makes ten entries.
const (
	isolationClients = 50
	isolationTasks   = 20
	isolationKeys    = 5
	isolationSteps   = 8
)

// spy is a client that reads everything it is sent.
type spy struct {
	name    string // in everything its session says
	key     string
	session string

	mu   sync.Mutex
	text strings.Builder
}

func (s *spy) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text + "\n")
}

func (s *spy) has(word string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), word)
}

// await waits until the spy was sent a word so often.
func (s *spy) await(t *testing.T, word string, times int) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); s.has(word) < times; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s: got %q %d times, want it %d times", s.name, word, s.has(word), times)
		}
	}
}

// TestSessionsDoNotLeak runs fifty clients, ten to a key, through ten thousand
// events, and looks in everything that each was sent for what belongs to others.
func TestSessionsDoNotLeak(t *testing.T) {
	t.Parallel()
	hub := apitest.New(work)
	p := openPort(t, hub, api.Options{Rate: 1e6})
	var keys []string
	for i := range isolationKeys {
		keys = append(keys, p.key(fmt.Sprint("key", i)))
	}
	var spies []*spy
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var readers sync.WaitGroup
	for i := range isolationClients {
		// Sessions of different keys share their names on purpose.
		s := &spy{name: fmt.Sprintf("secret-%02d-end", i), key: keys[i%isolationKeys], session: fmt.Sprint("session-", i/isolationKeys)}
		spies = append(spies, s)
		p.follow(ctx, &readers, s, i%2 == 0)
	}
	var tasks sync.Map
	var senders sync.WaitGroup
	for _, s := range spies {
		senders.Go(func() {
			for range isolationTasks {
				tasks.Store(p.submit(s), s.name)
			}
		})
	}
	senders.Wait()
	if got := hub.Overview().Hub.Seq; got < 10_000 {
		t.Errorf("got %d events, want 10000", got)
	}
	// Everybody's answers are written at once, for others to read along.
	tasks.Range(func(id, owner any) bool {
		name := owner.(string)
		hub.Write(protocol.Writing{Agent: "pen of " + name, Task: id.(string), Turn: id.(string), Text: "part of " + name})
		return true
	})
	for _, s := range spies {
		s.await(t, "part of "+s.name, 1)
	}
	tell(t, p, "the house is on fire")
	for _, s := range spies {
		s.await(t, "the house is on fire", 1)
		for _, path := range []string{"/tasks", "/status", "/inbox", "/confirmations", "/agents", "/stats", "/journal"} {
			_, body, _ := p.do("GET", path, "", "Authorization", "Bearer "+s.key, "X-Session-Id", s.session)
			s.note(body)
		}
	}
	// Everybody asks for tasks of others, also under his own key.
	turn := 0
	tasks.Range(func(id, owner any) bool {
		turn++
		if s := spies[turn%isolationClients]; s.name != owner && turn%4 == 0 {
			p.probe(s, id.(string))
		}
		return true
	})
	cancel()
	readers.Wait()
	var leaks atomic.Int64
	for _, s := range spies {
		for _, other := range spies {
			if n := s.has(other.name); other != s && n > 0 {
				leaks.Add(int64(n))
			}
		}
		if s.has(s.name) < isolationTasks {
			t.Errorf("%s: got its own name %d times, want at least %d", s.name, s.has(s.name), isolationTasks)
		}
	}
	if leaks.Load() != 0 {
		t.Errorf("got %d leaks, want 0", leaks.Load())
	}
}

// work plays the agents: steps of a delivery, then the answer.
func work(h *apitest.Hub, in protocol.Accepted) {
	if in.Message.Header.Type != protocol.Request {
		return
	}
	id, text := in.Message.ID(), in.Message.Text()
	for i := range isolationSteps {
		h.Write(protocol.Writing{Agent: in.Message.To(), Task: id, Turn: id, Text: strings.Repeat("words for "+text, i+1)})
		h.Append(protocol.Entry{Kind: protocol.KindStep, Step: &protocol.Step{
			Name: protocol.Typed, Agent: in.Message.To(), Messages: []string{id}, Task: id, Attempt: i + 1, Text: "step of " + text,
		}})
	}
	h.Reply(id, "answer to "+text)
}

func (p *port) submit(s *spy) string {
	body := fmt.Sprintf(`{"sessionId":%q,"userPrompt":%q,"taskType":"chat"}`, s.session, s.name)
	status, text, _ := p.do("POST", "/submit_task", body, "Authorization", "Bearer "+s.key)
	var taken api.Submitted
	if err := json.Unmarshal([]byte(text), &taken); err != nil || status != 200 {
		p.t.Errorf("got %d %s, want it taken", status, text)
	}
	return taken.TaskID
}

// probe asks for a task in every way there is; what comes back is kept.
func (p *port) probe(s *spy, id string) {
	for _, path := range []string{"/tasks/" + id, "/tasks/" + id + "/status", "/tasks/" + id + "/events"} {
		status, body, _ := p.do("GET", path, "", "Authorization", "Bearer "+s.key, "X-Session-Id", s.session)
		s.note(body)
		if status != 404 {
			p.t.Errorf("%s: got %d for a task of another session, want 404", path, status)
		}
	}
	status, body, _ := p.do("POST", "/tasks/"+id+"/control", `{"command":"retry"}`, "Authorization", "Bearer "+s.key, "X-Session-Id", s.session)
	s.note(body)
	if status != 404 {
		p.t.Errorf("got %d for control of another session's task, want 404", status)
	}
	message := strings.Replace(plainMessage, `"type":"request"`, `"type":"event","correlation_id":"`+id+`"`, 1)
	message = strings.Replace(message, `"action":"task","params"`, `"event_type":"info","data"`, 1)
	status, body, _ = p.do("POST", "/messages", message, "Authorization", "Bearer "+s.key, "X-Session-Id", s.session)
	s.note(body)
	if status != 404 {
		p.t.Errorf("got %d %s for a message about another session's task, want 404", status, body)
	}
}

// follow reads a session's events until ctx ends.
func (p *port) follow(ctx context.Context, readers *sync.WaitGroup, s *spy, socket bool) {
	p.t.Helper()
	if socket {
		w := p.window(s.key, "?sessionId="+s.session)
		w.hear()
		readers.Go(func() {
			for {
				_, data, err := w.conn.Read(ctx)
				if err != nil {
					return
				}
				s.note(string(data))
			}
		})
		return
	}
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+p.addr+"/events?sessionId="+s.session, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	readers.Go(func() {
		defer resp.Body.Close()
		buffer := make([]byte, 1<<16)
		for {
			n, err := resp.Body.Read(buffer)
			s.note(string(buffer[:n]))
			if err != nil {
				return
			}
		}
	})
}

// tell broadcasts as the owner.
func tell(t *testing.T, p *port, text string) {
	t.Helper()
	client := api.NewClient(p.socket, "")
	defer client.Close()
	m := protocol.New(protocol.Identifier{}, protocol.Identifier{AgentID: protocol.All}, protocol.Info(text))
	if _, err := client.Post(t.Context(), m, false); err != nil {
		t.Fatal(err)
	}
}

func TestSessionsOfKeys(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{})
	alice, bob, boss := p.key("alice"), p.key("bob"), p.key("boss", api.ScopeRead, api.ScopeAdmin)
	mine := p.submit(&spy{name: "of alice", key: alice, session: "one"})
	owners := p.submitAsOwner("of the owner")
	tests := []struct {
		name, key, path string
		header          []string
		status          int
		want, absent    string
	}{
		{"her session", alice, "/tasks", []string{"X-Session-Id", "one"}, 200, mine, ""},
		{"its name is hers", alice, "/tasks", []string{"X-Session-Id", "one"}, 200, `"session":"one"`, ""},
		{"another session of hers", alice, "/tasks", []string{"X-Session-Id", "two"}, 200, `[]`, mine},
		{"no session is the default one", alice, "/tasks", nil, 200, `[]`, mine},
		{"the task's id is enough without a session", alice, "/tasks/" + mine + "/status", nil, 200, `"pending"`, ""},
		{"but not its beginning", alice, "/tasks/" + mine[:8] + "/status", nil, 404, "E_NOT_FOUND", "of alice"},
		{"not with another session", alice, "/tasks/" + mine + "/status", []string{"X-Session-Id", "two"}, 404, "E_NOT_FOUND", "of alice"},
		{"not with another key", bob, "/tasks/" + mine, nil, 404, "E_NOT_FOUND", "of alice"},
		{"not with another key's session of that name", bob, "/tasks/" + mine, []string{"X-Session-Id", "one"}, 404, "E_NOT_FOUND", "of alice"},
		{"not what the owner does", alice, "/tasks/" + owners, nil, 404, "E_NOT_FOUND", "of the owner"},
		{"an admin oversees all", boss, "/tasks", nil, 200, mine, ""},
		{"an admin oversees the owner too", boss, "/tasks", nil, 200, owners, ""},
		{"an admin in a session is in it", boss, "/tasks", []string{"X-Session-Id", "one"}, 200, `[]`, mine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := p.do("GET", tt.path, "", append([]string{"Authorization", "Bearer " + tt.key}, tt.header...)...)
			if status != tt.status || !strings.Contains(body, tt.want) || tt.absent != "" && strings.Contains(body, tt.absent) {
				t.Errorf("got %d %s, want %d with %q and without %q", status, body, tt.status, tt.want, tt.absent)
			}
		})
	}
}

func (p *port) submitAsOwner(text string) string {
	p.t.Helper()
	client := api.NewClient(p.socket, "")
	defer client.Close()
	receipt, err := client.Post(p.t.Context(), request("grand_boss", text), false)
	if err != nil {
		p.t.Fatal(err)
	}
	return receipt.MessageID
}

// TestAnAgentSeesTheSessionItWorksFor lets an agent look around from its pane:
// it sees what belongs to the session of its task, so that it can tell nothing
// of another one, and between tasks the owner's work.
func TestAnAgentSeesTheSessionItWorksFor(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{})
	alice := p.key("alice")
	one := p.submit(&spy{name: "of one", key: alice, session: "one"})
	two := p.submit(&spy{name: "of two", key: alice, session: "two"})
	owners := p.submitAsOwner("of the owner")
	words := map[string]string{one: "of one", two: "of two", owners: "of the owner"}
	for _, tt := range []struct{ name, task, sees string }{
		{"at a task of a session", one, "of one"},
		{"at a task of another", two, "of two"},
		{"at a task of the owner", owners, "of the owner"},
		{"at none", "", "of the owner"},
	} {
		hub.Change(func(o *protocol.Overview) { o.Agents[0].Task = tt.task })
		for _, path := range []string{"/tasks", "/status", "/journal", "/tasks/" + one, "/tasks/" + two[:8], "/tasks/" + owners[:8] + "/status", "/tasks/" + two + "/events"} {
			body := p.asAgent("grand_boss", path)
			for _, text := range words {
				if text != tt.sees && strings.Contains(body, text) {
					t.Errorf("%s, %s: got %s, want nothing %s", tt.name, path, body, text)
				}
			}
			if (path == "/tasks" || path == "/journal") && !strings.Contains(body, tt.sees) {
				t.Errorf("%s, %s: got %s, want what is %s", tt.name, path, body, tt.sees)
			}
		}
	}
}

// asAgent is what an agent is shown on the socket; of a stream the first event.
func (p *port) asAgent(agent, path string) string {
	p.t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", p.socket)
	}
	transport := &http.Transport{DialContext: dial}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(p.t.Context(), "GET", "http://hub"+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Pane secret-of-"+agent)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var body strings.Builder
	for lines := bufio.NewReader(resp.Body); !strings.Contains(body.String(), "\ndata: "); {
		line, err := lines.ReadString('\n')
		body.WriteString(line)
		if err != nil {
			break
		}
	}
	return body.String()
}
