package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/protocol"
)

// Where the resources are.
const (
	journalURI = "orchestrator-cc://journal"
	tasksURI   = "orchestrator-cc://tasks"
)

// recentLines is how much of the journal one reading shows: a few screens.
const recentLines = 200

func (s *Server) addResources() {
	s.mcp.AddResource(&mcp.Resource{
		Name: "journal", Title: "The journal", URI: journalURI, MIMEType: "application/x-ndjson",
		Description: fmt.Sprintf("What was said, one JSON object a line: the newest %d lines", recentLines),
	}, s.readJournal)
	s.mcp.AddResource(&mcp.Resource{
		Name: "tasks", Title: "The task tree", URI: tasksURI, MIMEType: "application/json",
		Description: "Open and recent tasks, each with what was delegated for it",
	}, s.readTasks)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "task", Title: "One task", URITemplate: tasksURI + "/{id}", MIMEType: "application/json",
		Description: "One task with its tree and the steps of each delivery",
	}, s.readTask)
}

func (s *Server) readJournal(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	lines, err := s.o.Journal.Journal(ctx, recentLines)
	if err != nil {
		return nil, unread("the journal", err)
	}
	var b strings.Builder
	for _, line := range lines {
		b.Write(line)
		b.WriteByte('\n')
	}
	return contents(req.Params.URI, "application/x-ndjson", b.String()), nil
}

func (s *Server) readTasks(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	overview, err := s.o.Company.Overview(ctx)
	if err != nil {
		return nil, unread("the tasks", err)
	}
	views := make([]taskView, len(overview.Tasks))
	for i, t := range overview.Tasks {
		views[i] = viewOf(t)
	}
	return asJSON(req.Params.URI, map[string][]taskView{"tasks": views})
}

func (s *Server) readTask(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	task, err := s.o.Company.Task(ctx, strings.TrimPrefix(req.Params.URI, tasksURI+"/"))
	if err != nil && protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, unread("the task", err)
	}
	return asJSON(req.Params.URI, task)
}

// unread names the code too, because a resource has no other place for it.
func unread(what string, err error) error {
	return fmt.Errorf("read %s: %s: %w", what, protocol.CodeOf(err), err)
}

func asJSON(uri string, v any) (*mcp.ReadResourceResult, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", uri, err)
	}
	return contents(uri, "application/json", string(data)), nil
}

func contents(uri, kind, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}
