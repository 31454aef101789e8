package protocol

import (
	"fmt"
	"slices"
)

// Rule lets a sender say some things to a recipient. From and To name a rank,
// a role, an agent, or everybody.
type Rule struct {
	From  string
	To    string
	Types []Type
}

// Matrix decides who may say what to whom. Answers are not in it: whoever was
// asked may always answer the asker, and tell him how it goes until then, and
// nobody else may.
type Matrix []Rule

// DefaultMatrix is the order of the company.
func DefaultMatrix() Matrix {
	order := []Type{Request, Control, Event}
	return Matrix{
		{From: string(RankUser), To: All, Types: order},
		{From: string(RankBoss), To: All, Types: order},
		{From: string(RankManager), To: string(RankSpecialist), Types: order},
		{From: string(RankManager), To: string(RankBoss), Types: []Type{Event}},
		{From: string(RankBoss), To: string(RankManager), Types: []Type{Event}},
		{From: string(RankHub), To: All, Types: []Type{Error, Event, Control}},
	}
}

// Permit returns nil when the rules let from say a message of this type to to.
// An answer (response, error, ack, nack), and an event about the work, is
// permitted when asked says that from was asked by to.
func (m Matrix) Permit(from, to Identifier, t Type, asked bool) error {
	if from.AgentID == to.AgentID {
		return Faultf(CodeForbidden, "%s may not address itself", from.AgentID)
	}
	answer := t == Response || t == Error || t == Ack || t == Nack
	if (answer || t == Event) && asked || t == Heartbeat {
		return nil
	}
	for _, rule := range m {
		if rule.covers(from, rule.From) && rule.covers(to, rule.To) && slices.Contains(rule.Types, t) {
			return nil
		}
	}
	fault := Faultf(CodeForbidden, "%s may not send a %s to %s", from.AgentID, t, to.AgentID)
	fault.Field = "header.to"
	if answer {
		return fault.Cure("only an agent that was asked may answer, and only the one who asked")
	}
	if t == Event {
		return fault.Cure("%s; an agent may tell its asker something while it works for him", m.cure(from, t))
	}
	return fault.Cure("%s", m.cure(from, t))
}

func (Rule) covers(who Identifier, name string) bool {
	return name == All || name == who.AgentID || name == who.AgentType || name == string(Role(who.AgentType).Rank()) ||
		RolePrefix+name == who.AgentID
}

// cure names whom the sender may address instead.
func (m Matrix) cure(from Identifier, t Type) string {
	var to []string
	for _, rule := range m {
		if rule.covers(from, rule.From) && slices.Contains(rule.Types, t) {
			to = append(to, rule.To)
		}
	}
	if len(to) == 0 {
		return fmt.Sprintf("it may send a %s to nobody; ask your leader", t)
	}
	return fmt.Sprintf("it may send a %s to: %v", t, to)
}

func sizeText(size, limit int) string {
	return fmt.Sprintf("has %d bytes; the limit is %d", size, limit)
}
