package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/protocol"
)

// refusal is what a tool answers when it cannot do what it was asked.
type refusal struct {
	Error  *protocol.Fault   `json:"error"`
	Faults []*protocol.Fault `json:"faults,omitempty"` // all of them, where there are several
}

// refuse makes an error a tool's answer: words with the code and the hint for a
// model to read, and the same as data.
func refuse(err error) *mcp.CallToolResult {
	r := refusal{}
	var several *protocol.Problems
	var fault *protocol.Fault
	switch {
	case errors.As(err, &several) && len(several.Faults) > 0:
		r.Error, r.Faults = several.Faults[0], several.Faults
	case errors.As(err, &fault):
		r.Error, r.Faults = fault, nil
	default:
		r.Error = protocol.Faultf(protocol.CodeInternal, "%v", err)
	}
	lines := []string{wording(r.Error)}
	for i, f := range r.Faults {
		if i > 0 {
			lines = append(lines, wording(f))
		}
	}
	return &mcp.CallToolResult{IsError: true, Content: words(strings.Join(lines, "\n")), StructuredContent: r}
}

func wording(f *protocol.Fault) string {
	text := string(f.Code) + ": " + strings.TrimSpace(f.Field+" "+f.Message)
	if f.Hint != "" {
		text += "\nhint: " + f.Hint
	}
	return text
}

func words(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }

// codedRefusals gives the library's own refusals, of arguments that do not fit a
// tool, the shape of ours.
func codedRefusals(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		r, ok := result.(*mcp.CallToolResult)
		if err != nil || !ok || !r.IsError || r.StructuredContent != nil {
			return result, err
		}
		text := "the arguments do not fit"
		if len(r.Content) > 0 {
			if said, ok := r.Content[0].(*mcp.TextContent); ok {
				text = said.Text
			}
		}
		return refuse(protocol.Faultf(protocol.CodeInvalid, "%s", text).Cure("tools/list describes the arguments")), nil
	}
}

// add offers a tool whose errors are refusals.
func add[In any](s *Server, t mcp.Tool, call func(ctx context.Context, req *mcp.CallToolRequest, in In) (reply, error)) {
	mcp.AddTool(s.mcp, &t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		r, err := call(ctx, req, in)
		if err != nil {
			return refuse(err), nil, nil
		}
		if r.text == "" {
			return nil, r.data, nil
		}
		return &mcp.CallToolResult{Content: words(r.text)}, r.data, nil
	})
}

// reply is what a tool answers: data for programs, and words for a model. The
// data stands for the words where there are none.
type reply struct {
	text string
	data any
}

// reads marks a tool that changes nothing.
func reads() *mcp.ToolAnnotations {
	closed := false
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
}

// tells marks a tool that adds a message and takes nothing away.
func tells() *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
}
