// Package api is the door for programs: REST and server-sent events over the
// hub's unix socket and over TCP, and the Go client which the command line uses.
//
//	request -> gate.go: who speaks, in which session -> one group of routes -> the hub
//	entry   -> hub.Follow -> events.go -> SSE, id = sequence number
//	writing -> hub.Writings -> reader.go -> SSE without an id, WebSocket
//
// It promises that every error has one shape, {"error":{code,message,details}},
// and that a reader of events who comes back with its last id misses nothing.
// A reader that does not take what it is sent is cut off; nobody waits for it.
package api

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/rs/zerolog"

	"orchestrator-cc/protocol"
)

// Door takes messages in and knows who stands before it.
type Door interface {
	// Submit accepts a message: it is durable when Submit returns.
	Submit(ctx context.Context, in protocol.Accepted) (protocol.Entry, error)
	// Caller tells which agent holds a pane's secret.
	Caller(secret string) (protocol.Identifier, bool)
	// Party finds an agent, the user or a group by name.
	Party(name string) (protocol.Identifier, error)
}

// Views answer questions about what is going on.
type Views interface {
	Overview() protocol.Overview
	Task(id string) (protocol.Task, error)
	Tasks() []protocol.Task
	Metrics() protocol.Metrics
	// Approvals is what was asked and decided up to a sequence number.
	Approvals() (protocol.Approvals, uint64)
}

// Writers let others read along.
type Writers interface {
	// Writings are the answers being written now, and a channel that closes
	// when one of them goes on.
	Writings() (open []protocol.Writing, changed <-chan struct{})
}

// Bell rings for those who look on.
type Bell interface {
	// Changed closes when an agent shows another state or another dialog.
	Changed() <-chan struct{}
}

// Follower yields entries one after the other and waits for the next one.
type Follower interface {
	Next(ctx context.Context) (protocol.Entry, error)
}

// Feed follows the stream from after a sequence number, of one task's tree or,
// with an empty task, of everything. It names its follower's own type, so that
// a hub need not know this room.
type Feed[F Follower] interface {
	Follow(after uint64, task string) F
}

// Hand presses keys in the dialog that somebody has seen, and in no other.
type Hand interface {
	Answer(ctx context.Context, agent, dialog string, keys []string) error
}

// Stopper ends the hub in good order.
type Stopper interface {
	Stop()
}

// Desk is what the routes need of the hub, and Hub all that the server needs.
type Desk interface {
	Door
	Views
	Writers
	Bell
	Hand
	Stopper
	Waker
}

// Hub is a desk with a feed.
type Hub[F Follower] interface {
	Desk
	Feed[F]
}

// Options of a server.
type Options struct {
	Version string
	Log     zerolog.Logger
	// KeepAlive is how often a silent event stream shows that it lives, and
	// WriteWait how long a reader may take for one event before it is cut off.
	// Zero means 15 s and 10 s.
	KeepAlive, WriteWait time.Duration
	// HeaderWait is how long a connection may take for a request's header;
	// zero means 10 s.
	HeaderWait time.Duration
	// Keys opens TCP to those who hold one; nil lets nobody in.
	Keys *Keys
	// Routing names the agent for each taskType of /submit_task; what is not
	// in it goes to the boss.
	Routing map[string]string
	// Approvals says how the tool calls of an agent are decided; nil asks a
	// person, who has half a minute.
	Approvals func(agent string) protocol.Policy
	// WorkDir is where the agents work, absolute; "" = not known.
	WorkDir string
	// Attachments is the folder for what people attach to their words.
	Attachments string
	// Rate is how many requests a second one key may make; zero means 500.
	Rate float64
	// MCP answers what a caller sends to /mcp; without it there is no such route.
	MCP func(Guest) http.Handler
}

// Server serves a hub.
type Server struct {
	hub     Desk
	follow  func(after uint64, task string) Follower
	boss    func() string // the agent that gets what is routed to nobody
	options Options
	handler http.Handler
	pace    *pace

	sessions      *sessions
	confirmations *confirmations
	tally         *tally
	shelf         *shelf
}

// maxBody leaves room for the largest payload and its envelope.
const maxBody = protocol.MaxPayload + 1<<20

// New makes a server; nothing listens yet.
func New[F Follower](hub Hub[F], o Options) *Server {
	o = o.filled()
	s := &Server{hub: hub, options: o, pace: newPace(o.Rate), confirmations: newConfirmations(), tally: newTally(), shelf: newShelf()}
	s.sessions = newSessions(func(task string) (string, bool) {
		t, err := hub.Task(task)
		return t.Session, err == nil && t.ID == task
	})
	s.boss = sync.OnceValue(func() string { return findBoss(hub) })
	s.follow = func(after uint64, task string) Follower { return hub.Follow(after, task) }
	mux := http.NewServeMux()
	routes := newRoutes(mux, o.Version)
	routes.UseMiddleware(scoped)
	s.messageRoutes(routes)
	s.submitRoutes(routes)
	s.taskRoutes(routes)
	s.agentRoutes(routes)
	s.eventRoutes(routes)
	s.confirmationRoutes(routes)
	s.loginRoutes(routes)
	s.journalRoutes(routes)
	mux.HandleFunc("GET /metrics", s.need(ScopeRead, s.metrics))
	mux.HandleFunc("POST /agents/{name}/poke", s.poke)
	mux.HandleFunc("GET /docs", s.docs)
	mux.HandleFunc("GET /ws", s.need(ScopeRead, s.socket))
	if o.MCP != nil {
		mux.HandleFunc("/mcp", s.need(ScopeRead, s.mcp))
	}
	mux.HandleFunc("/", noRoute(mux))
	s.handler = bounded(mux)
	return s
}

// filled puts the defaults where nothing was said.
func (o Options) filled() Options {
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.WriteWait = cmp.Or(o.WriteWait, 10*time.Second)
	o.HeaderWait = cmp.Or(o.HeaderWait, 10*time.Second)
	o.Rate = cmp.Or(o.Rate, 500)
	return o
}

// Handler is the server as the socket's owner meets it, without a listener.
func (s *Server) Handler() http.Handler { return s.localGate(s.handler) }

// keySecurity is the name under which the description knows keys.
const keySecurity = "key"

// route describes an operation and the scope it needs. Its error response is
// always the same.
func route(id, method, path, summary string, scope Scope) huma.Operation {
	op := huma.Operation{
		OperationID:  id,
		Method:       method,
		Path:         path,
		Summary:      summary,
		MaxBodyBytes: maxBody,
		Responses:    map[string]*huma.Response{"default": problemResponse()},
	}
	if scope != "" {
		op.Security = []map[string][]string{{keySecurity: {string(scope)}}}
	}
	return op
}

// scoped lets a request through that has the scope its route describes.
func scoped(ctx huma.Context, next func(huma.Context)) {
	for _, need := range ctx.Operation().Security {
		if fault := lacks(callerOf(ctx.Context()), Scope(need[keySecurity][0])); fault != nil {
			writeProblem(ctx, http.StatusForbidden, fault)
			return
		}
	}
	next(ctx)
}

// body is an answer that is a JSON object.
type body[T any] struct{ Body T }

func answer[T any](v T) (*body[T], error) { return &body[T]{Body: v}, nil }
