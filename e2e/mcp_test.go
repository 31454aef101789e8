package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/e2e/hometest"
)

// mcpClient is an agent program that is connected to the company.
type mcpClient struct {
	t testing.TB
	*mcp.ClientSession
}

func connectMCP(t testing.TB, transport mcp.Transport) *mcpClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &mcpClient{t, session}
}

// call calls a tool and returns its words.
func (c *mcpClient) call(tool string, args map[string]any) (text string, failed bool) {
	c.t.Helper()
	result, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func (c *mcpClient) resource(uri string) string {
	c.t.Helper()
	read, err := c.ReadResource(c.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		c.t.Fatalf("%s: %v", uri, err)
	}
	return read.Contents[0].Text
}

// shownServer is one configuration that docs/API.md gives to agent programs.
type shownServer struct {
	Command string
	Args    []string
	URL     string
}

func shownServers(t testing.TB) (servers []shownServer) {
	t.Helper()
	data, err := os.ReadFile("../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, `    {"mcpServers"`) {
			continue
		}
		var config struct{ MCPServers map[string]shownServer }
		if err := json.Unmarshal([]byte(line), &config); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		servers = append(servers, config.MCPServers["orchestrator-cc"])
	}
	return servers
}

// paneSecret is what the environment of an agent's pane proves itself with.
func (c *company) paneSecret(agent string) string {
	c.t.Helper()
	panes, err := c.tmux("list-panes", "-s", "-F", "#{pane_pid}")
	if err != nil {
		c.t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(panes) {
		environ, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		vars := map[string]string{}
		for kv := range bytes.SplitSeq(environ, []byte{0}) {
			name, value, _ := strings.Cut(string(kv), "=")
			vars[name] = value
		}
		if vars["ORCHESTRATOR_CC_AGENT"] == agent {
			return vars["ORCHESTRATOR_CC_SECRET"]
		}
	}
	c.t.Skipf("the environment of %s's pane cannot be read on this system", agent)
	return ""
}

// TestMCPStdio speaks with the real binary as the user and as an agent, with
// the library's own client.
func TestMCPStdio(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	if err := os.WriteFile(filepath.Join(c.project, "hello.go"), []byte("package hello\n\n// Greet greets.\nfunc Greet() string { return \"hi\" }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	shown := shownServers(t)
	if len(shown) != 2 || shown[0].Command != "orchestrator-cc" || !strings.HasSuffix(shown[1].URL, "/mcp") {
		t.Fatalf("got %+v in the document, want a program and an address", shown)
	}
	user := connectMCP(t, &mcp.CommandTransport{Command: c.command(shown[0].Args...)})
	if got, failed := user.call("delegate", map[string]any{"agent": "grand_boss", "text": "/say forty-two"}); failed || got != "forty-two\nGRAND BOSS OK" {
		t.Errorf("got %q, want the answer", got)
	}
	for tool, tt := range map[string]struct {
		args map[string]any
		want string
	}{
		"list_agents":      {nil, `"name":"testing_specialist"`},
		"tree":             {nil, "1 file"},
		"find":             {map[string]any{"name": "hello"}, "hello.go"},
		"grep":             {map[string]any{"pattern": "Greet\\("}, "hello.go:4:func Greet() string"},
		"signature_search": {map[string]any{"pattern": "Greet"}, "func Greet() string"},
		"static_analysis":  {map[string]any{"targets": []string{"Greet"}}, "Greet"},
	} {
		if got, failed := user.call(tool, tt.args); failed || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q in it", tool, got, tt.want)
		}
	}
	if got, failed := user.call("grep", map[string]any{"pattern": "("}); !failed || !strings.HasPrefix(got, "E_INVALID: ") {
		t.Errorf("got %q, want the pattern refused", got)
	}
	if got := user.resource("orchestrator-cc://journal"); !strings.Contains(got, `"from":"grand_boss","to":"user","type":"result","content":"forty-two\nGRAND BOSS OK"`) {
		t.Errorf("got %s, want the answer in the journal", got)
	}
	if got := user.resource("orchestrator-cc://tasks"); !strings.Contains(got, `"text": "/say forty-two"`) {
		t.Errorf("got %s, want the task in the tree", got)
	}

	command := c.command("mcp")
	command.Env = append(command.Env, "ORCHESTRATOR_CC_DIR="+c.project, "ORCHESTRATOR_CC_AGENT=middle_manager", "ORCHESTRATOR_CC_SECRET="+c.paneSecret("middle_manager"))
	manager := connectMCP(t, &mcp.CommandTransport{Command: command})
	if got, failed := manager.call("delegate", map[string]any{"agent": "testing_specialist", "text": "/say tested"}); failed || got != "tested\nTESTING OK" {
		t.Errorf("got %q, want the answer", got)
	}
	if got, failed := manager.call("delegate", map[string]any{"agent": "grand_boss", "text": "/say no"}); !failed || !strings.HasPrefix(got, "E_FORBIDDEN: ") {
		t.Errorf("got %q, want no work for the boss", got)
	}
	if got, failed := manager.call("report", map[string]any{"text": "half of it is done"}); failed || !strings.Contains(got, `"to":"grand_boss"`) {
		t.Errorf("got %q, want the boss told", got)
	}
	until(t, 10*time.Second, func(context.Context) (bool, string) {
		for _, l := range c.journal() {
			if l.From == "middle_manager" && l.To == "grand_boss" && l.Type == "info" && l.Content == "half of it is done" {
				return true, ""
			}
		}
		return false, "the report is not in the journal"
	})
}

// TestMCPReport lets a specialist tell whoever gave it work how it goes: the
// user, and the boss in whose pane it is then typed.
func TestMCPReport(t *testing.T) {
	t.Parallel()
	c := newProject(t, apiConfig)
	c.run("up")
	command := c.command("mcp")
	command.Env = append(command.Env, "ORCHESTRATOR_CC_DIR="+c.project, "ORCHESTRATOR_CC_AGENT=testing_specialist", "ORCHESTRATOR_CC_SECRET="+c.paneSecret("testing_specialist"))
	tester := connectMCP(t, &mcp.CommandTransport{Command: command})
	if got, failed := tester.call("report", map[string]any{"text": "hello"}); !failed || !strings.HasPrefix(got, "E_FORBIDDEN: ") || !strings.Contains(got, "while you work on it") {
		t.Errorf("got %q without work, want it refused, and when it is not", got)
	}
	for _, tt := range []struct{ asker, agent, text string }{
		{"user", "testing_specialist", "/think 60s"},
		{"grand_boss", "grand_boss", "/delegate testing_specialist\n  /think 60s"},
	} {
		task := strings.TrimSpace(c.run("send", "--async", tt.agent, tt.text))
		until(t, 30*time.Second, func(context.Context) (bool, string) {
			got, _ := tester.call("list_agents", nil)
			return strings.Contains(got, `"role":"specialist_testing","engine":"builtin","state":"busy","task"`), got
		})
		said := "half of it for " + tt.asker
		if got, failed := tester.call("report", map[string]any{"text": said}); failed || !strings.Contains(got, `"to":"`+tt.asker+`"`) {
			t.Errorf("got %q, want %s told", got, tt.asker)
		}
		until(t, 10*time.Second, func(context.Context) (bool, string) {
			log := c.run("log", "--task", task)
			return strings.Contains(log, "testing_specialist → "+tt.asker+"  info  "+said), log
		})
		c.run("cancel", task)
		until(t, 30*time.Second, func(context.Context) (bool, string) {
			got, _ := tester.call("list_agents", nil)
			return !strings.Contains(got, `"task"`), got
		})
	}
}

// TestMCPWithoutHub begins before there is a hub, says so, and finds the hub
// that comes later.
func TestMCPWithoutHub(t *testing.T) {
	t.Parallel()
	c := newProject(t, apiConfig)
	p := connectMCP(t, &mcp.CommandTransport{Command: c.command("mcp")})
	if got, failed := p.call("list_agents", nil); !failed || !strings.HasPrefix(got, "E_NO_HUB: ") || !strings.Contains(got, "orchestrator-cc up") {
		t.Errorf("got %q, want no hub, and how to start one", got)
	}
	c.run("up")
	if got, failed := p.call("list_agents", nil); failed || !strings.Contains(got, "grand_boss") {
		t.Errorf("got %q, want the agents", got)
	}
}

// withKey puts a key and a session on each request.
type withKey struct{ key, session string }

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	r.Header.Set("X-Session-Id", k.session)
	return http.DefaultTransport.RoundTrip(r)
}

func (w *web) mcp(key, session string) *mcpClient {
	w.t.Helper()
	client := &http.Client{Transport: withKey{key, session}}
	return connectMCP(w.t, &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", HTTPClient: client, DisableStandaloneSSE: true})
}

// TestMCPOverHTTP works with keys: scopes count, and sessions see nothing of
// each other.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	one, two := w.mcp(w.key, "one"), w.mcp(w.key, "two")
	if got, failed := one.call("delegate", map[string]any{"agent": "grand_boss", "text": "/say secret-of-one"}); failed || got != "secret-of-one\nGRAND BOSS OK" {
		t.Errorf("got %q, want the answer", got)
	}
	if got, failed := one.call("find", map[string]any{"name": "cc-cluster"}); failed || !strings.Contains(got, "config/cc-cluster.yaml") {
		t.Errorf("got %q, want the file", got)
	}
	for _, uri := range []string{"orchestrator-cc://journal", "orchestrator-cc://tasks"} {
		if got := one.resource(uri); !strings.Contains(got, "secret-of-one") {
			t.Errorf("%s: got %s, want the session's own", uri, got)
		}
		if got := two.resource(uri); strings.Contains(got, "secret-of-one") {
			t.Errorf("%s: got %s, want nothing of another session", uri, got)
		}
	}
	if got, failed := two.call("grep", map[string]any{"pattern": "secret-of-one"}); failed || strings.Contains(got, "jsonl") {
		t.Errorf("got %q, want the journal left out of the code", got)
	}
	reader := w.mcp(strings.TrimSpace(w.run("keys", "add", "reader", "--scope", "read")), "one")
	for tool, args := range map[string]map[string]any{
		"delegate": {"agent": "grand_boss", "text": "/say no"},
		"grep":     {"pattern": "engine"},
	} {
		if got, failed := reader.call(tool, args); !failed || !strings.HasPrefix(got, "E_FORBIDDEN: ") || !strings.Contains(got, "hint: ") {
			t.Errorf("%s: got %q, want it refused", tool, got)
		}
	}
	approver := strings.TrimSpace(w.run("keys", "add", "approver", "--scope", "approve"))
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, tt := range map[string]struct{ key, want string }{
		"no key":      {"", "401"},
		"wrong key":   {"nonsense", "401"},
		"wrong scope": {approver, "403"},
		"right key":   {w.key, "200"},
	} {
		args := []string{"-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", "-d", body, w.url + "/mcp"}
		if tt.key != "" {
			args = append(args, "-H", "Authorization: Bearer "+tt.key)
		}
		if status, text := w.curl(args...); status != tt.want {
			t.Errorf("%s: got %s %s, want %s", name, status, text, tt.want)
		}
	}
}

// typescript is a program with the client of the protocol's own authors.
const typescript = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const { BINARY, PROJECT, URL: url, KEY, ...env } = process.env;
async function visit(name, transport) {
  const client = new Client({ name, version: "1" });
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map(t => t.name);
  const said = await client.callTool({ name: "delegate", arguments: { agent: "grand_boss", text: "/say hello " + name } });
  const refused = await client.callTool({ name: "delegate", arguments: { agent: "nobody", text: "x" } });
  const { resources } = await client.listResources();
  const journal = await client.readResource({ uri: "orchestrator-cc://journal" });
  await client.close();
  return { tools: tools.length, said: said.content[0].text, code: refused.isError && refused.structuredContent.error.code,
    resources: resources.length, heard: journal.contents[0].text.includes("hello " + name) };
}
const stdio = await visit("stdio", new StdioClientTransport({ command: BINARY, args: ["mcp"], cwd: PROJECT, env }));
const http = await visit("http", new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: "Bearer " + KEY } } }));
console.log(JSON.stringify({ stdio, http }));
`

// TestMCPTypeScript runs a client that nobody here wrote, over both transports.
func TestMCPTypeScript(t *testing.T) {
	t.Parallel()
	dir := installMCP(t)
	w := newWeb(t)
	if err := os.WriteFile(filepath.Join(dir, "visit.mjs"), []byte(typescript), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "visit.mjs")
	cmd.Dir = dir
	cmd.Env = append(w.command().Env, "BINARY="+hometest.Binary(), "PROJECT="+w.project, "URL="+w.url, "KEY="+w.key)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), diag.String())
	}
	type visit struct {
		Tools     int
		Said      string
		Code      string
		Resources int
		Heard     bool
	}
	var got map[string]visit
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	for _, name := range []string{"stdio", "http"} {
		want := visit{Tools: 10, Said: "hello " + name + "\nGRAND BOSS OK", Code: "E_UNKNOWN_AGENT", Resources: 2, Heard: true}
		if got[name] != want {
			t.Errorf("%s: got %+v, want %+v", name, got[name], want)
		}
	}
}

// installMCP gets the official client from the npm registry into a folder of
// the test's own.
func installMCP(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			leaveOut(t, program+" is not installed")
		}
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--cache", filepath.Join(dir, ".npm"), "@modelcontextprotocol/sdk@1")
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		leaveOut(t, fmt.Sprintf("npm cannot install the client: %v\n%s", err, out))
	}
	return dir
}
