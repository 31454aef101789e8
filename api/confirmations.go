package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/protocol"
)

// What happens when an agent asks to use a tool.
const (
	ApprovalAsk   = "ask"   // a person decides
	ApprovalKey   = "key"   // a person with a key decides
	ApprovalAllow = "allow" // it is allowed at once
	ApprovalDeny  = "deny"  // it is denied at once
)

// byPolicy stands as who answered where the configuration did.
const byPolicy = "the configuration"

// Approvals is how an agent's tool calls are decided, and how long a person
// has for it.
type Approvals struct {
	Policy   string
	Patience time.Duration
}

// pollWait is how long one request waits for a decision. It is shorter than
// what proxies and clients allow a silent request; the asker asks again.
const pollWait = 20 * time.Second

// Ask is what an agent asks: may it use this tool in this way?
type Ask struct {
	ID      string           `json:"confirmationId,omitempty" format:"uuid" doc:"made by the asker, so that asking again is the same question"`
	Tool    string           `json:"toolName" minLength:"1" maxLength:"256"`
	Args    json.RawMessage  `json:"args"`
	Warning protocol.Warning `json:"security_warning"`
}

type askConfirmation struct{ Body Ask }

// ConfirmationList is the answer to GET /confirmations.
type ConfirmationList struct {
	Confirmations []protocol.Confirmation `json:"confirmations"`
}

type confirmationAnswer struct {
	ID   string `path:"id" doc:"the confirmation's id"`
	Body struct {
		Approved bool `json:"approved"`
	}
}

func (s *Server) confirmationRoutes(api huma.API) {
	huma.Register(api, route("list-confirmations", http.MethodGet, "/confirmations", "Tool calls that wait for a person, or did lately", ScopeRead), s.listConfirmations)
	huma.Register(api, route("answer-confirmation", http.MethodPost, "/confirmations/{id}", "Approve or deny a tool call", ScopeApprove), s.answerConfirmation)
	huma.Register(api, route("ask-confirmation", http.MethodPost, "/confirmations", "Ask for approval, from an agent's pane; waits for the decision", ""), s.askConfirmation)
}

func (s *Server) listConfirmations(ctx context.Context, _ *struct{}) (*body[ConfirmationList], error) {
	return answer(ConfirmationList{Confirmations: s.confirmationsOf(callerOf(ctx))})
}

// confirmationsOf are those of the caller's session.
func (s *Server) confirmationsOf(c caller) []protocol.Confirmation {
	out := slices.DeleteFunc(s.confirmations.list(), func(item protocol.Confirmation) bool { return !c.sees(item.Session) })
	for i := range out {
		out[i].Session = c.shown(out[i].Session)
	}
	return out
}

func (s *Server) answerConfirmation(ctx context.Context, in *confirmationAnswer) (*body[protocol.Confirmation], error) {
	item, err := s.resolve(ctx, callerOf(ctx), in.ID, in.Body.Approved)
	if err != nil {
		return nil, refuse(err)
	}
	return answer(item)
}

// resolve lets a person answer. A program inside a pane is no person, even
// where it leaves its secret out.
func (s *Server) resolve(ctx context.Context, c caller, id string, approved bool) (protocol.Confirmation, error) {
	if fault := lacks(c, ScopeApprove); fault != nil {
		return protocol.Confirmation{}, fault
	}
	if s.inPane(c) {
		return protocol.Confirmation{}, protocol.Faultf(protocol.CodeForbidden, "this comes from inside an agent's pane, and agents do not answer for people").
			Cure("answer from a terminal outside the panes")
	}
	item, err := s.findConfirmation(c, id)
	if err != nil {
		return item, err
	}
	if s.approvals(item.Agent).Policy == ApprovalKey && c.key == nil {
		return item, protocol.Faultf(protocol.CodeForbidden, "%s is answered with a key only", item.Agent).
			Cure("use a key with the scope approve: set ORCHESTRATOR_CC_URL and ORCHESTRATOR_CC_KEY")
	}
	state := protocol.ConfirmationDenied
	if approved {
		state = protocol.ConfirmationApproved
	}
	err = s.decide(ctx, item, state, c.label())
	if err != nil && protocol.CodeOf(err) == protocol.CodeDuplicate {
		return item, protocol.Faultf(protocol.CodeConflict, "confirmation %s is answered already", item.ID)
	}
	if err != nil {
		return item, err
	}
	return s.awaitDecision(ctx, c, item.ID)
}

// findConfirmation finds one for the caller: by its whole id, or for an
// overseer by the beginning of it.
func (s *Server) findConfirmation(c caller, id string) (protocol.Confirmation, error) {
	var found []protocol.Confirmation
	for _, item := range s.confirmations.list() {
		if c.owns(item.Session) && (item.ID == id || c.oversees() && id != "" && strings.HasPrefix(item.ID, id)) {
			found = append(found, item)
		}
	}
	switch len(found) {
	case 0:
		return protocol.Confirmation{}, protocol.Faultf(protocol.CodeNotFound, "there is no confirmation %q", id).Cure("see orchestrator-cc inbox")
	case 1:
	default:
		return protocol.Confirmation{}, protocol.Invalid("id", "%s fits several confirmations", id).Cure("type more of it; see orchestrator-cc inbox")
	}
	if found[0].State != protocol.ConfirmationPending {
		return found[0], protocol.Faultf(protocol.CodeConflict, "confirmation %s is %s already", found[0].ID, found[0].State)
	}
	return found[0], nil
}

// awaitDecision returns a confirmation once it is decided, or as it is when
// the wait is over.
func (s *Server) awaitDecision(ctx context.Context, c caller, id string) (protocol.Confirmation, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	item, err := s.confirmations.get(ctx, id)
	if err != nil {
		return protocol.Confirmation{}, protocol.Faultf(protocol.CodeTimeout, "confirmation %s is not recorded yet", id).Cure("ask again")
	}
	select {
	case <-item.decided:
	case <-ctx.Done():
	}
	view := s.confirmations.view(item)
	view.Session = c.shown(view.Session)
	return view, nil
}

// askConfirmation puts an agent's question before a person. Asked again with
// its id it goes on waiting, also after the hub died in between.
func (s *Server) askConfirmation(ctx context.Context, in *askConfirmation) (*body[protocol.Confirmation], error) {
	c := callerOf(ctx)
	if c.key != nil || c.who.AgentID == protocol.User {
		return nil, refuse(protocol.Faultf(protocol.CodeForbidden, "only an agent asks for approval, by its pane's secret"))
	}
	item := s.question(c.who.AgentID, in.Body)
	if err := s.ask(ctx, item); err != nil {
		return nil, refuse(err)
	}
	decided, err := s.awaitDecision(ctx, c, item.ID)
	if err != nil {
		return nil, refuse(err)
	}
	if decided.Agent != c.who.AgentID {
		return nil, refuse(protocol.Faultf(protocol.CodeConflict, "another agent asked with the id %s", item.ID))
	}
	return answer(decided)
}

// question completes what an agent asks with its task and the time it has.
func (s *Server) question(agent string, in Ask) protocol.Confirmation {
	now := time.Now().UTC()
	item := protocol.Confirmation{
		ID: in.ID, Tool: in.Tool, Args: in.Args, Warning: in.Warning, Agent: agent,
		State: protocol.ConfirmationPending, Since: now, Deadline: now.Add(s.approvals(agent).Patience),
	}
	if item.ID == "" {
		item.ID = protocol.NewID()
	}
	for _, a := range s.hub.Overview().Agents {
		if a.Name != agent || a.Task == "" {
			continue
		}
		if t, err := s.hub.Task(a.Task); err == nil {
			item.Task, item.Session = t.Root, t.Session
		}
	}
	return item
}

// ask writes the question to the stream, and the answer too where the
// configuration gives it. A question that is there already is no mistake.
func (s *Server) ask(ctx context.Context, item protocol.Confirmation) error {
	inner := item
	inner.Session, inner.Task = "", "" // The entry says both; the session's inner name is not for readers.
	data, err := json.Marshal(confirmationRequest{Confirmation: inner, Text: fmt.Sprintf("%s asks to use %s: %s", item.Agent, item.Tool, item.Args)})
	if err != nil {
		return protocol.Invalid("args", "%v", err)
	}
	action := true
	m := protocol.New(protocol.FromHub(), protocol.FromUser(), &protocol.EventPayload{EventType: protocol.EventConfirmationRequest, Data: data, RequiresAction: &action})
	m.Header.MessageID = item.ID
	_, err = s.hub.Submit(ctx, protocol.Accepted{Message: m, Task: item.Task, Session: item.Session})
	if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate {
		return err
	}
	switch s.approvals(item.Agent).Policy {
	case ApprovalAllow:
		err = s.decide(ctx, item, protocol.ConfirmationApproved, byPolicy)
	case ApprovalDeny:
		err = s.decide(ctx, item, protocol.ConfirmationDenied, byPolicy)
	default:
		return nil
	}
	if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate {
		return err
	}
	return nil
}

// approvals is how an agent's questions are decided; where nothing is said, a
// person has half a minute.
func (s *Server) approvals(agent string) Approvals {
	a := Approvals{}
	if s.options.Approvals != nil {
		a = s.options.Approvals(agent)
	}
	if a.Policy == "" {
		a.Policy = ApprovalAsk
	}
	if a.Patience <= 0 {
		a.Patience = 30 * time.Second
	}
	return a
}

// waiting are the pending confirmations as items of the inbox.
func (s *Server) waiting(c caller) (out []protocol.InboxItem) {
	for _, item := range s.confirmationsOf(c) {
		if item.State == protocol.ConfirmationPending {
			out = append(out, protocol.InboxItem{
				ID: item.ID, Kind: KindConfirmation, Agent: item.Agent, Task: item.Task, Since: item.Since,
				Text: fmt.Sprintf("%s: %s %s", item.Warning.Level, item.Tool, item.Args),
			})
		}
	}
	return out
}

// KindConfirmation marks what the inbox holds for approve and deny.
const KindConfirmation = "confirmation"
