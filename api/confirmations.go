package api

import (
	"cmp"
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

// pollWait is how long one request waits for a decision. It is shorter than
// what proxies and clients allow a silent request; the asker asks again.
const pollWait = 20 * time.Second

// Ask is what an agent asks: may it use this tool in this way?
type Ask struct {
	ID      string            `json:"confirmationId,omitempty" format:"uuid" doc:"made by the asker, so that asking again is the same question"`
	Tool    string            `json:"toolName" minLength:"1" maxLength:"256"`
	Args    json.RawMessage   `json:"args"`
	Warning *protocol.Warning `json:"security_warning,omitempty" doc:"how dangerous the asker finds it; the hub's own view stands where it says nothing or is graver"`
}

type askConfirmation struct{ Body Ask }

// ConfirmationList is the answer to GET /confirmations.
type ConfirmationList struct {
	Confirmations []protocol.Confirmation `json:"confirmations"`
}

type confirmationAnswer struct {
	ID   string `path:"id" doc:"the confirmation's id"`
	Body Decision
}

// Decision is a person's answer.
type Decision struct {
	Approved bool   `json:"approved"`
	Scope    string `json:"scope,omitempty" enum:"once,task,agent" doc:"task and agent: also what is of this kind from now on, for this task or this agent"`
}

// RuleList is the answer to GET /confirmations/rules.
type RuleList struct {
	Rules []protocol.StandingRule `json:"rules"`
}

type ruleID struct {
	ID string `path:"id" doc:"the rule's id, or the beginning of it"`
}

func (s *Server) confirmationRoutes(api huma.API) {
	huma.Register(api, route("list-confirmations", http.MethodGet, "/confirmations", "Tool calls that wait for a person, or did lately", ScopeRead), s.listConfirmations)
	huma.Register(api, route("list-rules", http.MethodGet, "/confirmations/rules", "What people have decided for more than one call", ScopeRead), s.listRules)
	huma.Register(api, route("revoke-rule", http.MethodDelete, "/confirmations/rules/{id}", "End such a decision", ScopeApprove), s.revokeRule)
	huma.Register(api, route("answer-confirmation", http.MethodPost, "/confirmations/{id}", "Approve or deny a tool call", ScopeApprove), s.answerConfirmation)
	huma.Register(api, route("ask-confirmation", http.MethodPost, "/confirmations", "Ask for approval, from an agent's pane; waits for the decision", ""), s.askConfirmation)
}

func (s *Server) listConfirmations(ctx context.Context, _ *struct{}) (*body[ConfirmationList], error) {
	return answer(ConfirmationList{Confirmations: list(s.confirmationsOf(callerOf(ctx)))})
}

// confirmationsOf are those of the caller's session.
func (s *Server) confirmationsOf(c caller) []protocol.Confirmation {
	out := slices.DeleteFunc(s.confirmations.known().Items, func(item protocol.Confirmation) bool { return !c.sees(item.Session) })
	for i := range out {
		out[i].Session = c.shown(out[i].Session)
	}
	return out
}

func (s *Server) answerConfirmation(ctx context.Context, in *confirmationAnswer) (*body[protocol.Confirmation], error) {
	item, err := s.resolve(ctx, callerOf(ctx), in.ID, in.Body)
	if err != nil {
		return nil, refuse(err)
	}
	return answer(item)
}

// person lets only people through. A program inside a pane is no person, even
// where it leaves its secret out.
func (s *Server) person(c caller) error {
	if fault := lacks(c, ScopeApprove); fault != nil {
		return fault
	}
	if s.inPane(c) {
		return protocol.Faultf(protocol.CodeForbidden, "this comes from inside an agent's pane, and agents do not answer for people").
			Cure("answer from a terminal outside the panes")
	}
	return nil
}

// resolve lets a person answer.
func (s *Server) resolve(ctx context.Context, c caller, id string, d Decision) (protocol.Confirmation, error) {
	if err := s.person(c); err != nil {
		return protocol.Confirmation{}, err
	}
	item, err := s.findConfirmation(c, id)
	if err != nil {
		return item, err
	}
	if how, _ := s.policy(item.Agent).Decide(s.use(item)); how == protocol.DecideKey && c.key == nil {
		return item, protocol.Faultf(protocol.CodeForbidden, "%s is answered with a key only", item.Agent).
			Cure("use a key with the scope approve: set ORCHESTRATOR_CC_URL and ORCHESTRATOR_CC_KEY")
	}
	if d.Scope == protocol.ScopeTask && item.Task == "" {
		return item, protocol.Faultf(protocol.CodeConflict, "%s asks for no task of the company", item.Agent).Cure("decide once, or for the agent")
	}
	v := protocol.Verdict{State: protocol.ConfirmationDenied, By: c.label(), Scope: cmp.Or(d.Scope, protocol.ScopeOnce)}
	if d.Approved {
		v.State = protocol.ConfirmationApproved
	}
	err = s.decide(ctx, item, v)
	if err != nil && protocol.CodeOf(err) == protocol.CodeDuplicate {
		return item, protocol.Faultf(protocol.CodeConflict, "confirmation %s is answered already", item.ID).Cure(answeredCure)
	}
	if err != nil {
		return item, err
	}
	return s.awaitDecision(ctx, c, item.ID)
}

// answeredCure is for whoever answers what is answered.
const answeredCure = "see what waits now: orchestrator-cc inbox"

// findConfirmation finds one for the caller: by its whole id, or for an
// overseer by the beginning of it.
func (s *Server) findConfirmation(c caller, id string) (protocol.Confirmation, error) {
	var found []protocol.Confirmation
	for _, item := range s.confirmations.known().Items {
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
		return found[0], protocol.Faultf(protocol.CodeConflict, "confirmation %s is %s already", found[0].ID, found[0].State).Cure(answeredCure)
	}
	return found[0], nil
}

// awaitDecision returns a confirmation once it is decided, or as it is when
// the wait is over.
func (s *Server) awaitDecision(ctx context.Context, c caller, id string) (protocol.Confirmation, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	for {
		item, found, moved := s.confirmations.get(id)
		if found && item.State != protocol.ConfirmationPending {
			item.Session = c.shown(item.Session)
			return item, nil
		}
		select {
		case <-moved:
			continue
		case <-ctx.Done():
		}
		if !found {
			return item, protocol.Faultf(protocol.CodeTimeout, "confirmation %s is not recorded yet", id).Cure("ask again")
		}
		item.Session = c.shown(item.Session)
		return item, nil
	}
}

// askConfirmation puts an agent's question before a person. Asked again with
// its id it goes on waiting, also after the hub died in between.
func (s *Server) askConfirmation(ctx context.Context, in *askConfirmation) (*body[protocol.Confirmation], error) {
	c := callerOf(ctx)
	if c.key != nil || c.who.AgentID == protocol.User {
		return nil, refuse(protocol.Faultf(protocol.CodeForbidden, "only an agent asks for approval, by its pane's secret"))
	}
	item := s.question(c.who.AgentID, in.Body)
	defer s.confirmations.attend(item.ID)()
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
		ID: in.ID, Tool: in.Tool, Args: in.Args, Agent: agent,
		State: protocol.ConfirmationPending, Since: now, Deadline: now.Add(s.policy(agent).Timeout),
	}
	use := s.use(item)
	item.Warning, item.Kind = use.Warning(), use.Kind()
	if w := in.Warning; w != nil && item.Warning.Level != protocol.LevelCritical && (w.Level == protocol.LevelCritical || item.Warning.Level == protocol.LevelInfo) {
		item.Warning = *w
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

// use is a tool call as the rules look at it.
func (s *Server) use(item protocol.Confirmation) protocol.ToolUse {
	return protocol.ToolUse{Tool: item.Tool, Args: item.Args, Dir: s.options.WorkDir}
}

// ask writes the question to the stream, and the answer too where a rule gives
// it. A question that is there already is no mistake.
func (s *Server) ask(ctx context.Context, item protocol.Confirmation) error {
	inner := item
	inner.Session, inner.Task = "", "" // The entry says both; the session's inner name is not for readers.
	text := fmt.Sprintf("%s asks to use %s: %s", item.Agent, item.Tool, item.Args)
	err := s.record(ctx, item, protocol.EventConfirmationRequest, confirmationRequest{Confirmation: inner, Text: text}, item.ID, protocol.FromHub(), protocol.FromUser())
	if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate {
		return err
	}
	how, by := s.rule(item)
	v := protocol.Verdict{State: protocol.ConfirmationApproved, By: by}
	switch how {
	case protocol.DecideAllow:
	case protocol.DecideDeny:
		v.State = protocol.ConfirmationDenied
	default:
		return nil
	}
	if err := s.decide(ctx, item, v); err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate {
		return err
	}
	return nil
}

// rule says how a call is decided, and by what. What the configuration denies
// by a rule no person has allowed; what it allows a person may have denied.
func (s *Server) rule(item protocol.Confirmation) (how, by string) {
	how, rule := s.policy(item.Agent).Decide(s.use(item))
	by = "the configuration"
	if rule != nil {
		by = "the configuration's rule: " + rule.String()
	}
	if rule != nil && how == protocol.DecideDeny {
		return how, by
	}
	known := s.confirmations.known()
	if standing, ok := known.Standing(item); ok {
		return standing.Decide, "rule " + standing.ID[:min(8, len(standing.ID))] + ": " + standing.String()
	}
	return how, by
}

// confirmationRequest is a confirmation as it stands in the stream; the text is
// for people.
type confirmationRequest struct {
	protocol.Confirmation
	Text string `json:"text"`
}

// record writes one event of a confirmation's life.
func (s *Server) record(ctx context.Context, item protocol.Confirmation, event string, value any, id string, between ...protocol.Identifier) error {
	data, err := json.Marshal(value)
	if err != nil {
		return protocol.Invalid("args", "%v", err)
	}
	payload := &protocol.EventPayload{EventType: event, Data: data}
	if event == protocol.EventConfirmationRequest {
		action := true
		payload.RequiresAction = &action
	}
	m := protocol.New(between[0], between[1], payload)
	m.Header.MessageID = id
	_, err = s.hub.Submit(ctx, protocol.Accepted{Message: m, Task: item.Task, Session: item.Session})
	return err
}

// policy is how an agent's questions are decided; where nothing is said, a
// person has half a minute.
func (s *Server) policy(agent string) protocol.Policy {
	p := protocol.Policy{}
	if s.options.Approvals != nil {
		p = s.options.Approvals(agent)
	}
	if p.Timeout <= 0 {
		p.Timeout = 30 * time.Second
	}
	return p
}

// waiting are the pending confirmations as items of the inbox.
func (s *Server) waiting(c caller) (out []protocol.InboxItem) {
	for _, item := range s.confirmationsOf(c) {
		if item.State == protocol.ConfirmationPending {
			out = append(out, protocol.InboxItem{
				ID: item.ID, Kind: KindConfirmation, Agent: item.Agent, Task: item.Task, Since: item.Since,
				Text: fmt.Sprintf("%s: %s %s", item.Warning.Level, item.Tool, item.Args), Rule: item.Kind,
			})
		}
	}
	return out
}

// KindConfirmation marks what the inbox holds for approve and deny.
const KindConfirmation = "confirmation"
