// Package protocol holds the words of the house: who speaks (roles and ranks),
// what is said (typed messages), what is remembered (the entries of the
// stream), what is shown (views), who may speak to whom, and how a mistake is
// named. It is pure: no clock, no file, no goroutine.
//
//	Message   one hop between two parties, in the envelope of the agent protocol
//	Entry     one line of the stream: a message accepted, or a step of its delivery
//	Task      a request and everything that was done for it, as a tree
package protocol

import "strings"

// Version is the protocol version every message carries.
const Version = "1.0"

// Parties that are not agents. No agent may bear one of these names.
const (
	User = "user" // the person, or a program that speaks for one
	Hub  = "hub"  // the orchestrator itself
	All  = "all"  // as a recipient: every agent
)

// RolePrefix addresses every agent of a rank, as in "role:specialist".
const RolePrefix = "role:"

// Role is an agent's place in the company, as written in the configuration.
type Role string

// The roles of the five default agents. Any other role that begins with
// "specialist_" is a specialist too.
const (
	GrandBoss          Role = "grand_boss"
	MiddleManager      Role = "middle_manager"
	SpecialistCoding   Role = "specialist_coding_writing"
	SpecialistResearch Role = "specialist_research_analysis"
	SpecialistTesting  Role = "specialist_testing"
)

// Rank orders the parties; requests only go down the ranks.
type Rank string

// The ranks, highest first. The hub stands outside the order: it may tell
// anyone about errors and events, and asks nobody for work.
const (
	RankUser       Rank = "user"
	RankBoss       Rank = "boss"
	RankManager    Rank = "manager"
	RankSpecialist Rank = "specialist"
	RankHub        Rank = "hub"
	RankNone       Rank = ""
)

// Rank tells where a role stands, and RankNone for a role that does not exist.
func (r Role) Rank() Rank {
	switch {
	case r == GrandBoss:
		return RankBoss
	case r == MiddleManager:
		return RankManager
	case strings.HasPrefix(string(r), "specialist_") && len(r) > len("specialist_"):
		return RankSpecialist
	case r == User:
		return RankUser
	case r == Hub:
		return RankHub
	}
	return RankNone
}

// Identifier names a sender or a recipient.
type Identifier struct {
	AgentType string `json:"agent_type"`     // the role, or user, hub, all
	AgentID   string `json:"agent_id"`       // the agent's name; what the journal shows
	Role      string `json:"role,omitempty"` // the rank, for readers outside the house
}

// Party makes the identifier of an agent, or of the user, the hub or a group.
func Party(name string, role Role) Identifier {
	return Identifier{AgentType: string(role), AgentID: name, Role: string(role.Rank())}
}

// FromUser and FromHub are the two parties that need no configuration.
func FromUser() Identifier { return Party(User, User) }

// FromHub identifies the orchestrator itself.
func FromHub() Identifier { return Party(Hub, Hub) }

// Type is the kind of a message.
type Type string

// The message types.
const (
	Request   Type = "request"
	Response  Type = "response"
	Event     Type = "event"
	Error     Type = "error"
	Heartbeat Type = "heartbeat"
	Control   Type = "control"
	Ack       Type = "ack"
	Nack      Type = "nack"
)

// Types lists every message type, in the order of the documents.
func Types() []Type {
	return []Type{Request, Response, Event, Error, Heartbeat, Control, Ack, Nack}
}

// Priority decides what is delivered first.
type Priority string

// The priorities.
const (
	Low      Priority = "low"
	Normal   Priority = "normal"
	High     Priority = "high"
	Critical Priority = "critical"
)

// Weight orders priorities: the higher goes first. An absent priority is
// normal; an unknown one weighs less than nothing.
func (p Priority) Weight() int {
	switch p {
	case Critical:
		return 3
	case High:
		return 2
	case Normal, "":
		return 1
	case Low:
		return 0
	}
	return -1
}
