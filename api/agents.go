package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

// AgentList is the answer to GET /agents.
type AgentList struct {
	Agents []protocol.AgentStatus `json:"agents"`
}

// Inbox is the answer to GET /inbox.
type Inbox struct {
	Inbox []protocol.InboxItem `json:"inbox"`
}

// Pulse is the answer to GET /healthz.
type Pulse struct {
	Status string          `json:"status" enum:"ok,degraded"`
	Hub    protocol.Health `json:"hub"`
}

type agentControl struct {
	Name string `path:"name"`
	Body struct {
		Command protocol.Command `json:"command" enum:"pause,resume,shutdown"`
	}
}

type inboxPath struct {
	ID string `path:"id" doc:"the id shown by GET /inbox, or the beginning of it"`
}

type inboxAnswer struct {
	ID   string `path:"id" doc:"the id shown by GET /inbox, or the beginning of it"`
	Body struct {
		Text   string   `json:"text,omitempty" doc:"for a task"`
		Keys   []string `json:"keys,omitempty" maxItems:"20" doc:"for a dialog, by their tmux names"`
		Dialog string   `json:"dialog,omitempty" doc:"the dialog that was seen, as GET /inbox names it; another one is not answered"`
	}
}

func (s *Server) agentRoutes(api huma.API) {
	huma.Register(api, route("status", http.MethodGet, "/status", "Agents, tasks, inbox and the hub itself", ScopeRead), s.status)
	huma.Register(api, route("list-agents", http.MethodGet, "/agents", "Every agent and its state", ScopeRead), s.listAgents)
	huma.Register(api, route("control-agent", http.MethodPost, "/agents/{name}/control", "Pause, resume or shut down an agent", ScopeAdmin), s.controlAgent)
	huma.Register(api, route("inbox", http.MethodGet, "/inbox", "What waits for a person", ScopeRead), s.inbox)
	huma.Register(api, route("answer", http.MethodPost, "/inbox/{id}/answer", "Answer what waits for a person", ScopeApprove), s.answerInbox)
	huma.Register(api, route("allow", http.MethodPost, "/inbox/{id}/allow", "Let what has used its tokens go on with as many again", ScopeApprove), s.allow)
	huma.Register(api, route("stats", http.MethodGet, "/stats", "Communication figures", ScopeRead), s.stats)
	huma.Register(api, route("healthz", http.MethodGet, "/healthz", "Is the hub well?", ""), s.healthz)
	huma.Register(api, route("shutdown", http.MethodPost, "/shutdown", "End the hub and its session", ScopeAdmin), s.shutdown)
}

func (s *Server) status(ctx context.Context, _ *struct{}) (*body[protocol.Overview], error) {
	return answer(s.overview(callerOf(ctx)))
}

func (s *Server) listAgents(ctx context.Context, _ *struct{}) (*body[AgentList], error) {
	return answer(AgentList{Agents: s.overview(callerOf(ctx)).Agents})
}

func (s *Server) controlAgent(ctx context.Context, in *agentControl) (*body[Receipt], error) {
	return s.command(ctx, in.Name, in.Body.Command, order{})
}

func (s *Server) inbox(ctx context.Context, _ *struct{}) (*body[Inbox], error) {
	return answer(Inbox{Inbox: s.overview(callerOf(ctx)).Inbox})
}

// answerInbox gives a stuck task another try with the person's words. A dialog
// of the program in a pane is answered in that pane, where its choices stand.
func (s *Server) answerInbox(ctx context.Context, in *inboxAnswer) (*body[Receipt], error) {
	item, err := s.inboxItem(callerOf(ctx), in.ID)
	if err != nil {
		return nil, refuse(err)
	}
	if item.Kind == KindConfirmation {
		return nil, refuse(protocol.Faultf(protocol.CodeConflict, "%s asks for approval, which takes no text", item.Agent).
			Cure("orchestrator-cc approve %s, or: orchestrator-cc deny %s", item.ID, item.ID))
	}
	if item.Kind == protocol.InboxTokens {
		return nil, refuse(protocol.Faultf(protocol.CodeConflict, "%s asks for tokens, which takes no text", item.ID).
			Cure("orchestrator-cc approve %s", item.ID))
	}
	if item.Kind == protocol.InboxDialog {
		receipt, err := s.answerDialog(ctx, callerOf(ctx), item, in.Body.Dialog, in.Body.Keys)
		if err != nil {
			return nil, refuse(err)
		}
		return answer(receipt)
	}
	if in.Body.Text == "" {
		return nil, refuse(protocol.Invalid("text", "is empty"))
	}
	if item.Task == "" {
		return nil, refuse(protocol.Faultf(protocol.CodeConflict, "%s waits for no text", item.Agent).Cure("orchestrator-cc attach %s", item.Agent))
	}
	return s.command(ctx, item.Agent, protocol.Retry, order{Task: item.Task, Text: in.Body.Text})
}

// allow lets what has used its tokens go on: a task, an agent, or for today the
// company.
func (s *Server) allow(ctx context.Context, in *inboxPath) (*body[Receipt], error) {
	item, err := s.inboxItem(callerOf(ctx), in.ID)
	switch {
	case err != nil:
		return nil, refuse(err)
	case item.Kind != protocol.InboxTokens:
		return nil, refuse(protocol.Faultf(protocol.CodeConflict, "%s does not wait for tokens", item.ID).Cure("see orchestrator-cc inbox"))
	case item.Task != "":
		return s.command(ctx, item.Agent, protocol.Resume, order{Task: item.Task})
	case item.Agent == protocol.All:
		return s.command(ctx, item.Agent, protocol.Resume, order{Tokens: item.ID})
	}
	return s.command(ctx, item.Agent, protocol.Resume, order{})
}

// answerDialog presses a person's keys in a dialog, if it is still there, and
// writes down who did it.
func (s *Server) answerDialog(ctx context.Context, c caller, item protocol.InboxItem, dialog string, keys []string) (Receipt, error) {
	if err := s.person(c); err != nil {
		return Receipt{}, err
	}
	if item.Dialog == "" {
		return Receipt{}, protocol.Faultf(protocol.CodeConflict, "%s shows no dialog", item.Agent).Cure("look at its pane: orchestrator-cc attach %s", item.Agent)
	}
	if len(keys) == 0 || dialog == "" {
		return Receipt{}, protocol.Faultf(protocol.CodeConflict, "%s shows a dialog, which takes keys", item.Agent).
			Cure("orchestrator-cc answer %s --dialog %s --key Enter, or in its pane: orchestrator-cc attach %s", item.Agent, item.Dialog, item.Agent)
	}
	if err := s.hub.Answer(ctx, item.Agent, dialog, keys); err != nil {
		return Receipt{}, err
	}
	id := protocol.NewID()
	what := map[string]any{
		"agent": item.Agent, "keys": keys, "by": c.label(), "screen": item.Screen,
		"text": fmt.Sprintf("%s pressed %s in the dialog of %s", c.label(), strings.Join(keys, " "), item.Agent),
	}
	err := s.record(ctx, protocol.Confirmation{}, protocol.EventDialogAnswered, what, id, protocol.FromUser(), protocol.FromHub())
	return Receipt{MessageID: id}, err
}

func (s *Server) inboxItem(c caller, id string) (protocol.InboxItem, error) {
	items := s.overview(c).Inbox
	matches := slices.DeleteFunc(slices.Clone(items), func(i protocol.InboxItem) bool { return !strings.HasPrefix(i.ID, id) })
	if whole := slices.IndexFunc(matches, func(i protocol.InboxItem) bool { return i.ID == id }); whole >= 0 {
		return matches[whole], nil
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return protocol.InboxItem{}, protocol.Invalid("id", "%s fits several items", id).Cure("type more of it; see orchestrator-cc inbox")
	}
	return protocol.InboxItem{}, protocol.Faultf(protocol.CodeNotFound, "nothing with the id %s waits for a person", id).Cure("see orchestrator-cc inbox")
}

func (s *Server) stats(ctx context.Context, _ *struct{}) (*body[protocol.Metrics], error) {
	m := s.hub.Metrics()
	m.Tokens.ByTask = mostTokens(s.tasks(callerOf(ctx)))
	return answer(m)
}

func (s *Server) healthz(ctx context.Context, _ *struct{}) (*body[Pulse], error) {
	pulse := Pulse{Status: "ok", Hub: s.overview(callerOf(ctx)).Hub}
	if len(pulse.Hub.Problems) > 0 {
		pulse.Status = "degraded"
	}
	return answer(pulse)
}

// shutdown asks the hub to stop. Stop does not wait for the end, and a server
// that ends lets running requests finish, so the answer still goes out.
func (s *Server) shutdown(ctx context.Context, _ *struct{}) (*body[Pulse], error) {
	if who := sender(ctx); who.AgentID != protocol.User {
		return nil, refuse(protocol.Faultf(protocol.CodeForbidden, "%s may not end the session", who.AgentID).Cure("only the user may"))
	}
	pulse := Pulse{Status: "ok", Hub: s.overview(callerOf(ctx)).Hub}
	s.hub.Stop()
	return answer(pulse)
}
