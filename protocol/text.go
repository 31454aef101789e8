package protocol

import (
	"encoding/json"
	"strings"
)

// ActionTask is the action of a request that is plain text for an agent.
const ActionTask = "task"

// taskParams carries the text of a request, content the text of an answer.
type taskParams struct {
	Text string `json:"text"`
	Kind string `json:"task_type,omitempty"` // as the CLI to agent protocol sorts tasks
}

type content struct {
	Content string `json:"content"`
	Format  string `json:"format,omitempty"`
}

// TaskRequest makes the payload which asks an agent to do what text says.
func TaskRequest(text string) *RequestPayload {
	return &RequestPayload{Action: ActionTask, Params: encode(taskParams{Text: text})}
}

// SortedRequest is TaskRequest for a task that has a type.
func SortedRequest(text, kind string) *RequestPayload {
	return &RequestPayload{Action: ActionTask, Params: encode(taskParams{Text: text, Kind: kind})}
}

// Info makes the payload of an event which just tells something.
func Info(text string) *EventPayload {
	return &EventPayload{EventType: "info", Data: encode(taskParams{Text: text})}
}

// Answer makes the payload of a response with text as its result.
func Answer(status Status, text string) *ResponsePayload {
	return &ResponsePayload{Status: status, Result: encode(content{Content: text, Format: "text"})}
}

// Text is what a message says to a reader, and what is typed into a pane: the
// text it carries, or its payload as JSON where it carries none.
func (m Message) Text() string {
	switch p := m.Payload.(type) {
	case *RequestPayload:
		if t, ok := textOf(p.Params); ok && p.Action == ActionTask {
			return t
		}
		return strings.TrimSpace(p.Action + "\n" + string(p.Params))
	case *EventPayload:
		if t, ok := textOf(p.Data); ok {
			return t
		}
		return strings.TrimSpace(p.EventType + "\n" + string(p.Data))
	case *ResponsePayload:
		return p.text()
	case *ErrorPayload:
		return p.Message
	case *ControlPayload:
		return strings.TrimSpace(string(p.Command) + " " + string(p.Params))
	case *AckPayload:
		return "accepted"
	case *NackPayload:
		return p.NackReason
	}
	return ""
}

func (p *ResponsePayload) text() string {
	var c content
	if json.Unmarshal(p.Result, &c) == nil && c.Content != "" {
		return c.Content
	}
	if p.Error != nil {
		return p.Error.Message
	}
	if _, isText := textOf(p.Result); isText || len(p.Result) == 0 {
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(p.Result, &object) == nil {
		if _, has := object["content"]; has && len(object) <= 2 {
			return ""
		}
	}
	return string(p.Result)
}

func textOf(data json.RawMessage) (string, bool) {
	var p struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(data, &p) != nil || p.Text == nil {
		return "", false
	}
	return *p.Text, true
}

// encode writes plain structs of ours, for which encoding cannot fail.
func encode(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
