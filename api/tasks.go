package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

type taskPath struct {
	TaskID string `path:"taskId" doc:"the task's id, or the beginning of it"`
}

// Progress is a task's state as the CLI to agent protocol words it.
type Progress struct {
	TaskID       string  `json:"taskId"`
	Status       string  `json:"status" enum:"pending,in_progress,completed,failed"`
	Progress     int     `json:"progress"`
	Result       *Result `json:"result,omitempty"`
	ErrorMessage string  `json:"errorMessage,omitempty"`
}

// Result is the answer of a completed task.
type Result struct {
	Content string `json:"content"`
	Format  string `json:"format"`
}

// TaskList is the answer to GET /tasks.
type TaskList struct {
	Tasks []protocol.Task `json:"tasks"`
	Total int             `json:"total" doc:"how many there are, also beyond the limit"`
}

type taskQuery struct {
	Limit int `query:"limit" minimum:"0" doc:"how many, the newest; 0 gives all"`
}

type taskControl struct {
	TaskID string `path:"taskId"`
	Body   struct {
		Command protocol.Command `json:"command" enum:"cancel,retry"`
		Text    string           `json:"text,omitempty" doc:"for retry: what a person adds"`
	}
}

func (s *Server) taskRoutes(api huma.API) {
	huma.Register(api, route("task-status", http.MethodGet, "/tasks/{taskId}/status", "State and result of a task", ScopeRead), s.taskStatus)
	huma.Register(api, route("list-tasks", http.MethodGet, "/tasks", "The tasks, newest first", ScopeRead), s.listTasks)
	huma.Register(api, route("show-task", http.MethodGet, "/tasks/{taskId}", "A task with its tree and attempts", ScopeRead), s.showTask)
	huma.Register(api, route("control-task", http.MethodPost, "/tasks/{taskId}/control", "Cancel or retry a task", ScopeSubmit), s.controlTask)
}

func (s *Server) taskStatus(ctx context.Context, in *taskPath) (*body[Progress], error) {
	t, err := s.task(ctx, in.TaskID)
	if err != nil {
		return nil, refuse(err)
	}
	return answer(progressOf(s.whole(ctx, t)))
}

// progressOf words a task for a protocol that knows neither cancelling nor
// people who are asked.
func progressOf(t protocol.Task) Progress {
	p := Progress{TaskID: t.ID, Status: string(t.State), Progress: t.Progress}
	switch t.State {
	case protocol.TaskCompleted:
		p.Result = &Result{Content: t.Result, Format: "text"}
	case protocol.TaskFailed, protocol.TaskCancelled:
		p.Status, p.ErrorMessage = string(protocol.TaskFailed), t.Reason
		if t.Reason == "" {
			p.ErrorMessage = string(t.State)
		}
	case protocol.TaskNeedsHuman:
		p.Status = string(protocol.TaskInProgress)
	}
	return p
}

func (s *Server) listTasks(ctx context.Context, in *taskQuery) (*body[TaskList], error) {
	tasks := s.tasks(callerOf(ctx))
	l := TaskList{Tasks: tasks, Total: len(tasks)}
	if in.Limit > 0 {
		l.Tasks = tasks[:min(in.Limit, len(tasks))]
	}
	return answer(l)
}

func (s *Server) showTask(ctx context.Context, in *taskPath) (*body[protocol.Task], error) {
	t, err := s.task(ctx, in.TaskID)
	if err != nil {
		return nil, refuse(err)
	}
	return answer(s.whole(ctx, t))
}

// whole puts the texts of a task that is over back as they were: the stream
// has them in full where the task itself keeps only their beginning.
func (s *Server) whole(ctx context.Context, t protocol.Task) protocol.Task {
	if !t.State.Done() {
		return t
	}
	if e, ok := s.entry(ctx, t.Seq); ok && e.Message != nil {
		t.Text = e.Message.Message.Text()
	}
	e, ok := s.entry(ctx, t.ResultSeq)
	if !ok || e.Message == nil {
		return t
	}
	if t.State == protocol.TaskCompleted {
		t.Result = e.Message.Message.Text()
	} else {
		t.Reason = e.Message.Message.Text()
	}
	return t
}

func (s *Server) controlTask(ctx context.Context, in *taskControl) (*body[Receipt], error) {
	t, err := s.task(ctx, in.TaskID)
	if err != nil {
		return nil, refuse(err)
	}
	return s.command(ctx, t.Agent, in.Body.Command, order{Task: t.ID, Text: in.Body.Text})
}

func newestFirst(tasks []protocol.Task) []protocol.Task {
	out := list(slices.Clone(tasks))
	slices.SortStableFunc(out, func(a, b protocol.Task) int { return b.Created.Compare(a.Created) })
	return out
}

// list is never null in JSON, which spares every reader a case.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
