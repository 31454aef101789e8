package api

import (
	"context"
	"encoding/json"
	"fmt"

	"orchestrator-cc/protocol"
)

// The events of a user interface.
const (
	evMessage  = "onNewMessage"
	evPart     = "onMessagePart"
	evToolCall = "onToolCallRequest"
	evState    = "onAgentStateChange"
)

// The states of a session, as a user interface shows them.
const (
	stateThinking  = "thinking"
	stateWaiting   = "waiting_for_input"
	stateExecuting = "executing_tool"
)

type messagePayload struct {
	Content  string          `json:"content"`
	Format   string          `json:"format"`
	Metadata messageMetadata `json:"metadata"`
	Task     string          `json:"taskId,omitempty"`
	Session  string          `json:"sessionId,omitempty"` // absent on what is for everyone
}

type partPayload struct {
	Content string `json:"content"`
	Offset  int    `json:"offset"`
	Exact   bool   `json:"exact"`
	Agent   string `json:"agent"`
	Task    string `json:"taskId"`
	Session string `json:"sessionId"`
}

type messageMetadata struct {
	SourceDocuments []string `json:"source_documents"`
	LatencyMS       int64    `json:"latency_ms"`
}

type toolPayload struct {
	ID      string           `json:"confirmationId"`
	Tool    string           `json:"toolName"`
	Args    json.RawMessage  `json:"args"`
	Warning protocol.Warning `json:"security_warning"`
	Agent   string           `json:"agent"`
	Kind    string           `json:"kind"` // what is decided with scope task or agent
	Session string           `json:"sessionId"`
}

type statePayload struct {
	State   string `json:"state"`
	Agent   string `json:"agent,omitempty"`
	Task    string `json:"taskId,omitempty"`
	Session string `json:"sessionId"`
}

type errorPayload struct {
	Error   ProblemError `json:"error"`
	Session string       `json:"sessionId"`
}

// sessionView is what a window knows of its session: which tasks are open.
type sessionView struct {
	win   *window
	after uint64
	open  map[string]bool
	asked []protocol.Confirmation // that wait already when the window opens
}

// begin looks at the session as it is, and from where the stream goes on.
func (w *window) begin() *sessionView {
	known, after := w.server.hub.Approvals()
	v := &sessionView{win: w, after: after, open: map[string]bool{}}
	for _, c := range known.Items {
		if c.State == protocol.ConfirmationPending && w.caller.sees(c.Session) {
			v.asked = append(v.asked, c)
		}
	}
	for _, t := range w.server.tasks(w.caller) {
		if !t.State.Done() && t.State != protocol.TaskNeedsHuman {
			v.open[t.ID] = true
		}
	}
	return v
}

// state is the session's state when nothing special happens.
func (v *sessionView) state() frame {
	word := stateWaiting
	if len(v.open) > 0 {
		word = stateThinking
	}
	return v.win.frame(evState, statePayload{State: word, Session: v.win.name})
}

// toolCall words a question.
func (v *sessionView) toolCall(c protocol.Confirmation) frame {
	return v.win.frame(evToolCall, toolPayload{
		ID: c.ID, Tool: c.Tool, Args: c.Args, Warning: c.Warning, Agent: c.Agent, Kind: c.Kind, Session: v.win.name,
	})
}

// show follows the stream and sends what the session is to see.
func (w *window) show(ctx context.Context, v *sessionView) error {
	for _, c := range v.asked {
		if err := w.send(ctx, v.toolCall(c)); err != nil {
			return err
		}
	}
	reader := w.server.reader(w.caller, v.after, "")
	for {
		it, parts, err := reader.next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow the stream: %w", err)
		}
		frames := v.parts(parts)
		if it != nil {
			frames = v.frames(it.entry)
		}
		for _, f := range frames {
			if err := w.send(ctx, f); err != nil {
				return err
			}
		}
	}
}

// parts words how answers go on that are being written.
func (v *sessionView) parts(parts []protocol.Part) (out []frame) {
	for _, p := range parts {
		out = append(out, v.win.frame(evPart, partPayload{
			Content: p.Text, Offset: p.Offset, Exact: p.Exact, Agent: p.Agent, Task: p.TaskID, Session: v.win.name,
		}))
	}
	return out
}

// frames words one entry for a user interface; most entries say nothing to it.
func (v *sessionView) frames(e protocol.Entry) []frame {
	a := e.Message
	if a == nil {
		return nil
	}
	m := a.Message
	switch p := m.Payload.(type) {
	case *protocol.RequestPayload:
		if a.Parent == "" && m.From() == protocol.User {
			v.open[m.ID()] = true
			return v.moved(stateThinking, m.To(), m.ID())
		}
	case *protocol.EventPayload:
		return v.event(a, p)
	}
	if a.Closing == nil || !v.open[m.Header.CorrelationID] {
		return nil
	}
	delete(v.open, m.Header.CorrelationID)
	out := []frame{v.win.frame(evMessage, messagePayload{
		Content: m.Text(), Format: "text", Task: m.Header.CorrelationID, Session: v.win.name,
		Metadata: messageMetadata{SourceDocuments: sourcesOf(m), LatencyMS: a.Closing.LatencyMS},
	})}
	return append(out, v.state())
}

// sourcesOf are the files that an answer rests on.
func sourcesOf(m protocol.Message) []string {
	if r, ok := m.Payload.(*protocol.ResponsePayload); ok {
		return list(r.Sources)
	}
	return []string{}
}

func (v *sessionView) moved(state, agent, task string) []frame {
	return []frame{v.win.frame(evState, statePayload{State: state, Agent: agent, Task: task, Session: v.win.name})}
}

// event words a question, its answer, or what is told to everyone.
func (v *sessionView) event(a *protocol.Accepted, p *protocol.EventPayload) []frame {
	switch p.EventType {
	case protocol.EventConfirmationRequest:
		var asked protocol.Confirmation
		if json.Unmarshal(p.Data, &asked) != nil {
			return nil
		}
		return []frame{v.toolCall(asked)}
	case protocol.EventConfirmationAnswer:
		var verdict protocol.Verdict
		if json.Unmarshal(p.Data, &verdict) != nil {
			return nil
		}
		if verdict.State == protocol.ConfirmationApproved {
			return v.moved(stateExecuting, "", a.Task)
		}
		return v.moved(stateThinking, "", a.Task)
	case protocol.EventRuleRevoked, protocol.EventDialogAnswered:
		return nil
	}
	if a.Session != "" && a.Message.From() == protocol.User {
		return nil // The session's own words.
	}
	payload := messagePayload{Content: a.Message.Text(), Format: "text", Metadata: messageMetadata{SourceDocuments: []string{}}}
	if a.Session != "" {
		payload.Session = v.win.name
	}
	return []frame{v.win.frame(evMessage, payload)}
}
