package modeltest

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
)

// id is unique enough among the tool calls of one conversation.
func id() string { return strconv.FormatUint(rand.Uint64(), 36) }

func readResponses(c *Call) error {
	var body struct {
		Model        string `json:"model"`
		Stream       bool   `json:"stream"`
		Instructions string `json:"instructions"`
		Input        []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
		Tools []struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"` // of a namespace
		} `json:"tools"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return err
	}
	c.Model, c.Stream, c.System = body.Model, body.Stream, body.Instructions
	for _, item := range body.Input {
		switch {
		case item.Output != nil:
			c.Turns = append(c.Turns, Said{"tool", joined(item.Output)})
		case item.Role == "developer" || item.Role == "system":
			c.System += "\n" + joined(item.Content)
		case item.Role != "":
			parts(item.Content, func(_, text string) { c.Turns = append(c.Turns, Said{item.Role, text}) })
		}
	}
	for _, t := range body.Tools {
		if t.Name == "" {
			t.Name = t.Type
		}
		for _, inner := range t.Tools {
			c.Tools = append(c.Tools, t.Name+namespaced+inner.Name)
		}
		if len(t.Tools) == 0 {
			c.Tools = append(c.Tools, t.Name)
		}
	}
	return nil
}

// namespaced stands between a namespace and the tool in it.
const namespaced = "/"

func writeResponses(s *stream, c Call, t Turn) {
	took := t.took()
	usage := obj{
		"input_tokens": took.read(), "input_tokens_details": obj{"cached_tokens": took.CacheRead},
		"output_tokens": took.Output, "output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": took.read() + took.Output,
	}
	response := obj{"id": "resp_" + id(), "object": "response", "model": c.Model, "status": "in_progress", "output": []any{}}
	s.event("response.created", obj{"type": "response.created", "response": response})
	var output []any
	if t.Text != "" {
		item := obj{"type": "message", "id": "msg_" + id(), "role": "assistant", "status": "in_progress", "content": []any{}}
		s.event("response.output_item.added", obj{"type": "response.output_item.added", "output_index": 0, "item": item})
		s.event("response.content_part.added", obj{"type": "response.content_part.added", "item_id": item["id"], "output_index": 0, "content_index": 0, "part": obj{"type": "output_text", "text": ""}})
		s.text(t.Text, func(piece string) {
			s.event("response.output_text.delta", obj{"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0, "delta": piece})
		})
		done := obj{"type": "message", "id": item["id"], "role": "assistant", "status": "completed", "content": []any{obj{"type": "output_text", "text": t.Text, "annotations": []any{}}}}
		s.event("response.output_item.done", obj{"type": "response.output_item.done", "output_index": 0, "item": done})
		output = append(output, done)
	}
	for _, tool := range t.tools() {
		call := obj{"type": "function_call", "id": "fc_" + id(), "call_id": "call_" + id(), "name": tool.Name, "arguments": tool.arguments(), "status": "completed"}
		if space, name, found := strings.Cut(tool.Name, namespaced); found {
			call["namespace"], call["name"] = space, name
		}
		s.event("response.output_item.added", obj{"type": "response.output_item.added", "output_index": len(output), "item": call})
		s.event("response.output_item.done", obj{"type": "response.output_item.done", "output_index": len(output), "item": call})
		output = append(output, call)
	}
	s.event("response.completed", obj{"type": "response.completed", "response": obj{
		"id": response["id"], "object": "response", "model": c.Model, "status": "completed", "output": output, "usage": usage,
	}})
}

func readCompletions(c *Call) error {
	var body struct {
		Model   string `json:"model"`
		Stream  bool   `json:"stream"`
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return err
	}
	c.Model, c.Stream, c.counted = body.Model, body.Stream, body.Options.Usage
	for _, m := range body.Messages {
		switch m.Role {
		case "system", "developer":
			c.System += joined(m.Content)
		default:
			parts(m.Content, func(_, text string) { c.Turns = append(c.Turns, Said{m.Role, text}) })
		}
	}
	for _, t := range body.Tools {
		c.Tools = append(c.Tools, t.Function.Name)
	}
	return nil
}

func writeCompletions(s *stream, c Call, t Turn) {
	reason := "stop"
	if t.Tool != nil {
		reason = "tool_calls"
	}
	took := t.took()
	usage := obj{
		"prompt_tokens": took.read(), "completion_tokens": took.Output, "total_tokens": took.read() + took.Output,
		"prompt_tokens_details": obj{"cached_tokens": took.CacheRead},
	}
	name := "chatcmpl-" + id()
	frame := func(key string, content obj, finish any) obj {
		return obj{
			"id": name, "object": "chat.completion.chunk", "created": 1, "model": c.Model,
			"choices": []any{obj{"index": 0, key: content, "finish_reason": finish}},
		}
	}
	if !c.Stream {
		whole := frame("message", obj{"role": "assistant", "content": t.Text}, reason)
		whole["object"], whole["usage"] = "chat.completion", usage
		s.whole(whole)
		return
	}
	s.event("", frame("delta", obj{"role": "assistant", "content": ""}, nil))
	s.text(t.Text, func(piece string) { s.event("", frame("delta", obj{"content": piece}, nil)) })
	for i, tool := range t.tools() {
		s.event("", frame("delta", obj{"tool_calls": []any{obj{
			"index": i, "id": "call_" + id(), "type": "function",
			"function": obj{"name": tool.Name, "arguments": tool.arguments()},
		}}}, nil))
	}
	s.event("", frame("delta", obj{}, reason))
	if c.counted {
		last := frame("delta", obj{}, nil)
		last["choices"], last["usage"] = []any{}, usage
		s.event("", last)
	}
	s.w.Write([]byte("data: [DONE]\n\n"))
	s.flush()
}

func failOpenAI(status int, message string) any {
	code := map[int]string{400: "invalid_request_error", 429: "rate_limit_exceeded"}[status]
	if code == "" {
		code = "server_error"
	}
	return obj{"error": obj{"message": message, "type": code, "code": code}}
}
