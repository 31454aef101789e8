// Package api is the door for programs: REST and server-sent events over the
// hub's unix socket, and the Go client which the command line uses.
//
//	request -> who speaks (sender.go) -> one group of routes -> the hub
//	entry   -> hub.Follow -> events.go -> SSE, id = sequence number
//
// It promises that every error has one shape, {"error":{code,message,details}},
// and that a reader of events who comes back with its last id misses nothing.
// A reader that does not take what it is sent is cut off; nobody waits for it.
package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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

// Stopper ends the hub in good order.
type Stopper interface {
	Stop()
}

// Desk is what the routes need of the hub, and Hub all that the server needs.
type Desk interface {
	Door
	Views
	Stopper
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
}

// Server serves a hub.
type Server struct {
	hub     Desk
	follow  func(after uint64, task string) Follower
	options Options
	handler http.Handler
}

// maxBody leaves room for the largest payload and its envelope.
const maxBody = protocol.MaxPayload + 1<<20

// New makes a server; nothing listens yet.
func New[F Follower](hub Hub[F], o Options) *Server {
	if o.KeepAlive == 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.WriteWait == 0 {
		o.WriteWait = 10 * time.Second
	}
	s := &Server{hub: hub, options: o}
	s.follow = func(after uint64, task string) Follower { return hub.Follow(after, task) }
	mux := http.NewServeMux()
	routes := newRoutes(mux, o.Version)
	routes.UseMiddleware(s.identify)
	s.messageRoutes(routes)
	s.taskRoutes(routes)
	s.agentRoutes(routes)
	s.eventRoutes(routes)
	mux.HandleFunc("/", noRoute)
	s.handler = bounded(mux)
	return s
}

// Handler is the server without a listener.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve answers on a listener until ctx ends. Running requests get a second to
// finish; event streams end at once, and their readers come back by last id.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cut := context.WithCancel(context.Background())
	defer cut()
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	cut()
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		s.options.Log.Debug().Err(err).Msg("requests cut off at the end")
		_ = server.Close() // The grace is over; whoever is left is cut off.
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	}
	return nil
}

// route describes an operation. Its error response is always the same.
func route(id, method, path, summary string) huma.Operation {
	return huma.Operation{
		OperationID:  id,
		Method:       method,
		Path:         path,
		Summary:      summary,
		MaxBodyBytes: maxBody,
		Responses:    map[string]*huma.Response{"default": problemResponse()},
	}
}

// body is an answer that is a JSON object.
type body[T any] struct{ Body T }

func answer[T any](v T) (*body[T], error) { return &body[T]{Body: v}, nil }
