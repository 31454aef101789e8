package modeltest

import (
	"encoding/json"
	"path"
	"strings"
)

func readGemini(c *Call) error {
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text     string          `json:"text"`
			Response json.RawMessage `json:"functionResponse"`
		} `json:"parts"`
	}
	var body struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Tools    []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return err
	}
	c.Model, _, _ = strings.Cut(path.Base(c.Path), ":")
	c.Stream = strings.HasSuffix(c.Path, ":streamGenerateContent")
	for _, p := range body.System.Parts {
		c.System += p.Text
	}
	for _, m := range body.Contents {
		role := m.Role
		if role == "model" {
			role = "assistant"
		}
		for _, p := range m.Parts {
			switch {
			case p.Response != nil:
				c.Turns = append(c.Turns, Said{"tool", string(p.Response)})
			case p.Text != "":
				c.Turns = append(c.Turns, Said{role, p.Text})
			}
		}
	}
	for _, t := range body.Tools {
		for _, f := range t.Functions {
			c.Tools = append(c.Tools, f.Name)
		}
	}
	return nil
}

func writeGemini(s *stream, c Call, t Turn) {
	took := t.took()
	frame := func(finish string, parts ...any) obj {
		candidate := obj{"index": 0, "content": obj{"role": "model", "parts": append([]any{}, parts...)}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		return obj{
			"candidates": []any{candidate}, "modelVersion": c.Model,
			"usageMetadata": obj{
				"promptTokenCount": took.read(), "cachedContentTokenCount": took.CacheRead,
				"candidatesTokenCount": took.Output, "totalTokenCount": took.read() + took.Output,
			},
		}
	}
	if !c.Stream {
		s.whole(frame("STOP", obj{"text": t.Text}))
		return
	}
	s.text(t.Text, func(piece string) { s.event("", frame("", obj{"text": piece})) })
	var calls []any
	for _, tool := range t.tools() {
		calls = append(calls, obj{"functionCall": obj{"name": tool.Name, "args": tool.Input}})
	}
	s.event("", frame("STOP", calls...))
}

func failGemini(status int, message string) any {
	names := map[int]string{429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 400: "INVALID_ARGUMENT"}
	name := names[status]
	if name == "" {
		name = "INTERNAL"
	}
	return obj{"error": obj{"code": status, "message": message, "status": name}}
}
