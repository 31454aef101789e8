package modeltest

import "encoding/json"

func readAnthropic(c *Call) error {
	var body struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return err
	}
	c.Model, c.Stream, c.System = body.Model, body.Stream, joined(body.System)
	for _, m := range body.Messages {
		parts(m.Content, func(kind, text string) {
			role := m.Role
			if kind == "tool_result" {
				role = "tool"
			}
			if kind == "text" || kind == "tool_result" {
				c.Turns = append(c.Turns, Said{role, text})
			}
		})
	}
	for _, t := range body.Tools {
		c.Tools = append(c.Tools, t.Name)
	}
	return nil
}

func writeAnthropic(s *stream, c Call, t Turn) {
	reason := "end_turn"
	if t.Tool != nil {
		reason = "tool_use"
	}
	took := t.took()
	usage := func(output int) obj {
		return obj{"input_tokens": took.Input, "output_tokens": output, "cache_creation_input_tokens": took.CacheWrite, "cache_read_input_tokens": took.CacheRead}
	}
	message := obj{
		"id": "msg_" + id(), "type": "message", "role": "assistant", "model": c.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage(1),
	}
	if !c.Stream {
		message["content"], message["stop_reason"], message["usage"] = []any{obj{"type": "text", "text": t.Text}}, reason, usage(took.Output)
		s.whole(message)
		return
	}
	s.event("message_start", obj{"type": "message_start", "message": message})
	index := 0
	if t.Text != "" {
		s.event("content_block_start", obj{"type": "content_block_start", "index": index, "content_block": obj{"type": "text", "text": ""}})
		s.text(t.Text, func(piece string) {
			s.event("content_block_delta", obj{"type": "content_block_delta", "index": index, "delta": obj{"type": "text_delta", "text": piece}})
		})
		s.event("content_block_stop", obj{"type": "content_block_stop", "index": index})
		index++
	}
	for _, tool := range t.tools() {
		s.event("content_block_start", obj{"type": "content_block_start", "index": index, "content_block": obj{"type": "tool_use", "id": "toolu_" + id(), "name": tool.Name, "input": obj{}}})
		s.event("content_block_delta", obj{"type": "content_block_delta", "index": index, "delta": obj{"type": "input_json_delta", "partial_json": tool.arguments()}})
		s.event("content_block_stop", obj{"type": "content_block_stop", "index": index})
		index++
	}
	s.event("message_delta", obj{"type": "message_delta", "delta": obj{"stop_reason": reason, "stop_sequence": nil}, "usage": usage(took.Output)})
	s.event("message_stop", obj{"type": "message_stop"})
}

func failAnthropic(status int, message string) any {
	kind := "api_error"
	switch status {
	case 429:
		kind = "rate_limit_error"
	case 529:
		kind = "overloaded_error"
	case 400:
		kind = "invalid_request_error"
	}
	return obj{"type": "error", "error": obj{"type": kind, "message": message}}
}
