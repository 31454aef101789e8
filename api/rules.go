package api

import (
	"context"
	"slices"
	"strings"

	"orchestrator-cc/protocol"
)

// rulesOf are the standing rules of the caller's session.
func (s *Server) rulesOf(c caller) []protocol.StandingRule {
	rules := slices.DeleteFunc(s.confirmations.known().Rules, func(r protocol.StandingRule) bool { return !c.sees(r.Session) })
	for i := range rules {
		rules[i].Session = c.shown(rules[i].Session)
	}
	return rules
}

func (s *Server) listRules(ctx context.Context, _ *struct{}) (*body[RuleList], error) {
	return answer(RuleList{Rules: append([]protocol.StandingRule{}, s.rulesOf(callerOf(ctx))...)})
}

// revokeRule ends a rule, for what is asked from now on.
func (s *Server) revokeRule(ctx context.Context, in *ruleID) (*body[protocol.StandingRule], error) {
	c := callerOf(ctx)
	if err := s.person(c); err != nil {
		return nil, refuse(err)
	}
	found := slices.DeleteFunc(s.confirmations.known().Rules, func(r protocol.StandingRule) bool {
		return !c.owns(r.Session) || r.ID != in.ID && !(c.oversees() && strings.HasPrefix(r.ID, in.ID))
	})
	if len(found) == 0 {
		return nil, refuse(protocol.Faultf(protocol.CodeNotFound, "there is no rule %q", in.ID).Cure("see orchestrator-cc inbox --rules"))
	}
	if len(found) > 1 {
		return nil, refuse(protocol.Invalid("id", "%s fits several rules", in.ID).Cure("type more of it; see orchestrator-cc inbox --rules"))
	}
	r := found[0]
	at := protocol.Confirmation{Task: r.Task, Session: r.Session}
	end := protocol.Revocation{ID: r.ID, By: c.label(), Text: c.label() + " revoked: " + r.String()}
	err := s.record(ctx, at, protocol.EventRuleRevoked, end, onceID("revoked", r.ID), protocol.FromUser(), protocol.FromHub())
	if err != nil && protocol.CodeOf(err) != protocol.CodeDuplicate {
		return nil, refuse(err)
	}
	r.Session = c.shown(r.Session)
	return answer(r)
}
