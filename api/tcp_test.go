package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
)

// port is a server on TCP with a file of keys.
type port struct {
	t    testing.TB
	hub  *apitest.Hub
	keys *api.Keys
	addr string
	file string

	socket string // the owner's way in
	stop   func()
}

func openPort(t testing.TB, hub *apitest.Hub, o api.Options) *port {
	t.Helper()
	p := &port{t: t, hub: hub, file: filepath.Join(t.TempDir(), "keys.json")}
	p.keys = api.NewKeys(p.file)
	o.Keys = p.keys
	l, err := api.ListenTCP("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	server := api.New(hub, o)
	keepConfirmations(t, server)
	p.stop = apitest.Serve(t, onTCP{server}, l)
	p.socket = apitest.SocketPath(t)
	local, err := api.Listen(p.socket)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Serve(t, server, local)
	return p
}

type onTCP struct{ *api.Server }

func (s onTCP) Serve(ctx context.Context, l net.Listener) error {
	return s.ServeTCP(ctx, l, []string{"hub.example"})
}

// key makes a key with scopes.
func (p *port) key(name string, scopes ...api.Scope) string {
	p.t.Helper()
	if len(scopes) == 0 {
		scopes = []api.Scope{api.ScopeRead, api.ScopeSubmit, api.ScopeApprove}
	}
	key, err := p.keys.Add(name, scopes, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return key
}

// answerLimit bounds one answer, for a stream that should have been refused.
const answerLimit = 30 * time.Second

func (p *port) do(method, path, body string, header ...string) (int, string, http.Header) {
	p.t.Helper()
	req, err := http.NewRequest(method, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: answerLimit}
	resp, err := client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Errorf("%s %s: got %d and an answer that does not end: %v", method, path, resp.StatusCode, err)
	}
	return resp.StatusCode, string(data), resp.Header
}

const chat = `{"sessionId":"s","userPrompt":"hi","taskType":"chat"}`

func TestWhoMayComeIn(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{})
	reader, submitter := p.key("reader", api.ScopeRead), p.key("submitter", api.ScopeSubmit)
	old, err := p.keys.Add("old", []api.Scope{api.ScopeRead}, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	gone := p.key("gone", api.ScopeRead)
	if err := p.keys.Revoke("gone"); err != nil {
		t.Fatal(err)
	}
	with := func(key string, more ...string) []string {
		return append([]string{"Authorization", "Bearer " + key}, more...)
	}
	tests := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string
	}{
		{"no key", "GET", "/status", "", nil, 401, "a key is needed"},
		{"no key for the health either", "GET", "/healthz", "", nil, 401, "a key is needed"},
		{"wrong key", "GET", "/status", "", with("occ_00000000_x"), 401, "not known"},
		{"expired key", "GET", "/status", "", with(old), 401, "expired"},
		{"revoked key", "GET", "/status", "", with(gone), 401, "not known"},
		{"another scheme", "GET", "/status", "", []string{"Authorization", "Basic eDp5"}, 401, "a key is needed"},
		{"a pane's secret", "GET", "/status", "", []string{"Authorization", "Pane secret-of-grand_boss"}, 401, "a key is needed"},
		{"a forged cookie", "GET", "/status", "", []string{"Cookie", "orchestrator_cc=" + submitter[4:12] + ".9999999999.00"}, 401, "not known"},
		{"read", "GET", "/status", "", with(reader), 200, `"agents"`},
		{"read may not submit", "POST", "/submit_task", chat, with(reader), 403, "has not the scope submit"},
		{"submit", "POST", "/submit_task", chat, with(submitter), 200, `"accepted"`},
		{"submit may not read", "GET", "/tasks", "", with(submitter), 403, "has not the scope read"},
		{"submit may not steer", "POST", "/agents/grand_boss/control", `{"command":"pause"}`, with(submitter), 403, "admin"},
		{"submit may not end", "POST", "/shutdown", "", with(submitter), 403, "admin"},
		{"another host", "GET", "/status", "", with(reader, "Host", "evil.example"), 403, "is not this server"},
		{"another host without a key", "GET", "/openapi.json", "", []string{"Host", "evil.example:80"}, 403, "is not this server"},
		{"a host of ours", "GET", "/status", "", with(reader, "Host", "hub.example:8000"), 200, `"agents"`},
		{"localhost", "GET", "/status", "", with(reader, "Host", "LOCALHOST"), 200, `"agents"`},
		{"another origin", "GET", "/status", "", with(reader, "Origin", "http://evil.example"), 403, "may not speak"},
		{"no origin to speak of", "GET", "/status", "", with(reader, "Origin", "null"), 403, "may not speak"},
		{"the own origin", "GET", "/status", "", with(reader, "Origin", "http://"+p.addr), 200, `"agents"`},
		{"the own origin with another scheme", "GET", "/status", "", with(reader, "Origin", "https://"+p.addr), 403, "may not speak"},
		{"description", "GET", "/openapi.json", "", nil, 200, `"3.1.0"`},
		{"login with a wrong key", "POST", "/login", `{"key":"x"}`, nil, 401, "not known"},
		{"login with an expired key", "POST", "/login", `{"key":"` + old + `"}`, nil, 401, "not known"},
		{"login", "POST", "/login", `{"key":"` + reader + `"}`, nil, 200, `"name":"reader"`},
		{"a session with a slash", "GET", "/tasks?sessionId=a/b", "", with(reader), 400, `"field":"sessionId"`},
		{"no such method", "PUT", "/tasks", "", with(reader), 405, "use GET"},
		{"no such route", "GET", "/nowhere", "", with(reader), 404, "no route"},
		{"not JSON", "POST", "/submit_task", "{", with(submitter), 400, "E_INVALID"},
		{"wrong type", "POST", "/submit_task", `{"sessionId":1,"userPrompt":"x","taskType":"chat"}`, with(submitter), 400, `"field":"sessionId"`},
		{"all missing fields at once", "POST", "/submit_task", `{"colour":"red"}`, with(submitter), 400, "userPrompt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := p.do(tt.method, tt.path, tt.body, tt.header...)
			if status != tt.status || !strings.Contains(body, tt.want) {
				t.Fatalf("got %d %s, want %d with %s", status, body, tt.status, tt.want)
			}
			if status >= 400 {
				wantProblem(t, body)
			}
		})
	}
	_, body, _ := p.do("POST", "/submit_task", `{"colour":"red"}`, with(submitter)...)
	for _, field := range []string{"sessionId", "userPrompt", "taskType", "colour"} {
		if !strings.Contains(body, field) {
			t.Errorf("got %s, want %s named", body, field)
		}
	}
}

func TestCookie(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{})
	key := p.key("browser", api.ScopeRead)
	_, _, header := p.do("POST", "/login", `{"key":"`+key+`"}`)
	cookie := header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("got cookie %q, want %s in it", cookie, want)
		}
	}
	if strings.Contains(cookie, key) {
		t.Error("got the key itself in the cookie, want a token")
	}
	value, _, _ := strings.Cut(cookie, ";")
	if status, body, _ := p.do("GET", "/tasks", "", "Cookie", value); status != 200 {
		t.Errorf("got %d %s, want the cookie to let in", status, body)
	}
	if err := p.keys.Revoke("browser"); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := p.do("GET", "/tasks", "", "Cookie", value); status != 401 {
		t.Errorf("got %d, want the cookie to end with its key", status)
	}
}

func TestHurry(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{Rate: 2})
	key, other := p.key("fast"), p.key("other")
	refused := 0
	for range 12 {
		status, body, header := p.do("GET", "/agents", "", "Authorization", "Bearer "+key)
		if status == http.StatusTooManyRequests {
			refused++
			wantProblem(t, body)
			if header.Get("Retry-After") == "" {
				t.Error("got no Retry-After, want one")
			}
		}
	}
	if refused == 0 {
		t.Error("got every request answered, want some refused")
	}
	if status, _, _ := p.do("GET", "/agents", "", "Authorization", "Bearer "+other); status != 200 {
		t.Errorf("got %d for another key, want 200", status)
	}
}

// TestTrickle opens a connection and never ends its header.
func TestTrickle(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{HeaderWait: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("got %v, want the connection closed", err)
	}
}

// TestDiaryKeepsSecrets looks for keys, secrets and bodies in the diary.
func TestDiaryKeepsSecrets(t *testing.T) {
	t.Parallel()
	var diary syncBuffer
	p := openPort(t, apitest.New(nil), api.Options{Log: zerolog.New(&diary)})
	key := p.key("k")
	p.do("POST", "/submit_task?sessionId=hidden-session", strings.Replace(chat, "hi", "hidden-words", 1), "Authorization", "Bearer "+key)
	p.do("POST", "/login", `{"key":"`+key+`"}`)
	text := diary.String()
	if !strings.Contains(text, `"path":"/submit_task"`) || !strings.Contains(text, `"status":200`) {
		t.Errorf("got %q, want the request noted", text)
	}
	for _, secret := range []string{key, "hidden-words", "hidden-session"} {
		if strings.Contains(text, secret) {
			t.Errorf("got %q in the diary, want it left out", secret)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestTLS(t *testing.T) {
	t.Parallel()
	if _, err := api.ListenTCP("0.0.0.0:0", nil); !errors.Is(err, api.ErrNeedsTLS) {
		t.Errorf("got %v, want ErrNeedsTLS", err)
	}
	dir := t.TempDir()
	cert, err := api.OwnCertificate(dir, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	again, err := api.OwnCertificate(dir, "127.0.0.1")
	if err != nil || again.Fingerprint != cert.Fingerprint {
		t.Errorf("got %v and another certificate, want the kept one", err)
	}
	other, err := api.OwnCertificate(dir, "10.1.2.3")
	if err != nil || other.Fingerprint == cert.Fingerprint {
		t.Errorf("got %v and the same certificate, want one for the new host", err)
	}
	l, err := api.ListenTCP("127.0.0.1:0", other)
	if err != nil {
		t.Fatal(err)
	}
	keys := api.NewKeys(filepath.Join(dir, "keys.json"))
	key, err := keys.Add("far", []api.Scope{api.ScopeRead, api.ScopeSubmit}, 0)
	if err != nil {
		t.Fatal(err)
	}
	hub := apitest.New(nil)
	apitest.Serve(t, onTCP{api.New(hub, api.Options{Keys: keys})}, l)
	address := "https://" + l.Addr().String()
	client, err := api.NewRemote(address, key, other.Fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	receipt, err := client.Post(t.Context(), request("grand_boss", "from afar"), true)
	if err != nil {
		t.Fatal(err)
	}
	hub.Reply(receipt.MessageID, "GRAND BOSS OK")
	for e, err := range client.Watch(t.Context(), receipt.MessageID, receipt.Seq) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message != nil && e.Message.Closing != nil {
			break
		}
	}
	for _, wrong := range []string{cert.Fingerprint, ""} {
		stranger, err := api.NewRemote(address, key, wrong)
		if err != nil {
			t.Fatal(err)
		}
		defer stranger.Close()
		if _, err := stranger.Health(t.Context()); err == nil {
			t.Errorf("fingerprint %q: got an answer, want the certificate refused", wrong)
		}
	}
	for _, bad := range []string{"", "ftp://x", "http://example.com:8000", "://"} {
		if _, err := api.NewRemote(bad, key, ""); err == nil {
			t.Errorf("address %q: got no error, want it refused", bad)
		}
	}
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{\"key\":%q}", len(key)+10, key)
	if text := readUntil(t, conn, "scopes"); !strings.Contains(text, "Secure") {
		t.Errorf("got %q, want a cookie for TLS only", text)
	}
}
