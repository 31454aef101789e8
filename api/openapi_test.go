package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

// TestOpenAPIIsCheckedIn keeps the description in the documentation in step
// with the routes; -update rewrites it.
func TestOpenAPIIsCheckedIn(t *testing.T) {
	t.Parallel()
	const file = "../docs/openapi.json"
	socket, _ := serve(t, apitest.New(nil), api.Options{Version: "1"})
	_, text := raw(t, socket, "GET", "/openapi.json", "")
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("docs/openapi.json (-want +got), run: go test ./api -run OpenAPIIsCheckedIn -update\n%s", diff)
	}
	if !strings.Contains(text, `"openapi":"3.1.0"`) {
		t.Error("got another version, want OpenAPI 3.1")
	}
}

func TestDocsPage(t *testing.T) {
	t.Parallel()
	p := openPort(t, apitest.New(nil), api.Options{})
	status, page, header := p.do("GET", "/docs", "")
	if status != 200 || !strings.Contains(page, "/openapi.json") {
		t.Fatalf("got %d %.100s, want the page", status, page)
	}
	for _, outside := range []string{"http://", "https://", "//cdn"} {
		if strings.Contains(page, outside) {
			t.Errorf("got %q in the page, want nothing from outside", outside)
		}
	}
	if got := header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") {
		t.Errorf("got policy %q, want nothing allowed by default", got)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	hub.Append(protocol.Entry{Kind: protocol.KindUsage, Usage: &protocol.Usage{ID: "1", Agent: "grand_boss", Tokens: protocol.Tokens{Input: 7, Output: 3, Cached: 5}}})
	p := openPort(t, hub, api.Options{})
	key := p.key("k")
	p.submit(&spy{name: "hidden-words", key: key, session: "hidden-session"})
	status, page, header := p.do("GET", "/metrics", "", "Authorization", "Bearer "+key)
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("got %d %s, want a page of metrics", status, header.Get("Content-Type"))
	}
	for _, want := range []string{
		`orchestrator_cc_messages_total{type="request"} 1`, `orchestrator_cc_agent_queue{agent="grand_boss"} 0`,
		`orchestrator_cc_tasks{state="pending"} 1`, `orchestrator_cc_http_requests_total{method="POST",status="200"} 1`,
		"# TYPE orchestrator_cc_http_streams gauge", `orchestrator_cc_tokens_total{agent="grand_boss",kind="input"} 7`,
		`orchestrator_cc_tokens_total{agent="grand_boss",kind="output"} 3`, `orchestrator_cc_tokens_total{agent="grand_boss",kind="cached"} 5`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("got %s, want %s in it", page, want)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if families, err := parser.TextToMetricFamilies(strings.NewReader(page)); err != nil || len(families) < 13 {
		t.Errorf("got %d families, %v from the parser of Prometheus itself, want all of them", len(families), err)
	}
	if strings.Contains(page, "hidden") {
		t.Error("got a session's words in the metrics, want none")
	}
	if status, _, _ := p.do("GET", "/metrics", ""); status != 401 {
		t.Errorf("got %d without a key, want 401", status)
	}
}

// TestThousandStreams opens a thousand streams that hear nothing, drops them
// without a word, and looks that none is left behind.
func TestThousandStreams(t *testing.T) {
	t.Parallel()
	const streams = 1000
	p := openPort(t, apitest.New(nil), api.Options{KeepAlive: 100 * time.Millisecond, Rate: 1e6})
	key := p.key("k")
	open := func() string {
		_, page, _ := p.do("GET", "/metrics", "", "Authorization", "Bearer "+key)
		_, rest, _ := strings.Cut(page, "\norchestrator_cc_http_streams ")
		count, _, _ := strings.Cut(rest, "\n")
		return count
	}
	var conns []net.Conn
	for range streams {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", key)
	}
	wait := func(want string) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); open() != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("got %s open streams, want %s", open(), want)
			}
		}
	}
	wait(fmt.Sprint(streams))
	for _, conn := range conns {
		conn.Close()
	}
	wait("0")
}
