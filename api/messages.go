package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

// Receipt proves that a message was accepted and is on disk.
type Receipt struct {
	MessageID string `json:"messageId"`
	TaskID    string `json:"taskId,omitempty" doc:"the root of the task's tree; absent for what starts no task"`
	Seq       uint64 `json:"seq" doc:"the message's place in the stream; follow the events from here"`
}

// envelope is a message before its payload's type is known. The protocol room
// decodes it, because its faults name the field.
type envelope json.RawMessage

// UnmarshalJSON keeps the bytes.
func (e *envelope) UnmarshalJSON(data []byte) error {
	*e = append((*e)[:0], data...)
	return nil
}

// Schema describes the envelope only: the payload depends on the type.
func (envelope) Schema(huma.Registry) *huma.Schema {
	object := &huma.Schema{Type: huma.TypeObject}
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: "A message of the agent protocol. An absent message_id, timestamp, version or from is filled in.",
		Properties:  map[string]*huma.Schema{"header": object, "payload": object, "metadata": object},
		Required:    []string{"header", "payload"},
	}
}

type postMessage struct {
	Collect bool `query:"collect" doc:"the sender waits for the answer itself: do not type it into its pane"`
	Body    envelope
}

func (s *Server) messageRoutes(api huma.API) {
	huma.Register(api, route("post-message", http.MethodPost, "/messages", "Submit a message", ScopeSubmit), s.postMessage)
}

func (s *Server) postMessage(ctx context.Context, in *postMessage) (*body[Receipt], error) {
	var m protocol.Message
	if err := m.UnmarshalJSON(in.Body); err != nil {
		return nil, refuse(err)
	}
	from, err := prove(ctx, m.From())
	if err != nil {
		return nil, refuse(err)
	}
	m.Header.From = from
	if name := m.To(); name != "" {
		if m.Header.To, err = s.hub.Party(name); err != nil {
			return nil, refuse(err)
		}
	}
	if err := s.mayPost(ctx, m); err != nil {
		return nil, refuse(err)
	}
	return s.submit(ctx, protocol.Accepted{Message: m, Collected: in.Collect})
}

// reserved tells the events that only the hub writes.
func reserved(event string) bool {
	return event == protocol.EventConfirmationRequest || event == protocol.EventConfirmationAnswer || event == protocol.EventRuleRevoked || event == protocol.EventDialogAnswered
}

// mayPost keeps everybody from answering what agents ask by a message of their
// own, and a key to its own: what it refers to must be of its session,
// and orders that steer an agent are for admins.
func (s *Server) mayPost(ctx context.Context, m protocol.Message) error {
	c := callerOf(ctx)
	if event, ok := m.Payload.(*protocol.EventPayload); ok && reserved(event.EventType) {
		return protocol.Invalid("payload.event_type", "is %q, which only the hub writes", event.EventType).Cure("POST /confirmations")
	}
	if c.oversees() || c.inside() {
		return nil // What an agent may say is the matrix's to decide.
	}
	if id := m.Header.CorrelationID; id != "" {
		if _, err := s.task(ctx, id); err != nil {
			return err
		}
	}
	order, ok := m.Payload.(*protocol.ControlPayload)
	if !ok {
		return nil
	}
	if order.Command == protocol.Cancel || order.Command == protocol.Retry {
		return protocol.Faultf(protocol.CodeForbidden, "a key cancels and retries by the task").Cure("POST /tasks/{taskId}/control")
	}
	if fault := lacks(c, ScopeAdmin); fault != nil {
		return fault
	}
	return nil
}

func (s *Server) submit(ctx context.Context, in protocol.Accepted) (*body[Receipt], error) {
	if c := callerOf(ctx); c.who.AgentID == protocol.User {
		in.Session = c.session // An agent's work belongs to the task it is at.
	}
	entry, err := s.hub.Submit(ctx, in)
	if err != nil {
		return nil, refuse(err)
	}
	return answer(Receipt{MessageID: entry.Message.Message.ID(), TaskID: entry.Message.Task, Seq: entry.Seq})
}

// order is what a control message is about.
type order struct {
	Task string `json:"task,omitempty"`
	Text string `json:"text,omitempty"`
	// Tokens gives the whole company more, with resume.
	Tokens string `json:"tokens,omitempty"`
}

// command sends a control message to an agent in the caller's name. Orders to
// stop something are critical: they overtake what waits, and interrupt.
func (s *Server) command(ctx context.Context, agent string, c protocol.Command, o order) (*body[Receipt], error) {
	to, err := s.hub.Party(agent)
	if err != nil {
		return nil, refuse(err)
	}
	params, err := json.Marshal(o)
	if err != nil {
		return nil, refuse(err)
	}
	m := protocol.New(sender(ctx), to, &protocol.ControlPayload{Command: c, Params: params})
	if c == protocol.Cancel || c == protocol.Shutdown {
		m = m.WithPriority(protocol.Critical)
	}
	return s.submit(ctx, protocol.Accepted{Message: m})
}
