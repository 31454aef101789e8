package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestSourcesOfAnAnswer asks about code by WebSocket: the answer names the file
// that it rests on.
func TestSourcesOfAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	code := "package work\n\n// RetryPolicy says when to try again.\nfunc RetryPolicy() int { return 3 }\n"
	if err := os.MkdirAll(filepath.Join(w.project, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.project, "work", "retry.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(w.url, "http", "ws", 1)+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + w.key}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 22)
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"submitUserInput","payload":{"text":"where is RetryPolicy implemented?"}}`)); err != nil {
		t.Fatal(err)
	}
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("got no answer: %v", err)
		}
		var f struct {
			Type    string
			Payload struct {
				Content  string
				Metadata struct {
					Sources []string `json:"source_documents"`
				}
			}
		}
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		if f.Type != "onNewMessage" {
			continue
		}
		if got := f.Payload.Metadata.Sources; !slices.Contains(got, "work/retry.go") {
			t.Errorf("got sources %q, want work/retry.go among them\n%s", got, f.Payload.Content)
		}
		return
	}
}
