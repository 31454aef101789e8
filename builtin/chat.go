package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orchestrator-cc/protocol"
)

// Model is where a chat's model is and how it is spoken to.
type Model struct {
	URL    string // of Ollama, or of an OpenAI-compatible interface up to "/v1"
	OpenAI bool   // which of the two
	Name   string
	Key    string // "" = none
}

// Chat is a brain that asks a model. It keeps the conversation, and the brief
// is its system message. The end of the model's stream is the end of the
// answer, so the marker is the program's own word and never the model's.
type Chat struct {
	Model  Model
	Brief  string
	Marker string
	File   string // that keeps the conversation over a restart; "" = none
	Client *http.Client

	history []utterance
	spent   []protocol.Usage
}

type utterance struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// maxHistory bounds what is sent along, in bytes: local models have short
// memories and slow eyes.
const maxHistory = 256 << 10

// maxReply bounds what a model may say at once.
const maxReply = 8 << 20

// Reply asks the model. A turn that fails or is interrupted leaves no trace in
// the conversation. Turns come one at a time.
func (c *Chat) Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error) {
	return c.ReplyAloud(ctx, p, say, func(string) {})
}

// ReplyAloud does so too, and hands out the model's words as they come.
func (c *Chat) ReplyAloud(ctx context.Context, p protocol.Prompt, say, write func(string)) (string, error) {
	asked := append(c.history[:len(c.history):len(c.history)], utterance{"user", p.Body})
	text, err := c.ask(ctx, asked, say, write)
	if err != nil {
		return "", fmt.Errorf("ask %s at %s: %w", c.Model.Name, c.Model.URL, err)
	}
	c.history = shortened(append(asked, utterance{"assistant", text}))
	if err := c.keep(); err != nil {
		say(err.Error()) // the answer is as good
	}
	return withoutMarker(text, c.Marker), nil
}

// shortened drops the oldest exchanges beyond the bound.
func shortened(all []utterance) []utterance {
	size := 0
	for i := len(all) - 1; i >= 0; i-- {
		size += len(all[i].Content)
		if size > maxHistory {
			first := i + 1 + (i+1)%2 // an exchange has two parts
			return all[min(first, len(all)):]
		}
	}
	return all
}

// withoutMarker drops the marker line that the brief asks for: the program
// writes it itself.
func withoutMarker(text, marker string) string {
	text = strings.TrimRight(text, " \n")
	at := strings.LastIndexByte(text, '\n') + 1
	if marker != "" && strings.HasPrefix(strings.TrimSpace(text[at:]), marker) {
		text = strings.TrimRight(text[:at], " \n")
	}
	return text
}

func (c *Chat) ask(ctx context.Context, conversation []utterance, say, write func(string)) (string, error) {
	messages := conversation
	if c.Brief != "" {
		messages = append([]utterance{{"system", c.Brief}}, conversation...)
	}
	path, options := "/api/chat", map[string]any{"model": c.Model.Name, "messages": messages, "stream": true}
	if c.Model.OpenAI {
		path, options["stream_options"] = "/chat/completions", map[string]any{"include_usage": true}
	}
	body, err := json.Marshal(options)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.Model.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.Model.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Model.Key)
	}
	response, err := c.Client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "", fmt.Errorf("nothing listens there; start it%s, or set CHAT_URL in the engine's env", c.Model.cure(": ollama serve"))
	}
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10)) // what there is of an explanation
		return "", c.Model.refusal(response, strings.TrimSpace(string(text)))
	}
	text, took, err := readReply(io.LimitReader(response.Body, maxReply), say, write)
	if took != (protocol.Tokens{}) {
		c.spent = append(c.spent, protocol.Usage{Model: c.Model.Name, Tokens: took})
	}
	return text, err
}

// refusal words an answer that is none, with its cure where a person has one.
// What would be refused again is not tried again.
func (m Model) refusal(r *http.Response, text string) error {
	said := r.Status + ": " + text
	switch r.StatusCode {
	case http.StatusTooManyRequests:
		return &wallError{said, retryAfter(r.Header.Get("Retry-After"), time.Now())}
	case http.StatusNotFound:
		return uselessf("%s; there is no such model%s", said, m.cure(", get it with: ollama pull "+m.Name))
	case http.StatusUnauthorized, http.StatusForbidden:
		return uselessf("%s; set CHAT_KEY in the environment to a key that it knows, then: orchestrator-cc up", said)
	}
	return errors.New(said)
}

// cure is what helps with Ollama, and only there.
func (m Model) cure(text string) string {
	if m.OpenAI {
		return ""
	}
	return text
}

// Spent is what the model said that it took.
func (c *Chat) Spent() []protocol.Usage {
	out := c.spent
	c.spent = nil
	return out
}

// retryAfter reads the header in which a server says when it is to be asked
// again: in so many seconds, or at a date.
func retryAfter(value string, now time.Time) time.Time {
	if seconds, err := strconv.Atoi(value); err == nil {
		return now.Add(time.Duration(seconds) * time.Second)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return time.Time{}
	}
	return at
}

// frame is one piece of a reply, in either format.
type frame struct {
	Message struct{ Content string } // Ollama
	Done    bool
	Choices []struct { // OpenAI-compatible
		Delta struct{ Content string }
	}
	Error json.RawMessage

	// What the answer took: Ollama tells with its last piece, the others with
	// one that has no choices, since they were asked to.
	Read    int64 `json:"prompt_eval_count"`
	Written int64 `json:"eval_count"`
	Usage   struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

func (f frame) took() protocol.Tokens {
	u := f.Usage
	return protocol.Tokens{Input: f.Read + u.Prompt - u.Details.Cached, Output: f.Written + u.Completion, Cached: u.Details.Cached}
}

func (f frame) text() string {
	if len(f.Choices) > 0 {
		return f.Choices[0].Delta.Content
	}
	return f.Message.Content
}

// errBroken says that the model's stream ended before its end.
var errBroken = errors.New("the stream broke off")

// readReply reads a stream: a JSON object a line, in the one format behind
// "data: " and closed by [DONE]. The words are handed out as they come, and
// whole lines of them shown.
func readReply(stream io.Reader, say, write func(string)) (text string, took protocol.Tokens, err error) {
	var reply strings.Builder
	shown := 0
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "data:"))
		if line == "[DONE]" {
			return reply.String(), took, nil
		}
		var f frame
		if json.Unmarshal([]byte(line), &f) != nil {
			continue // a comment or an event's name
		}
		if f.Error != nil {
			return "", took, fmt.Errorf("the model says: %s", f.Error)
		}
		if told := f.took(); told != (protocol.Tokens{}) {
			took = told // some tell it with every piece, for all so far
		}
		reply.WriteString(f.text())
		write(f.text())
		if f.Done {
			return reply.String(), took, nil
		}
		if end := strings.LastIndexByte(reply.String()[shown:], '\n'); end >= 0 {
			say(reply.String()[shown : shown+end])
			shown += end + 1
		}
	}
	return "", took, errors.Join(errBroken, lines.Err())
}
