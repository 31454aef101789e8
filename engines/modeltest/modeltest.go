// Package modeltest is a model on loopback that says what a test tells it to.
// It speaks the wire formats of the agent programs, streaming, so that the
// real programs run against it without an account and without a network:
//
//	Anthropic Messages    /v1/messages
//	OpenAI Responses      /v1/responses
//	Chat Completions      /v1/chat/completions
//	Gemini                /v1beta/models/NAME:streamGenerateContent
//	Ollama                /api/chat
//
// Every call is kept byte for byte. What the model does with a call is a
// Script's business: text, tool calls, an error, a slow or a broken stream.
package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// Call is what a program asked of the model.
type Call struct {
	Format string
	Path   string
	Body   []byte // as received
	Model  string
	System string   // the system text, whole
	Turns  []Said   // the conversation, oldest first
	Tools  []string // the names of the tools the model may use
	Stream bool
	Header http.Header

	counted bool // the program asks what an answer takes
}

// Said is one part of a conversation.
type Said struct {
	Role string // user, assistant or tool
	Text string
}

// Prompt is the last text of the user, "" where the last word was a tool's.
func (c Call) Prompt() string {
	if len(c.Turns) == 0 {
		return ""
	}
	last := c.Turns[len(c.Turns)-1]
	if last.Role != "user" {
		return ""
	}
	return last.Text
}

// Result is what a tool gave back as the last word, "" where it was none.
func (c Call) Result() string {
	if len(c.Turns) == 0 || c.Turns[len(c.Turns)-1].Role != "tool" {
		return ""
	}
	return c.Turns[len(c.Turns)-1].Text
}

// Said tells whether a part of the conversation holds a text.
func (c Call) Said(role, text string) bool {
	for _, s := range c.Turns {
		if s.Role == role && strings.Contains(s.Text, text) {
			return true
		}
	}
	return false
}

// Turn is what the model does with one call.
type Turn struct {
	Text   string
	Tool   *Tool
	Beside []Tool        // further calls in the same turn
	Status int           // an HTTP error instead of a turn
	Error  string        // its message
	Header http.Header   // sent with it
	Body   any           // in place of the format's own error object
	After  time.Duration // silence before the first byte
	Pace   time.Duration // silence between the pieces of the text
	Broken bool          // the connection breaks off in the middle of the text
	Took   Took          // what it says that it took; by its length where nothing is said
}

// Took is a count of tokens. Formats that know less of caches say less.
type Took struct {
	Input, CacheWrite, CacheRead, Output int
}

func (t Turn) took() Took {
	if t.Took == (Took{}) {
		return Took{Input: 10, Output: 1 + len(t.Text)/4}
	}
	return t.Took
}

// read is all that the model read, wherever it came from.
func (t Took) read() int { return t.Input + t.CacheWrite + t.CacheRead }

// Tool is a tool call.
type Tool struct {
	Name  string
	Input any
}

// tools are all that the turn calls.
func (t Turn) tools() []Tool {
	if t.Tool == nil {
		return nil
	}
	return append([]Tool{*t.Tool}, t.Beside...)
}

func (t Tool) arguments() string {
	text, err := json.Marshal(t.Input)
	if err != nil {
		panic(fmt.Sprintf("modeltest: arguments of %s: %v", t.Name, err))
	}
	return string(text)
}

// Script decides what the model says. It is called by several goroutines.
type Script func(Call) Turn

// Server is the model.
type Server struct {
	URL string

	mu     sync.Mutex
	script Script
	calls  []Call
	ended  time.Time
}

// New starts a model that ends with the test.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s := &Server{script: script}
	server := httptest.NewServer(s)
	s.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// Follow gives the model another script.
func (s *Server) Follow(script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Calls are all calls so far, oldest first.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// wire is one format.
type wire struct {
	name  string
	read  func(*Call) error
	write func(*stream, Call, Turn)
	fail  func(status int, message string) any
}

func formatOf(path string) *wire {
	switch {
	case strings.HasSuffix(path, "/v1/messages"):
		return &wire{"anthropic", readAnthropic, writeAnthropic, failAnthropic}
	case strings.HasSuffix(path, "/responses"):
		return &wire{"responses", readResponses, writeResponses, failOpenAI}
	case strings.HasSuffix(path, "/chat/completions"):
		return &wire{"completions", readCompletions, writeCompletions, failOpenAI}
	case strings.HasSuffix(path, "enerateContent"):
		return &wire{"gemini", readGemini, writeGemini, failGemini}
	case strings.HasSuffix(path, "/api/chat"):
		return &wire{"ollama", readOllama, writeOllama, failOllama}
	}
	return nil
}

// ServeHTTP answers one call. What programs ask besides, such as for a count
// of tokens, gets an empty answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	format := formatOf(r.URL.Path)
	if err != nil || format == nil {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"input_tokens":1,"totalTokens":1,"data":[],"models":[]}`)
		return
	}
	call := Call{Format: format.name, Path: r.URL.Path, Body: body, Header: r.Header.Clone()}
	if err := format.read(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	script := s.script
	s.mu.Unlock()
	turn := script(call)
	if turn.After > 0 {
		select {
		case <-time.After(turn.After):
		case <-r.Context().Done():
			return
		}
	}
	if turn.Status != 0 {
		maps.Copy(w.Header(), turn.Header)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(turn.Status)
		body := turn.Body
		if body == nil {
			body = format.fail(turn.Status, turn.Error)
		}
		json.NewEncoder(w).Encode(body)
		return
	}
	out := &stream{w: w, r: r, pace: turn.Pace, broken: turn.Broken}
	format.write(out, call, turn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(call.Tools) > 0 {
		s.ended = time.Now()
	}
}

// Ended is when the model last finished an answer. What programs ask besides
// their work, without tools, does not count.
func (s *Server) Ended() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// stream writes an answer piece by piece.
type stream struct {
	w      http.ResponseWriter
	r      *http.Request
	pace   time.Duration
	broken bool
}

// event writes one server-sent event. A format whose events have no names
// leaves the name empty.
func (s *stream) event(name string, data any) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", encode(data))
	s.flush()
}

// line writes one line of newline-delimited JSON.
func (s *stream) line(data any) {
	s.w.Header().Set("Content-Type", "application/x-ndjson")
	s.w.Write(append(encode(data), '\n'))
	s.flush()
}

// whole writes an answer that is not streamed.
func (s *stream) whole(data any) {
	s.w.Header().Set("Content-Type", "application/json")
	s.w.Write(encode(data))
}

func (s *stream) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pieceBytes is about what a model sends at once, made larger so that long
// answers do not take long.
const pieceBytes = 400

// text sends a text in pieces that never cut a character, at the script's pace,
// and breaks the connection in the middle where the script says so.
func (s *stream) text(text string, send func(piece string)) {
	whole := len(text)
	for len(text) > 0 {
		n := min(pieceBytes, len(text))
		if s.broken {
			n = min(n, max(1, whole/4))
		}
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		send(text[:n])
		text = text[n:]
		if s.broken && len(text) <= whole/2 {
			panic(http.ErrAbortHandler)
		}
		if s.pace > 0 {
			select {
			case <-time.After(s.pace):
			case <-s.r.Context().Done():
				panic(http.ErrAbortHandler)
			}
		}
	}
}

// encode writes JSON as models do: without escaping what HTML would need.
func encode(data any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(data); err != nil {
		panic(fmt.Sprintf("modeltest: encode: %v", err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// obj is a JSON object.
type obj = map[string]any

// parts reads content that is a text or a list of parts with texts.
func parts(raw json.RawMessage, add func(kind, text string)) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		add("text", text)
		return
	}
	var list []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, p := range list {
		if p.Type == "tool_result" {
			var inner strings.Builder
			parts(p.Content, func(_, text string) { inner.WriteString(text) })
			p.Text = inner.String()
		}
		add(p.Type, p.Text)
	}
}

// joined is all text of a content.
func joined(raw json.RawMessage) string {
	var all []string
	parts(raw, func(_, text string) { all = append(all, text) })
	return strings.Join(all, "\n")
}
