package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/api"
)

// submitOnce submits with an idempotency key.
func (w *web) submitOnce(ctx context.Context, once, prompt string) (status int, body string, err error) {
	data, err := json.Marshal(map[string]string{"sessionId": "s1", "userPrompt": prompt, "taskType": "chat"})
	if err != nil {
		return 0, "", err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", w.url+"/submit_task", strings.NewReader(string(data)))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", once)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// TestSubmitOnce sends one thing a hundred times at once, again after the hub
// was killed, and again when it is done: it is one task. Another thing with the
// same key is refused throughout.
func TestSubmitOnce(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	const prompt = "/say once and no more"
	var mu sync.Mutex
	receipts := map[string]int{}
	var hands sync.WaitGroup
	for range 100 {
		hands.Go(func() {
			status, body, err := w.submitOnce(t.Context(), "order-17", prompt)
			if err != nil || status != http.StatusOK {
				t.Errorf("got %d %s, %v, want it taken", status, body, err)
			}
			mu.Lock()
			defer mu.Unlock()
			receipts[body]++
		})
	}
	hands.Wait()
	if len(receipts) != 1 {
		t.Fatalf("got receipts %v, want one", receipts)
	}
	hub, _ := w.card()
	kill(hub.PID)
	until(t, time.Minute, func(ctx context.Context) (bool, string) {
		if now, ok := w.card(); !ok || now.PID == hub.PID {
			return false, "no new hub"
		}
		w.url = w.address()
		_, body, err := w.submitOnce(ctx, "order-17", prompt)
		return err == nil && receipts[body] > 0, body
	})
	var taken api.Submitted
	for receipt := range receipts {
		if err := json.Unmarshal([]byte(receipt), &taken); err != nil {
			t.Fatal(err)
		}
	}
	w.finished(taken.TaskID)
	status, body, err := w.submitOnce(t.Context(), "order-17", prompt)
	if err != nil || status != http.StatusOK || receipts[body] == 0 {
		t.Errorf("got %d %s, %v for a task that is done, want its first receipt", status, body, err)
	}
	status, body, err = w.submitOnce(t.Context(), "order-17", "/say something else")
	if err != nil || status != http.StatusConflict || !strings.Contains(body, "Idempotency-Key") {
		t.Errorf("got %d %s, %v, want another task with that key refused", status, body, err)
	}
	asked := 0
	for _, l := range w.journal() {
		if l.To == "grand_boss" && l.Type == "task" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("got %d tasks in the journal, want 1", asked)
	}
}

// TestSubmitRejected gives a company that has enough to do one task more.
func TestSubmitRejected(t *testing.T) {
	t.Parallel()
	c := newProject(t, apiConfig+"limits: {open_tasks: 1}\n")
	c.run("up", "--port", "0")
	w := &web{company: c, url: c.address(), key: strings.TrimSpace(c.run("keys", "add", "k", "--scope", "read", "--scope", "submit"))}
	c.run("pause", "grand_boss")
	first := w.submit("s1", "/say first")
	status, body, err := w.submitOnce(t.Context(), "k", "/say second")
	if err != nil || status != http.StatusOK || !strings.Contains(body, `"status":"rejected"`) || !strings.Contains(body, "open task") {
		t.Errorf("got %d %s, %v, want it rejected, and why", status, body, err)
	}
	c.run("resume", "grand_boss")
	w.finished(first)
	if _, body, err := w.submitOnce(t.Context(), "k", "/say second"); err != nil || !strings.Contains(body, `"status":"accepted"`) {
		t.Errorf("got %s, %v, want it taken when there is room", body, err)
	}
}
