package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// For how much a person's decision counts.
const (
	ScopeOnce  = "once"
	ScopeTask  = "task"  // calls of this kind until the task, with all its delegations, is over
	ScopeAgent = "agent" // calls of this kind by this agent, until it is revoked
)

// StandingRule is a decision of a person that counts for more than one call.
type StandingRule struct {
	ID     string    `json:"id"` // of the confirmation it was made with
	Agent  string    `json:"agent"`
	Task   string    `json:"taskId,omitempty"` // the tree in which it counts; "" is any
	Kind   string    `json:"kind"`             // as ToolUse.Kind words it
	Decide string    `json:"decide" enum:"allow,deny"`
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	// Session is whose task it was made in; it is not for readers.
	Session string `json:"sessionId,omitempty"`
}

func (r StandingRule) String() string {
	if r.Task != "" {
		return fmt.Sprintf("%s %s for this task, by %s", r.Decide, r.Kind, r.By)
	}
	return fmt.Sprintf("%s %s for %s, by %s", r.Decide, r.Kind, r.Agent, r.By)
}

// Revocation ends a standing rule, as it stands in the stream.
type Revocation struct {
	ID   string `json:"ruleId"`
	By   string `json:"revokedBy"`
	Text string `json:"text"`
}

// Approvals is what agents have asked for and what people have decided, folded
// from the stream.
type Approvals struct {
	Items []Confirmation `json:"items,omitempty"` // oldest first
	Rules []StandingRule `json:"rules,omitempty"` // oldest first
}

// keepDecided is how long an answered confirmation can still be asked for.
const keepDecided = time.Hour

// Apply folds one entry and says whether it changed anything. What agents wrote
// does not count, whatever they call it; of two answers the first counts.
func (a *Approvals) Apply(e Entry) bool {
	if e.Message == nil {
		return false
	}
	m := e.Message.Message
	if e.Message.Closing != nil {
		return a.close(m.Header.CorrelationID)
	}
	event, ok := m.Payload.(*EventPayload)
	if !ok || m.From() != Hub && m.From() != User {
		return false
	}
	changed := false
	switch event.EventType {
	case EventConfirmationRequest:
		changed = m.From() == Hub && a.ask(e, event.Data)
	case EventConfirmationAnswer:
		changed = a.decide(e, event.Data)
	case EventRuleRevoked:
		var r Revocation
		changed = json.Unmarshal(event.Data, &r) == nil && a.revoke(r.ID)
	}
	if changed {
		a.Items = slices.DeleteFunc(a.Items, func(c Confirmation) bool {
			return c.State != ConfirmationPending && e.Time.Sub(c.Decided) > keepDecided
		})
	}
	return changed
}

func (a *Approvals) ask(e Entry, data json.RawMessage) bool {
	var asked Confirmation
	if json.Unmarshal(data, &asked) != nil || a.find(asked.ID) >= 0 {
		return false
	}
	asked.Task, asked.Session = e.Message.Task, e.Message.Session
	a.Items = append(a.Items, asked)
	return true
}

func (a *Approvals) decide(e Entry, data json.RawMessage) bool {
	var v Verdict
	i := -1
	if json.Unmarshal(data, &v) == nil {
		i = a.find(v.ID)
	}
	if i < 0 || a.Items[i].State != ConfirmationPending {
		return false
	}
	item := &a.Items[i]
	item.State, item.By, item.Scope, item.Decided = v.State, v.By, v.Scope, e.Time
	decide, known := map[ConfirmationState]string{ConfirmationApproved: DecideAllow, ConfirmationDenied: DecideDeny}[v.State]
	if !known || v.Scope != ScopeTask && v.Scope != ScopeAgent {
		return true
	}
	r := StandingRule{ID: item.ID, Agent: item.Agent, Kind: item.Kind, Decide: decide, By: v.By, Since: e.Time, Session: item.Session}
	if v.Scope == ScopeTask {
		r.Task = item.Task
	}
	a.Rules = append(a.Rules, r)
	return true
}

func (a *Approvals) find(id string) int {
	return slices.IndexFunc(a.Items, func(c Confirmation) bool { return c.ID == id })
}

func (a *Approvals) revoke(id string) bool {
	n := len(a.Rules)
	a.Rules = slices.DeleteFunc(a.Rules, func(r StandingRule) bool { return r.ID == id })
	return len(a.Rules) < n
}

// close ends what counted for a task, and leaves its open questions to nobody.
func (a *Approvals) close(task string) bool {
	if task == "" {
		return false
	}
	changed := false
	for i := range a.Items {
		if c := &a.Items[i]; c.Task == task && c.State == ConfirmationPending && !c.Over {
			c.Over, changed = true, true
		}
	}
	n := len(a.Rules)
	a.Rules = slices.DeleteFunc(a.Rules, func(r StandingRule) bool { return r.Task == task })
	return changed || len(a.Rules) < n
}

// Pending counts the questions that nobody has answered.
func (a *Approvals) Pending() (n int) {
	for _, c := range a.Items {
		if c.State == ConfirmationPending {
			n++
		}
	}
	return n
}

// Standing is the rule of a person that decides on a call, if there is one. A
// refusal comes before a permission. What was decided in a session counts in
// that session only.
func (a *Approvals) Standing(c Confirmation) (StandingRule, bool) {
	var allowed *StandingRule
	for i, r := range a.Rules {
		if r.Agent != c.Agent || r.Kind != c.Kind || r.Task != "" && r.Task != c.Task || r.Session != "" && r.Session != c.Session {
			continue
		}
		if r.Decide == DecideDeny {
			return r, true
		}
		allowed = &a.Rules[i]
	}
	if allowed == nil {
		return StandingRule{}, false
	}
	return *allowed, true
}

// Clone is a copy that shares nothing with the original.
func (a *Approvals) Clone() Approvals {
	return Approvals{Items: slices.Clone(a.Items), Rules: slices.Clone(a.Rules)}
}
