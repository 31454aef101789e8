package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/protocol"
)

// The kinds of messages that send_message knows.
const (
	kindInfo    = "info"
	kindRequest = "request"
)

// How long delegate waits when nobody says, and at most. A turn of an agent is
// ended after an hour, and a task may take several.
const (
	defaultWait = 5 * time.Minute
	mostWait    = 24 * time.Hour
)

type sendInput struct {
	To       string `json:"to" jsonschema:"the agent's name; for kind info also all, or role:specialist"`
	Text     string `json:"text" jsonschema:"what to say"`
	Kind     string `json:"kind,omitempty" jsonschema:"info (told, not answered; the default) or request (work to be done, not waited for)"`
	Priority string `json:"priority,omitempty" jsonschema:"low, normal (the default), high or critical"`
}

type delegateInput struct {
	Agent    string `json:"agent" jsonschema:"the name of the agent that is to do it; see list_agents"`
	Text     string `json:"text" jsonschema:"what is to be done, with everything the agent needs to know"`
	Wait     *bool  `json:"wait,omitempty" jsonschema:"true (the default): wait for the answer; false: return the task's id at once"`
	Timeout  string `json:"timeout,omitempty" jsonschema:"how long to wait for the answer, as 90s or 5m (the default is 5m); the task goes on afterwards"`
	Priority string `json:"priority,omitempty" jsonschema:"low, normal (the default), high or critical"`
}

type reportInput struct {
	Text string `json:"text" jsonschema:"what to tell"`
	To   string `json:"to,omitempty" jsonschema:"whom to tell; by default whoever gave you your task"`
}

// sent is what a message that is not waited for returns.
type sent struct {
	MessageID string `json:"message_id"`
	TaskID    string `json:"task_id,omitempty"`
	To        string `json:"to"`
}

// outcome is what delegate returns.
type outcome struct {
	TaskID    string             `json:"task_id"`
	Agent     string             `json:"agent"`
	State     protocol.TaskState `json:"state"`
	Content   string             `json:"content,omitempty"`
	Evidence  string             `json:"evidence,omitempty"`
	Truncated bool               `json:"truncated,omitempty"`
}

func (s *Server) addTalk() {
	add(s, mcp.Tool{Name: "send_message", Title: "Send a message", Annotations: tells(),
		Description: "Tell an agent something (info), or give it work without waiting (request)."}, s.sendMessage)
	add(s, mcp.Tool{Name: "delegate", Title: "Delegate work", Annotations: tells(),
		Description: "Give an agent a task. Waits and returns its answer, or returns the task's id for task_status."}, s.delegate)
	add(s, mcp.Tool{Name: "report", Title: "Report", Annotations: tells(),
		Description: "Tell whoever gave you your task how it goes, while you work. It is no answer: that goes into your reply."}, s.report)
}

func (s *Server) sendMessage(ctx context.Context, _ *mcp.CallToolRequest, in sendInput) (reply, error) {
	switch in.Kind {
	case "", kindInfo:
		return s.tell(ctx, in.To, in.Text, in.Priority)
	case kindRequest:
		r, err := s.post(ctx, in.To, protocol.TaskRequest(in.Text), in.Priority, false)
		return reply{data: sent{MessageID: r.MessageID, TaskID: r.MessageID, To: in.To}}, err
	}
	return reply{}, protocol.Invalid("kind", "is %q; use info or request", in.Kind)
}

func (s *Server) tell(ctx context.Context, to, text, priority string) (reply, error) {
	r, err := s.post(ctx, to, protocol.Info(text), priority, false)
	return reply{data: sent{MessageID: r.MessageID, To: to}}, err
}

// post sends a message and helps whoever mistyped a name.
func (s *Server) post(ctx context.Context, to string, p protocol.Payload, priority string, collect bool) (Receipt, error) {
	if protocol.Priority(priority).Weight() < 0 {
		return Receipt{}, protocol.Invalid("priority", "is %q; use low, normal, high or critical", priority)
	}
	m := protocol.New(protocol.Identifier{}, protocol.Identifier{AgentID: to}, p)
	m.Header.MessageID = protocol.NewID()
	if priority != "" {
		m = m.WithPriority(protocol.Priority(priority))
	}
	r, err := s.o.Company.Post(ctx, m, collect)
	if err == nil || protocol.CodeOf(err) != protocol.CodeUnknownAgent {
		return r, err
	}
	overview, failed := s.o.Company.Overview(ctx)
	if failed != nil {
		return r, err
	}
	names := agentNames(overview)
	fault := protocol.Faultf(protocol.CodeUnknownAgent, "there is no agent %q", to)
	if near := protocol.Nearest(to, names); near != "" {
		return r, fault.Cure("did you mean %s? The agents are %s", near, strings.Join(names, ", "))
	}
	return r, fault.Cure("the agents are %s", strings.Join(names, ", "))
}

func agentNames(o protocol.Overview) []string {
	var names []string
	for _, a := range o.Agents {
		names = append(names, a.Name)
	}
	return names
}

func (s *Server) delegate(ctx context.Context, req *mcp.CallToolRequest, in delegateInput) (reply, error) {
	waits := in.Wait == nil || *in.Wait
	patience := defaultWait
	if in.Timeout != "" {
		d, err := time.ParseDuration(in.Timeout)
		if err != nil || d <= 0 || d > mostWait {
			return reply{}, protocol.Invalid("timeout", "is %q; write a duration from above 0 to %s, as 90s or 5m", in.Timeout, mostWait)
		}
		patience = d
	}
	receipt, err := s.post(ctx, in.Agent, protocol.TaskRequest(in.Text), in.Priority, waits)
	if err != nil {
		return reply{}, err
	}
	result := outcome{TaskID: receipt.MessageID, Agent: in.Agent, State: protocol.TaskPending}
	if !waits {
		return reply{data: result}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	task, closing, err := s.await(waiting, receipt, hops(ctx, req))
	if err != nil && (errors.Is(waiting.Err(), context.DeadlineExceeded) || ctx.Err() != nil) {
		return reply{}, protocol.Faultf(protocol.CodeTimeout, "no answer of %s within %s; the task goes on", in.Agent, patience).
			Cure("ask for it with task_status, task_id %s", receipt.MessageID)
	}
	if err != nil {
		return reply{}, err
	}
	result.State, result.Content, result.Evidence = task.State, task.Result, task.Evidence
	if task.State != protocol.TaskCompleted {
		return reply{}, failure(task)
	}
	if closing != nil {
		result.Content, result.Evidence, result.Truncated = closing.Message.Text(), closing.Closing.Evidence, closing.Closing.Truncated
	}
	return reply{text: result.Content, data: result}, nil
}

// await follows a task until it is over or waits for a person. The closing
// message has the answer in full.
func (s *Server) await(ctx context.Context, r Receipt, tell func(protocol.Entry)) (protocol.Task, *protocol.Accepted, error) {
	for e, err := range s.o.Company.Watch(ctx, r.MessageID, r.Seq) {
		if err != nil {
			return protocol.Task{}, nil, err
		}
		tell(e)
		if !mayClose(e, r.MessageID) {
			continue
		}
		t, err := s.o.Company.Task(ctx, r.MessageID)
		if err != nil {
			return protocol.Task{}, nil, err
		}
		if t.State.Done() || t.State == protocol.TaskNeedsHuman {
			return t, e.Message, nil
		}
	}
	return protocol.Task{}, nil, context.Cause(ctx)
}

// mayClose tells whether the task may be over after this entry: its closing
// message, or a step that ends a delivery of it.
func mayClose(e protocol.Entry, id string) bool {
	if m := e.Message; m != nil {
		return m.Closing != nil && m.Message.Header.CorrelationID == id
	}
	ends := []protocol.StepName{protocol.Undone, protocol.Expired, protocol.Dropped, protocol.DeadEnd}
	return e.Step != nil && slices.Contains(e.Step.Messages, id) && slices.Contains(ends, e.Step.Name)
}

// failure words why a task has no answer.
func failure(t protocol.Task) error {
	fault := &protocol.Fault{Code: t.Code, Message: t.Agent + ": " + t.Reason}
	if t.Reason == "" {
		fault.Message = t.Agent + ": the task is " + string(t.State)
	}
	if fault.Code == "" {
		fault.Code = protocol.CodeAgentFailed
	}
	if t.State == protocol.TaskNeedsHuman {
		return fault.Cure("task %s waits for a person; go on without it, or say so in your answer", t.ID)
	}
	return fault.Cure("task %s is over; delegate it anew with other words, or to another agent", t.ID)
}

// hops tells a program that asked for it how far its task is, message by
// message, so that it does not take a long task for a dead one.
func hops(ctx context.Context, req *mcp.CallToolRequest) func(protocol.Entry) {
	token := req.Params.GetProgressToken()
	n := 0.0
	return func(e protocol.Entry) {
		if token == nil || e.Message == nil {
			return
		}
		n++
		m := e.Message.Message
		what := string(m.Header.Type)
		if m.Header.Type == protocol.Event {
			what = m.Text() // A report says how it goes.
		}
		// A program that hung up needs no news; the call itself ends by its context.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: n, Message: m.From() + " → " + m.To() + ": " + what,
		})
	}
}

func (s *Server) report(ctx context.Context, _ *mcp.CallToolRequest, in reportInput) (reply, error) {
	to := in.To
	if to == "" {
		var err error
		if to, err = s.asker(ctx); err != nil {
			return reply{}, err
		}
	}
	r, err := s.tell(ctx, to, in.Text, "")
	if protocol.CodeOf(err) == protocol.CodeForbidden && err != nil {
		return r, protocol.Faultf(protocol.CodeForbidden, "%s may not tell %s anything unasked", s.o.Agent, to).
			Cure("report to whoever gave you your task, while you work on it, or put it into your answer")
	}
	return r, err
}

// asker is whom an agent reports to: whoever asked for the task it is at, and
// without one its leader.
func (s *Server) asker(ctx context.Context) (string, error) {
	overview, err := s.o.Company.Overview(ctx)
	if err != nil {
		return "", err
	}
	own := slices.IndexFunc(overview.Agents, func(a protocol.AgentStatus) bool { return a.Name == s.o.Agent })
	if own < 0 || overview.Agents[own].Task == "" {
		return leader(overview.Agents, s.o.Agent), nil
	}
	task, err := s.o.Company.Task(ctx, overview.Agents[own].Task)
	if err != nil {
		return "", err
	}
	return task.From, nil
}

// leader is above an agent: the nearest rank above its own that
// somebody holds, and above all of them the user. The user tells the boss.
func leader(agents []protocol.AgentStatus, who string) string {
	ranks := []protocol.Rank{protocol.RankSpecialist, protocol.RankManager, protocol.RankBoss}
	own := slices.IndexFunc(agents, func(a protocol.AgentStatus) bool { return a.Name == who })
	above := slices.Index(ranks, protocol.RankBoss)
	if own >= 0 {
		above = slices.Index(ranks, agents[own].Role.Rank()) + 1
	}
	for _, rank := range ranks[above:] {
		if i := slices.IndexFunc(agents, func(a protocol.AgentStatus) bool { return a.Role.Rank() == rank }); i >= 0 {
			return agents[i].Name
		}
	}
	return protocol.User
}
