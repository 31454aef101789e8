package modeltest

import "encoding/json"

func readOllama(c *Call) error {
	var body struct {
		Model    string `json:"model"`
		Stream   *bool  `json:"stream"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return err
	}
	c.Model, c.Stream = body.Model, body.Stream == nil || *body.Stream
	for _, m := range body.Messages {
		if m.Role == "system" {
			c.System += m.Content
			continue
		}
		c.Turns = append(c.Turns, Said{m.Role, m.Content})
	}
	return nil
}

func writeOllama(s *stream, c Call, t Turn) {
	frame := func(text string, done bool) obj {
		return obj{
			"model": c.Model, "created_at": "2026-01-01T00:00:00Z",
			"message": obj{"role": "assistant", "content": text}, "done": done,
		}
	}
	last := frame("", true)
	last["done_reason"], last["prompt_eval_count"], last["eval_count"] = "stop", t.took().read(), t.took().Output
	if !c.Stream {
		last["message"] = obj{"role": "assistant", "content": t.Text}
		s.whole(last)
		return
	}
	s.text(t.Text, func(piece string) { s.line(frame(piece, false)) })
	s.line(last)
}

func failOllama(_ int, message string) any { return obj{"error": message} }
