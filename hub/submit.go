package hub

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// Submit is the only way in for a message: it is stamped, validated,
// permitted and on disk when Submit returns, or refused and nowhere.
func (h *Hub) Submit(ctx context.Context, in protocol.Accepted) (protocol.Entry, error) {
	now := time.Now().UTC()
	in.Message.Stamp(now)
	if err := in.Message.Validate(h.payloadLimit()); err != nil {
		return protocol.Entry{}, err
	}
	if err := h.book.admit(ctx, &in, now); err != nil {
		return protocol.Entry{}, err
	}
	defer h.book.release(in.Message.ID())
	e := protocol.Entry{Time: now, Kind: protocol.KindMessage, Message: &in}
	last, err := h.book.stream.Append(ctx, e)
	if err != nil {
		return protocol.Entry{}, protocol.Faultf(protocol.CodeStorage, "the message could not be stored: %v", err).
			Cure("make room or permissions right, see orchestrator-cc doctor; then send it again")
	}
	e.Seq = last
	err = h.book.await(ctx, last)
	h.hurry(in.Message)
	return e, err
}

func (h *Hub) payloadLimit() int {
	if n := h.o.Config.Limits.PayloadBytes; n > 0 {
		return n
	}
	return protocol.MaxPayload
}

// Party finds whom a name stands for.
func (h *Hub) Party(name string) (protocol.Identifier, error) {
	switch {
	case name == protocol.User:
		return protocol.FromUser(), nil
	case name == protocol.All:
		return protocol.Identifier{AgentType: protocol.All, AgentID: protocol.All}, nil
	case strings.HasPrefix(name, protocol.RolePrefix):
		return protocol.Identifier{AgentType: protocol.All, AgentID: name}, nil
	}
	for _, a := range h.o.Config.Agents {
		if a.Name == name {
			return protocol.Party(a.Name, a.Role), nil
		}
	}
	return protocol.Identifier{}, protocol.Faultf(protocol.CodeUnknownAgent, "there is no agent %q", name).
		Cure("the agents are %s", strings.Join(h.order, ", "))
}

// PaneSecret is what proves that a caller sits in an agent's pane. It is
// derived, not stored, so that panes which outlive a hub keep theirs.
func PaneSecret(key []byte, agent string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "pane %s", agent)
	return hex.EncodeToString(mac.Sum(nil))
}

// Caller tells which agent holds a pane secret.
func (h *Hub) Caller(secret string) (protocol.Identifier, bool) {
	i := slices.IndexFunc(h.order, func(name string) bool {
		return hmac.Equal([]byte(secret), []byte(PaneSecret(h.o.Secret, name)))
	})
	if i < 0 {
		return protocol.Identifier{}, false
	}
	who, err := h.Party(h.order[i])
	return who, err == nil
}

// recentTasks is how many closed tasks an overview shows besides the open ones.
const recentTasks = 10

// Overview is everything `status` shows.
func (h *Hub) Overview() protocol.Overview {
	var o protocol.Overview
	now := time.Now().UTC()
	h.book.read(func(l *ledger.Ledger) {
		o.Tasks, o.Inbox = l.Recent(recentTasks), l.Inbox(now)
		for _, name := range h.order {
			o.Agents = append(o.Agents, h.workers[name].status(l, now))
		}
	})
	for _, a := range o.Agents {
		if item, ok := h.workers[a.Name].item(a); ok {
			o.Inbox = append(o.Inbox, item)
		}
	}
	o.Hub = h.health()
	return o
}

// recently is how long a hub tells of the deaths before it.
const recently = 10 * time.Minute

func (h *Hub) health() protocol.Health {
	health := h.o.Health
	health.Seq = h.o.Stream.Last()
	health.Events = h.o.Server.Connected()
	health.Problems = []string{}
	if err := h.o.Stream.Health(); err != nil {
		health.Problems = append(health.Problems, fmt.Sprintf("stream: %v; nothing new is accepted until there is room", err))
	}
	if err := h.o.Journal.Problem(); err != nil {
		health.Problems = append(health.Problems, "journal: "+err.Error())
	}
	for _, d := range h.o.Stream.Damage() {
		health.Problems = append(health.Problems, "stream: "+d)
	}
	if h.o.Deaths > 0 && time.Since(health.Started) < recently {
		health.Problems = append(health.Problems, fmt.Sprintf("the hub died %d times in a row before this start; its diary says why", h.o.Deaths))
	}
	health.Problems = append(health.Problems, h.keeper.problems()...)
	return health
}

// Task returns one task with its tree, by id or unique prefix.
func (h *Hub) Task(id string) (t protocol.Task, err error) {
	h.book.read(func(l *ledger.Ledger) { t, err = l.Task(id) })
	return t, err
}

// Tasks lists the root tasks, newest first.
func (h *Hub) Tasks() (tasks []protocol.Task) {
	h.book.read(func(l *ledger.Ledger) { tasks = l.Tasks() })
	return tasks
}

// Poke makes an agent's owner look at its channel now. It waits for nobody.
func (h *Hub) Poke(agent string) {
	if w := h.workers[agent]; w != nil {
		w.poke()
	}
}

// Metrics are the communication figures so far.
func (h *Hub) Metrics() (m protocol.Metrics) {
	h.book.read(func(l *ledger.Ledger) { m = l.Metrics() })
	return m
}

// Answer presses keys in the dialog of an agent's pane that somebody has seen,
// and in no other.
func (h *Hub) Answer(ctx context.Context, agent, dialog string, keys []string) error {
	w := h.workers[agent]
	if w == nil || w.agent == nil {
		return protocol.Faultf(protocol.CodeUnknownAgent, "there is no agent %q at a pane", agent)
	}
	err := w.agent.Answer(ctx, dialog, keys)
	if errors.Is(err, agents.ErrAnotherDialog) {
		return protocol.Faultf(protocol.CodeConflict, "%s: %v", agent, err).Cure("look again: orchestrator-cc inbox")
	}
	return err
}

// Approvals is what agents asked for and people decided, and up to where.
func (h *Hub) Approvals() (a protocol.Approvals, seq uint64) {
	h.book.read(func(l *ledger.Ledger) { a, seq = l.Approvals(), l.Seq() })
	return a, seq
}
