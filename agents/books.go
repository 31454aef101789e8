package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// The books of the known programs. Each is what the pinned version writes; a
// line that is not understood tells nothing.

// enter reads Claude Code's transcript. An answer has a line for each of its
// parts, and only the last of them has all its tokens.
func (claude) enter(at *account, line []byte) {
	var in struct {
		Type    string    `json:"type"`
		Time    time.Time `json:"timestamp"`
		Request string    `json:"requestId"`
		Meta    bool      `json:"isMeta"` // the program's own words, such as what a hook asks for
		Message struct {
			ID      string          `json:"id"`
			Model   string          `json:"model"`
			Content json.RawMessage `json:"content"`
			Usage   struct {
				Input   int64 `json:"input_tokens"`
				Written int64 `json:"cache_creation_input_tokens"`
				Cached  int64 `json:"cache_read_input_tokens"`
				Output  int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &in) != nil {
		return
	}
	m := in.Message
	switch in.Type {
	case "assistant":
		at.took(protocol.Usage{ID: m.ID + in.Request, Model: m.Model, Tokens: protocol.Tokens{
			Input: m.Usage.Input + m.Usage.Written, Cached: m.Usage.Cached, Output: m.Usage.Output}}, in.Time)
		return
	case "user":
		if !in.Meta {
			at.prompt(wordsOf(m.Content))
		}
	}
	at.turn()
}

// besides finds the transcripts of its subagents.
func (claude) besides(book string) []string {
	found, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(book, ".jsonl"), "subagents", "*.jsonl"))
	return found
}

// enter reads Codex's rollout. What came from a cache is part of its input. No
// hook tells of a turn that the model has failed, but the rollout does.
func (codex) enter(at *account, line []byte) {
	var in struct {
		Type    string    `json:"type"`
		Time    time.Time `json:"timestamp"`
		Payload struct {
			Type     string          `json:"type"`
			Role     string          `json:"role"`
			Content  json.RawMessage `json:"content"`
			Model    string          `json:"model"`
			Response string          `json:"response_id"`
			Error    struct {
				Message string `json:"message"`
			} `json:"error"`
			Usage struct {
				Input  int64 `json:"input_tokens"`
				Cached int64 `json:"cached_input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &in) != nil {
		return
	}
	p := in.Payload
	switch {
	case in.Type == "turn_context":
		at.model = p.Model
	case in.Type == "response_item" && p.Type == "message" && p.Role == "user":
		at.prompt(wordsOf(p.Content))
	case in.Type == "token_usage_record":
		u := p.Usage
		at.took(protocol.Usage{ID: p.Response, Model: at.model, Tokens: protocol.Tokens{Input: u.Input - u.Cached, Cached: u.Cached, Output: u.Output}}, in.Time)
		at.turn()
	case in.Type == "event_msg" && p.Type == "task_complete" && p.Error.Message != "":
		at.fail(p.Error.Message, in.Time)
	}
}

func (codex) besides(string) []string { return nil }

// enter reads Gemini CLI's recording. It writes an answer again whenever it
// knows more of it; its tokens it knows once.
func (gemini) enter(at *account, line []byte) {
	var in struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Time    time.Time       `json:"timestamp"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Tokens  struct{ Input, Output, Cached, Thoughts int64 }
	}
	if json.Unmarshal(line, &in) != nil {
		return
	}
	switch t := in.Tokens; in.Type {
	case "user":
		at.prompt(wordsOf(in.Content))
	case "gemini":
		at.took(protocol.Usage{ID: in.ID, Model: in.Model, Tokens: protocol.Tokens{Input: t.Input - t.Cached, Cached: t.Cached, Output: t.Output + t.Thoughts}}, in.Time)
		at.turn()
	}
}

// besides finds the recordings of its subagents: they lie in a folder named after
// the conversation, of which the book's own name has the beginning.
func (gemini) besides(book string) []string {
	name := strings.TrimSuffix(filepath.Base(book), ".jsonl")
	id := name[strings.LastIndexByte(name, '-')+1:]
	if id == "" {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(book), id+"*", "*.jsonl"))
	return found
}

// wordsOf is the text of a message, which is a string or a list of parts. The
// results of tools are no words of anybody.
func wordsOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}
