package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

type following struct {
	LastEventID uint64 `header:"Last-Event-ID" doc:"the last event that was seen; the stream goes on after it"`
	After       uint64 `query:"after" doc:"the same for readers that cannot set headers"`
}

type followTask struct {
	TaskID      string `path:"taskId"`
	LastEventID uint64 `header:"Last-Event-ID"`
	After       uint64 `query:"after"`
}

func (s *Server) eventRoutes(api huma.API) {
	huma.Register(api, eventRoute("events", "/events", "Everything that happens"), s.allEvents)
	huma.Register(api, eventRoute("task-events", "/tasks/{taskId}/events", "What happens to one task"), s.taskEvents)
}

func eventRoute(id, path, summary string) huma.Operation {
	op := route(id, http.MethodGet, path, summary+", as server-sent events", ScopeRead)
	op.Description = "id is the sequence number, event the entry's kind, data the entry; between them, without an id, event part: how an answer goes on that is being written."
	schema := &huma.Schema{Type: huma.TypeString}
	op.Responses["200"] = &huma.Response{Description: "Entries", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: schema}}}
	return op
}

func (s *Server) allEvents(ctx context.Context, in *following) (*huma.StreamResponse, error) {
	return s.stream(callerOf(ctx), max(in.LastEventID, in.After), ""), nil
}

func (s *Server) taskEvents(ctx context.Context, in *followTask) (*huma.StreamResponse, error) {
	t, err := s.task(ctx, in.TaskID)
	if err != nil {
		return nil, refuse(err)
	}
	c := callerOf(ctx)
	if !c.oversees() && !c.named {
		// The task's id was proof enough; what follows is of its session only.
		if c, err = c.in(t.Session); err != nil {
			return nil, refuse(err)
		}
	}
	return s.stream(c, max(in.LastEventID, in.After), t.Root), nil
}

// stream sends entries until the reader goes away, the server ends, or a write
// takes longer than a living reader needs.
func (s *Server) stream(c caller, after uint64, task string) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "text/event-stream")
		ctx.SetHeader("Cache-Control", "no-store")
		ctx.SetStatus(http.StatusOK)
		_, w := humago.Unwrap(ctx)
		defer s.tally.stream()()
		out := events{w: w, control: http.NewResponseController(w), patience: s.options.WriteWait}
		err := out.comment("following")
		reader := s.reader(c, after, task)
		for err == nil {
			err = s.nextEvent(ctx.Context(), reader, out)
		}
		if ctx.Context().Err() == nil {
			s.options.Log.Debug().Err(err).Str("task", task).Msg("event stream ended")
		}
	}}
}

// nextEvent sends what comes next, or a sign of life when nothing does for long.
func (s *Server) nextEvent(ctx context.Context, reader *reader, out events) error {
	wait, cancel := context.WithTimeout(ctx, s.options.KeepAlive)
	defer cancel()
	it, parts, err := reader.next(wait)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		if !s.valid(reader.caller) {
			return errKeyGone
		}
		return out.comment("alive")
	}
	if err != nil {
		return fmt.Errorf("follow the stream: %w", err)
	}
	data, err := partEvents(parts)
	if it != nil {
		data, err = it.event(reader.caller)
	}
	if err != nil {
		return err
	}
	return out.write(data)
}

// errKeyGone ends a stream whose key was revoked or has expired.
var errKeyGone = errors.New("the key is no longer good")

// events writes server-sent events, each within its own deadline.
type events struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

func (e events) comment(text string) error { return e.write([]byte(": " + text + "\n\n")) }

func (e events) write(data []byte) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(e.patience)); err != nil {
		return fmt.Errorf("set the reader's deadline: %w", err)
	}
	if _, err := e.w.Write(data); err != nil {
		return fmt.Errorf("write to the reader: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("write to the reader: %w", err)
	}
	return nil
}
