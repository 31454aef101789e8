package api_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

func request(to, text string) protocol.Message {
	return protocol.New(protocol.Identifier{}, protocol.Identifier{AgentID: to}, protocol.TaskRequest(text))
}

func TestClientReturnsFaults(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, apitest.New(nil), api.Options{})
	tests := []struct {
		name, secret string
		message      protocol.Message
		want         protocol.Code
		field        string
	}{
		{"unknown agent", "", request("nobody", "x"), protocol.CodeUnknownAgent, ""},
		{"empty", "", request("grand_boss", " "), protocol.CodeInvalid, "payload.params.text"},
		{"forbidden", "secret-of-testing_specialist", request("grand_boss", "x"), protocol.CodeForbidden, "header.to"},
		{"unknown secret", "x", request("grand_boss", "x"), protocol.CodeForbidden, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := api.NewClient(socket, tt.secret)
			defer client.Close()
			_, err := client.Post(t.Context(), tt.message, false)
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != tt.want || fault.Field != tt.field {
				t.Errorf("got %#v, want code %s in field %q", err, tt.want, tt.field)
			}
		})
	}
	client := api.NewClient(socket, "")
	defer client.Close()
	m := request("grand_boss", " ")
	m.Header.Version = "9"
	_, err := client.Post(t.Context(), m, false)
	var several *protocol.Problems
	if !errors.As(err, &several) || len(several.Faults) != 2 {
		t.Errorf("got %v, want both faults", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	client := api.NewClient(apitest.SocketPath(t), "")
	if _, err := client.Overview(t.Context()); !errors.Is(err, api.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
	if err := client.Await(t.Context(), 100*time.Millisecond); !errors.Is(err, api.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
	if err := client.Gone(t.Context()); err != nil {
		t.Errorf("got %v, want nil for a hub that is gone", err)
	}
}

// TestPostIsOneMessage lets the hub's first answer get lost: the client tries
// again, and the message is accepted once.
func TestPostIsOneMessage(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket := apitest.SocketPath(t)
	l, err := api.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	inner := api.New(hub, api.Options{}).Handler()
	lost := false
	outer := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/messages" || lost {
			inner.ServeHTTP(w, r)
			return
		}
		lost = true
		inner.ServeHTTP(silent{header: http.Header{}}, r)
		panic(http.ErrAbortHandler)
	})}
	ended := make(chan error, 1)
	go func() { ended <- outer.Serve(l) }()
	defer func() { outer.Close(); <-ended }()

	client := api.NewClient(socket, "")
	defer client.Close()
	receipt, err := client.Post(t.Context(), request("grand_boss", "once"), false)
	if err != nil {
		t.Fatal(err)
	}
	tasks := hub.Tasks()
	if len(tasks) != 1 || receipt.TaskID != tasks[0].ID {
		t.Errorf("got receipt %+v and %d tasks, want one task", receipt, len(tasks))
	}
}

type silent struct{ header http.Header }

func (s silent) Header() http.Header       { return s.header }
func (silent) Write(p []byte) (int, error) { return len(p), nil }
func (silent) WriteHeader(int)             {}

func note(text string) protocol.Entry {
	m := protocol.New(protocol.FromHub(), protocol.Identifier{AgentID: "all", AgentType: "all"}, protocol.Info(text))
	m.Stamp(time.Now())
	return protocol.Entry{Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m}}
}

// TestWatchResumes stops and starts the server under a watcher again and
// again: every entry comes once and in order.
func TestWatchResumes(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, stop := serve(t, hub, api.Options{})
	client := api.NewClient(socket, "")
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()

	const rounds, each = 4, 5
	seen := make(chan uint64, rounds*each)
	ended := make(chan error, 1)
	go func() {
		defer close(seen)
		want := uint64(1)
		for e, err := range client.Watch(ctx, "", 0) {
			if err != nil {
				ended <- err
				return
			}
			if e.Seq != want {
				ended <- fmt.Errorf("got entry %d, want %d", e.Seq, want)
				return
			}
			want++
			seen <- e.Seq
			if e.Seq == rounds*each {
				break
			}
		}
		ended <- nil
	}()
	for round := range rounds {
		for range each {
			hub.Append(note("x"))
		}
		for range each {
			if _, ok := <-seen; !ok {
				t.Fatal(<-ended)
			}
		}
		if round < rounds-1 {
			stop()
			stop = serveAt(t, hub, socket, api.Options{})
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWatchFollowsOneTask(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{KeepAlive: 5 * time.Millisecond})
	client := api.NewClient(socket, "")
	defer client.Close()
	hub.Append(note("before"))
	receipt, err := client.Post(t.Context(), request("grand_boss", "go"), false)
	if err != nil {
		t.Fatal(err)
	}
	hub.Append(note("beside"))
	hub.Reply(receipt.MessageID, "GRAND BOSS OK")
	for e, err := range client.Watch(t.Context(), receipt.TaskID, receipt.Seq) {
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Message.Message.Text(); got != "GRAND BOSS OK" {
			t.Errorf("got %q, want only the answer", got)
		}
		break
	}
	for _, err := range client.Watch(t.Context(), "zzzz", 0) {
		if protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("got %v, want not found", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range client.Watch(ctx, "", receipt.Seq+2) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want cancelled", err)
		}
	}
}

// TestEventStream reads the bytes as an EventSource does.
func TestEventStream(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	hub.Append(note("one"))
	hub.Append(note("two"))
	conn := dial(t, socket)
	fmt.Fprint(conn, "GET /events HTTP/1.1\r\nHost: hub\r\nLast-Event-ID: 1\r\n\r\n")
	text := readUntil(t, conn, `"two"`)
	for _, want := range []string{"Content-Type: text/event-stream", "id: 2\nevent: message\ndata: {\"seq\":2,"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q in it", text, want)
		}
	}
	if strings.Contains(text, `"one"`) {
		t.Errorf("got %q, want nothing before the last id", text)
	}
}

// TestSlowReaderIsCutOff connects a reader that never reads; the server ends
// the connection and everybody else is served.
func TestSlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	var diary syncBuffer
	socket, _ := serve(t, hub, api.Options{WriteWait: 200 * time.Millisecond, Log: zerolog.New(&diary)})
	conn := dial(t, socket)
	fmt.Fprint(conn, "GET /events HTTP/1.1\r\nHost: hub\r\n\r\n")
	big := note(strings.Repeat("x", 1<<18))
	for range 8 {
		hub.Append(big)
	}
	client := api.NewClient(socket, "")
	defer client.Close()
	count := 0
	for _, err := range client.Watch(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count == 8 {
			break
		}
	}
	for limit := time.Now().Add(10 * time.Second); strings.Count(diary.String(), `"path":"/events"`) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("got no word of the slow reader's end, want it cut off")
		}
	}
	// Whatever still lies in the socket's buffer comes, then the end.
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	buffer := make([]byte, 1<<16)
	total := 0
	for {
		n, err := conn.Read(buffer)
		total += n
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatal("got a connection that stays open, want it cut off")
			}
			break
		}
	}
	if total >= 8<<18 {
		t.Errorf("got all %d bytes, want the stream cut off before", total)
	}
}

func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func readUntil(t *testing.T, conn net.Conn, end string) string {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	var text strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(text.String(), end) {
		n, err := conn.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			t.Fatalf("read: %v after %q", err, text.String())
		}
	}
	return text.String()
}
