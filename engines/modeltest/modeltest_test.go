package modeltest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/engines/modeltest"
)

// Every format says the same text in its own way.
func TestFormats(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("はい、<tag> & \"quoted\"\n", 60)
	tests := []struct {
		name, path, body string
		// piece finds the text in one event
		piece func(event map[string]any) string
	}{
		{
			"anthropic", "/v1/messages?beta=true", `{"stream":true,"system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"tools":[{"name":"Bash"}]}`,
			func(e map[string]any) string { return at(e, "delta", "text") },
		},
		{
			"responses", "/v1/responses", `{"stream":true,"instructions":"be kind","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}],"tools":[{"type":"function","name":"Bash"}]}`,
			func(e map[string]any) string {
				s, _ := e["delta"].(string)
				return s
			},
		},
		{
			"completions", "/v1/chat/completions", `{"stream":true,"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hello"}],"tools":[{"type":"function","function":{"name":"Bash"}}]}`,
			func(e map[string]any) string { return at(e, "choices", "delta", "content") },
		},
		{
			"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"systemInstruction":{"parts":[{"text":"be kind"}]},"contents":[{"role":"user","parts":[{"text":"hello"}]}],"tools":[{"functionDeclarations":[{"name":"Bash"}]}]}`,
			func(e map[string]any) string { return at(e, "candidates", "content", "parts", "text") },
		},
		{
			"ollama", "/api/chat", `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hello"}]}`,
			func(e map[string]any) string { return at(e, "message", "content") },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, func(modeltest.Call) modeltest.Turn { return modeltest.Turn{Text: text} })
			var got strings.Builder
			for _, e := range events(t, m.URL+tt.path, tt.body) {
				got.WriteString(tt.piece(e))
			}
			if got.String() != text {
				t.Errorf("got %q, want %q", got.String(), text)
			}
			call := m.Calls()[0]
			if call.Format != tt.name || string(call.Body) != tt.body || call.System != "be kind" || call.Prompt() != "hello" {
				t.Errorf("got call %+v, want %s with its body, system text and prompt", call, tt.name)
			}
			if tt.name != "ollama" {
				if diff := cmp.Diff([]string{"Bash"}, call.Tools); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestBreaksAndErrors(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, func(modeltest.Call) modeltest.Turn {
		return modeltest.Turn{Text: strings.Repeat("x", 4000), Broken: true}
	})
	body := `{"stream":true,"messages":[{"role":"user","content":"hello"}]}`
	r, err := http.Post(m.URL+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(r.Body)
	r.Body.Close()
	if err == nil {
		t.Error("got a whole stream, want one that breaks off")
	}
	m.Follow(func(modeltest.Call) modeltest.Turn { return modeltest.Turn{Status: 429, Error: "slow down"} })
	r, err = http.Post(m.URL+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if r.StatusCode != 429 || !strings.Contains(string(text), "rate_limit_error") {
		t.Errorf("got %d %s, want 429 with its kind", r.StatusCode, text)
	}
}

// events posts a body and reads the objects of the answer's stream.
func events(t *testing.T, url, body string) (out []map[string]any) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		var e map[string]any
		if json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// at follows keys, through the first element of lists.
func at(value any, keys ...string) string {
	for _, key := range keys {
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		object, _ := value.(map[string]any)
		value = object[key]
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
	}
	s, _ := value.(string)
	return s
}
