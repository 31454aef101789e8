package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

// submitTask has the fields of the CLI to agent protocol.
type submitTask struct {
	Idempotency string `header:"Idempotency-Key" maxLength:"256" doc:"a repeated submit with the same key in the same session is one task"`
	Body        taskInput
}

type taskInput struct {
	SessionID  string         `json:"sessionId" minLength:"1" maxLength:"256" doc:"the session the task belongs to; any name, which is the key's own"`
	UserPrompt string         `json:"userPrompt" minLength:"1"`
	TaskType   string         `json:"taskType" enum:"chat,command_execution,file_operation,complex_task"`
	Context    map[string]any `json:"context,omitempty" doc:"agent, priority and timeout are honoured; the rest is handed to the agent as text"`
}

// What became of a task that was submitted. One is rejected that nothing is
// wrong with, but for which the company has no room now; nothing of it is kept,
// so that it may be sent again. What is wrong with a task is an error instead.
const (
	statusAccepted = "accepted"
	statusRejected = "rejected"
)

// Submitted tells what became of a task that was submitted.
type Submitted struct {
	TaskID  string `json:"taskId"`
	Status  string `json:"status" enum:"accepted,rejected"`
	Message string `json:"message,omitempty"`
}

func (s *Server) submitRoutes(api huma.API) {
	huma.Register(api, route("submit-task", http.MethodPost, "/submit_task", "Give the company a task", ScopeSubmit), s.submitTask)
}

func (s *Server) submitTask(ctx context.Context, in *submitTask) (*body[Submitted], error) {
	c, err := callerOf(ctx).in(in.Body.SessionID)
	if err != nil {
		return nil, refuse(err)
	}
	receipt, err := s.take(ctx, c, in.Body, in.Idempotency)
	if protocol.CodeOf(err) == protocol.CodeLimit && err != nil {
		return answer(Submitted{TaskID: receipt.TaskID, Status: statusRejected, Message: err.Error()})
	}
	if err != nil {
		return nil, refuse(err)
	}
	return answer(receipt)
}

// take turns a task into a message and submits it in the caller's session.
func (s *Server) take(ctx context.Context, c caller, in taskInput, once string) (Submitted, error) {
	wish, err := readContext(in.Context)
	if err != nil {
		return Submitted{}, err
	}
	to, err := s.addressee(wish.agent, in.TaskType)
	if err != nil {
		return Submitted{}, err
	}
	request := protocol.SortedRequest(in.UserPrompt+wish.text, in.TaskType)
	if wish.timeout > 0 {
		ms := max(wish.timeout.Milliseconds(), 1)
		request.TimeoutMS = &ms
	}
	m := protocol.New(c.who, to, request)
	if wish.priority != "" {
		m = m.WithPriority(wish.priority)
	}
	m.Header.MessageID = protocol.NewID()
	if once != "" {
		m.Header.MessageID = onceID(c.session, once)
	}
	session := c.session
	if c.who.AgentID != protocol.User {
		session = "" // An agent's work belongs to the task it is at.
	}
	_, err = s.hub.Submit(ctx, protocol.Accepted{Message: m, Session: session})
	if once != "" && err != nil && protocol.CodeOf(err) == protocol.CodeDuplicate {
		err = s.sameAsFirst(ctx, m)
	}
	return Submitted{TaskID: m.ID(), Status: statusAccepted, Message: "given to " + to.AgentID}, err
}

// sameAsFirst checks that a repeated submit asks for what the first one asked
// for; then it has the same receipt. What the stream no longer knows is taken
// for the same.
func (s *Server) sameAsFirst(ctx context.Context, m protocol.Message) error {
	t, err := s.hub.Task(m.ID())
	if err != nil {
		return nil
	}
	first, ok := s.entry(ctx, t.Seq)
	if !ok || first.Message == nil {
		return nil
	}
	before := first.Message.Message
	asked, err := json.Marshal(before.Payload)
	if err != nil {
		return fmt.Errorf("compare with task %s: %w", t.ID, err)
	}
	asks, err := json.Marshal(m.Payload)
	if err != nil {
		return fmt.Errorf("compare with task %s: %w", t.ID, err)
	}
	if before.To() == m.To() && before.Priority() == m.Priority() && bytes.Equal(asked, asks) {
		return nil
	}
	fault := protocol.Faultf(protocol.CodeConflict, "was used for another task, %s", t.ID)
	fault.Field = "Idempotency-Key"
	return fault.Cure("send the same body again, or use a new key for a new task")
}

// onceID derives a message's id from what makes it the same message: a repeat
// has the same id, which the stream knows for as long as it knows the message.
func onceID(session, once string) string {
	return protocol.DeriveID("once", session, once)
}

// addressee is the agent a task names, the one its type is routed to, or the
// boss.
func (s *Server) addressee(named, taskType string) (protocol.Identifier, error) {
	if named == "" {
		named = s.options.Routing[taskType]
	}
	if named == "" {
		named = s.boss()
	}
	if named == "" {
		return protocol.Identifier{}, protocol.Faultf(protocol.CodeUnknownAgent, "no agent has the role %s", protocol.GrandBoss).Cure("name one in context.agent")
	}
	to, err := s.hub.Party(named)
	if err != nil || to.AgentType == protocol.All || to.AgentType == protocol.User {
		fault := protocol.Faultf(protocol.CodeUnknownAgent, "names %q, which is no agent", named)
		fault.Field = "context.agent"
		return protocol.Identifier{}, fault.Cure("GET /agents lists them")
	}
	return to, nil
}

// findBoss asks for the company once: who is in it does not change while the
// hub lives, and an overview costs more with every open task.
func findBoss(hub Views) string {
	agents := hub.Overview().Agents
	i := slices.IndexFunc(agents, func(a protocol.AgentStatus) bool { return a.Role.Rank() == protocol.RankBoss })
	if i < 0 {
		return ""
	}
	return agents[i].Name
}

// wishes are what a task's context asks for.
type wishes struct {
	agent    string
	priority protocol.Priority
	timeout  time.Duration
	text     string // the rest, for the agent to read
}

// readContext takes out what we understand and words the rest. Every mistake
// is named at once.
func readContext(in map[string]any) (wishes, error) {
	var w wishes
	var bad protocol.Problems
	rest := maps.Clone(in)
	if value, ok := rest["agent"]; ok {
		delete(rest, "agent")
		if w.agent, ok = value.(string); !ok || w.agent == "" {
			bad.Faults = append(bad.Faults, protocol.Invalid("context.agent", "is %v; write the name of an agent", value))
		}
	}
	if value, ok := rest["priority"]; ok {
		delete(rest, "priority")
		word, isText := value.(string)
		if w.priority = protocol.Priority(word); !isText || word == "" || w.priority.Weight() < 0 {
			bad.Faults = append(bad.Faults, protocol.Invalid("context.priority", "is %v; use low, normal, high or critical", value))
		}
	}
	if value, ok := rest["timeout"]; ok {
		delete(rest, "timeout")
		if w.timeout, ok = readTimeout(value); !ok {
			bad.Faults = append(bad.Faults, protocol.Invalid("context.timeout", "is %v; write a duration above 0, as \"90s\", or a number of seconds", value))
		}
	}
	if len(bad.Faults) > 0 {
		return w, &bad
	}
	if len(rest) == 0 {
		return w, nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(rest); err != nil {
		return w, protocol.Invalid("context", "%v", err)
	}
	w.text = "\n\nContext:\n" + strings.TrimSuffix(b.String(), "\n")
	return w, nil
}

// readTimeout reads a Go duration or a number of seconds, up to a week.
func readTimeout(value any) (time.Duration, bool) {
	const most = 7 * 24 * time.Hour
	switch v := value.(type) {
	case string:
		d, err := time.ParseDuration(v)
		return d, err == nil && d > 0 && d <= most
	case float64:
		if v > 0 && v <= most.Seconds() {
			return time.Duration(v * float64(time.Second)), true
		}
	}
	return 0, false
}
