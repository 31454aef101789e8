// Package mcpserver offers the verbs of the house to agent programs as tools of
// the Model Context Protocol, and the journal and the task tree as resources.
//
//	an agent program -> stdio or HTTP -> a tool -> Company -> the hub
//
// It is a thin skin: who speaks, what he may do and what he may see is decided
// behind Company, for each call anew. A call that is refused is an answer of its
// tool, with a code and a hint, never the end of the conversation. It keeps
// nothing between calls; when the process dies, nothing is lost but the waiting.
package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator-cc/protocol"
)

// Receipt proves that a message was accepted.
type Receipt struct {
	MessageID string
	Seq       uint64 // the message's place in the stream
}

// Company is what the tools need of the hub, in the name of one caller.
type Company interface {
	// Post submits a message; collect says that the caller waits for its answer.
	Post(ctx context.Context, m protocol.Message, collect bool) (Receipt, error)
	// Watch yields what happens to a task after a sequence number.
	Watch(ctx context.Context, task string, after uint64) iter.Seq2[protocol.Entry, error]
	Task(ctx context.Context, id string) (protocol.Task, error)
	Overview(ctx context.Context) (protocol.Overview, error)
}

// Journal yields the newest lines of the journal that the caller may see, the
// oldest of them first, each a JSON object.
type Journal interface {
	Journal(ctx context.Context, lines int) ([]json.RawMessage, error)
}

// Investigator looks into the code by one of the five commands. args is the
// command's query as a JSON object; the answer is for reading.
type Investigator interface {
	Investigate(ctx context.Context, command string, args json.RawMessage) (string, error)
}

// Options of a server; all but Agent are needed.
type Options struct {
	Version      string
	Agent        string // who speaks: an agent's name; empty for the user
	Company      Company
	Journal      Journal
	Investigator Investigator
	// Schemas are worked out once for all servers that share them.
	Schemas *Schemas
}

// Schemas remembers the descriptions of the tools' arguments. Servers that are
// made for one request each share one, because working them out costs more than
// most calls.
type Schemas struct{ cache *mcp.SchemaCache }

// NewSchemas makes an empty memory.
func NewSchemas() *Schemas { return &Schemas{cache: mcp.NewSchemaCache()} }

// Server speaks the protocol for one caller.
type Server struct {
	o   Options
	mcp *mcp.Server
}

// instructions tell a model what this is for.
const instructions = `You are one agent of a small company. Use delegate to give work to another agent, send_message to tell
one something, report to tell whoever asked you how it goes before you are done, and task_status to look after what you delegated.
tree, find, grep, signature_search and static_analysis look into the project's code. Your answer itself goes into your reply, not into a tool.`

// New makes a server; nobody is connected yet.
func New(o Options) *Server {
	if o.Agent == "" {
		o.Agent = protocol.User
	}
	s := &Server{o: o}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "orchestrator-cc", Title: "A small company of coding agents", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: instructions, SchemaCache: o.Schemas.cache,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
		})
	s.mcp.AddReceivingMiddleware(codedRefusals)
	s.addTalk()
	s.addViews()
	s.addInvestigation()
	s.addResources()
	return s
}

// Run serves one program over a pair of streams until it hangs up or ctx ends.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.serve(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

func (s *Server) serve(ctx context.Context, t mcp.Transport) error {
	err := s.mcp.Run(ctx, t)
	if ctx.Err() != nil {
		return nil // Being told to end is how this usually ends.
	}
	return err
}

// ServeHTTP answers one request of the streamable transport. It keeps no
// session: who asks is proved by each request, so no session id can be borrowed.
// Whoever serves it has checked the host and the origin.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, DisableLocalhostProtection: true,
		MaxRequestBodyBytes: protocol.MaxPayload + 1<<20, PropagateRequestCancellation: true,
	}).ServeHTTP(w, r)
}
