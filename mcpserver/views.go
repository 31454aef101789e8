package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/protocol"
)

type nothing struct{}

type statusInput struct {
	TaskID string `json:"task_id" jsonschema:"the task's id, or the beginning of it"`
}

// agentView is an agent as list_agents shows it.
type agentView struct {
	Name   string              `json:"name"`
	Role   protocol.Role       `json:"role"`
	Engine string              `json:"engine"`
	State  protocol.AgentState `json:"state"`
	Task   string              `json:"task,omitempty"`
	Queue  int                 `json:"queue"`
	Reason string              `json:"reason,omitempty"`
	You    bool                `json:"you,omitempty"`
}

// taskView is a task as task_status shows it.
type taskView struct {
	ID       string             `json:"task_id"`
	State    protocol.TaskState `json:"state"`
	From     string             `json:"from"`
	Agent    string             `json:"agent"`
	Text     string             `json:"text"`
	Progress int                `json:"progress"`
	Result   string             `json:"result,omitempty"`
	Code     protocol.Code      `json:"code,omitempty"`
	Reason   string             `json:"reason,omitempty"`
	Created  time.Time          `json:"created"`
	Updated  time.Time          `json:"updated"`
	Children []taskView         `json:"children,omitempty"`
}

func (s *Server) addViews() {
	add(s, mcp.Tool{Name: "list_agents", Title: "List the agents", Annotations: reads(),
		Description: "The agents of the company: role, state, what each works on and how much waits for it."}, s.listAgents)
	add(s, mcp.Tool{Name: "task_status", Title: "Look after a task", Annotations: reads(),
		Description: "A task's state, its result or why it failed, and the tasks that were delegated for it."}, s.taskStatus)
}

func (s *Server) listAgents(ctx context.Context, _ *mcp.CallToolRequest, _ nothing) (reply, error) {
	overview, err := s.o.Company.Overview(ctx)
	if err != nil {
		return reply{}, err
	}
	views := make([]agentView, len(overview.Agents))
	for i, a := range overview.Agents {
		views[i] = agentView{Name: a.Name, Role: a.Role, Engine: a.Engine, State: a.State, Task: a.Task, Queue: a.Queue, Reason: a.Reason, You: a.Name == s.o.Agent}
	}
	return reply{data: map[string][]agentView{"agents": views}}, nil
}

func (s *Server) taskStatus(ctx context.Context, _ *mcp.CallToolRequest, in statusInput) (reply, error) {
	task, err := s.o.Company.Task(ctx, in.TaskID)
	if err != nil {
		return reply{}, err
	}
	return reply{data: viewOf(task)}, nil
}

func viewOf(t protocol.Task) taskView {
	v := taskView{
		ID: t.ID, State: t.State, From: t.From, Agent: t.Agent, Text: t.Text, Progress: t.Progress,
		Result: t.Result, Code: t.Code, Reason: t.Reason, Created: t.Created, Updated: t.Updated,
	}
	for _, child := range t.Children {
		v.Children = append(v.Children, viewOf(child))
	}
	return v
}
