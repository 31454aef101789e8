// Package apitest holds a small hub in memory, for tests of what stands in
// front of the real one: it stamps, validates, permits and numbers messages
// with the real rules, keeps tasks, and lets a test play the agents. It keeps
// nothing on disk and types into no pane.
package apitest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// Hub is the company in memory. Make it with New.
type Hub struct {
	door     sync.Mutex // one message after the other
	limit    int        // of open tasks; 0 = none
	mu       sync.Mutex
	entries  []protocol.Entry
	grown    chan struct{} // closed and replaced when an entry comes
	overview protocol.Overview
	tasks    []protocol.Task
	secrets  map[string]string
	react    func(*Hub, protocol.Accepted)
	stopped  chan struct{}
	ending   sync.Once
	writings map[string]protocol.Writing
	written  chan struct{} // closed and replaced when one goes on
	changed  chan struct{} // and at a Change
}

// New makes a hub with the five default agents, all idle. react, when not nil,
// is called for each accepted message, on the submitter's goroutine.
func New(react func(*Hub, protocol.Accepted)) *Hub {
	roles := []struct {
		name string
		role protocol.Role
	}{
		{"grand_boss", protocol.GrandBoss},
		{"middle_manager", protocol.MiddleManager},
		{"coding_writing_specialist", protocol.SpecialistCoding},
		{"research_analysis_specialist", protocol.SpecialistResearch},
		{"testing_specialist", protocol.SpecialistTesting},
	}
	h := &Hub{
		grown: make(chan struct{}), react: react, stopped: make(chan struct{}), secrets: map[string]string{},
		writings: map[string]protocol.Writing{}, written: make(chan struct{}), changed: make(chan struct{}),
	}
	for _, r := range roles {
		h.overview.Agents = append(h.overview.Agents, protocol.AgentStatus{Name: r.name, Role: r.role, Engine: "builtin", State: protocol.Idle})
		h.secrets["secret-of-"+r.name] = r.name
	}
	h.overview.Hub = protocol.Health{PID: 1, Version: "test", Session: "orchestrator-cc", Socket: "orchestrator-cc", Events: true}
	return h
}

// Submit accepts a message by the rules of the protocol.
func (h *Hub) Submit(_ context.Context, in protocol.Accepted) (protocol.Entry, error) {
	entry, err := h.accept(&in)
	if err == nil && h.react != nil {
		h.react(h, in)
	}
	return entry, err
}

func (h *Hub) accept(in *protocol.Accepted) (protocol.Entry, error) {
	h.door.Lock()
	defer h.door.Unlock()
	now := time.Now().UTC()
	in.Message.Stamp(now)
	if err := in.Message.Validate(protocol.MaxPayload); err != nil {
		return protocol.Entry{}, err
	}
	m := in.Message
	if err := protocol.DefaultMatrix().Permit(m.Header.From, m.Header.To, m.Header.Type, false); err != nil {
		return protocol.Entry{}, err
	}
	if h.knows(m.ID()) {
		return protocol.Entry{}, protocol.Faultf(protocol.CodeDuplicate, "message %s was accepted before", m.ID())
	}
	if m.Header.Type == protocol.Request {
		if h.limit > 0 && len(h.Tasks()) >= h.limit {
			return protocol.Entry{}, protocol.Faultf(protocol.CodeLimit, "%s has %d open tasks", m.To(), h.limit)
		}
		in.Task = m.ID()
		seq := h.Overview().Hub.Seq + 1
		h.PutTask(protocol.Task{ID: m.ID(), Seq: seq, Root: m.ID(), From: m.From(), Agent: m.To(), Text: m.Text(), State: protocol.TaskPending, Session: in.Session, Created: now, Updated: now})
	}
	return h.Append(protocol.Entry{Time: now, Kind: protocol.KindMessage, Message: in}), nil
}

// Limit lets only so many tasks in.
func (h *Hub) Limit(tasks int) {
	h.door.Lock()
	defer h.door.Unlock()
	h.limit = tasks
}

func (h *Hub) knows(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.entries, func(e protocol.Entry) bool { return e.Message != nil && e.Message.Message.ID() == id })
}

// Append puts an entry on the stream, numbered and dated.
func (h *Hub) Append(e protocol.Entry) protocol.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.Seq = uint64(len(h.entries) + 1)
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	h.entries = append(h.entries, e)
	h.overview.Hub.Seq = e.Seq
	close(h.grown)
	h.grown = make(chan struct{})
	return e
}

// Finish ends a task: its state changes, and the closing message follows.
func (h *Hub) Finish(id string, p protocol.Payload, closing protocol.Closing, change func(*protocol.Task)) {
	h.mu.Lock()
	i := slices.IndexFunc(h.tasks, func(t protocol.Task) bool { return t.ID == id })
	change(&h.tasks[i])
	t := h.tasks[i]
	h.mu.Unlock()
	from, _ := h.Party(t.Agent)
	to, _ := h.Party(t.From)
	m := protocol.New(from, to, p).About(id)
	m.Stamp(time.Now())
	e := h.Append(protocol.Entry{Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: t.Root, Session: t.Session, Closing: &closing}})
	t.ResultSeq = e.Seq
	h.PutTask(t)
}

// Reply answers a task with a text.
func (h *Hub) Reply(id, text string) {
	closing := protocol.Closing{Status: protocol.Success, LatencyMS: 12, Evidence: "channel"}
	h.Finish(id, protocol.Answer(protocol.Success, text), closing, func(t *protocol.Task) {
		t.State, t.Result, t.Progress, t.Evidence = protocol.TaskCompleted, text, 100, "channel"
	})
}

// PutTask adds a task, or replaces the one with its id.
func (h *Hub) PutTask(t protocol.Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.IndexFunc(h.tasks, func(old protocol.Task) bool { return old.ID == t.ID }); i >= 0 {
		h.tasks[i] = t
		return
	}
	h.tasks = slices.Insert(h.tasks, 0, t)
}

// Change edits what Overview shows; its tasks come from PutTask.
func (h *Hub) Change(edit func(*protocol.Overview)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	edit(&h.overview)
	close(h.changed)
	h.changed = make(chan struct{})
}

// Changed closes at the next Change.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Overview is the state as a copy.
func (h *Hub) Overview() protocol.Overview {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.overview
	o.Agents, o.Inbox, o.Tasks = slices.Clone(o.Agents), slices.Clone(o.Inbox), slices.Clone(h.tasks)
	return o
}

// Task finds a task by id or unique prefix.
func (h *Hub) Task(id string) (protocol.Task, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tasks {
		if id != "" && strings.HasPrefix(t.ID, id) {
			return t, nil
		}
	}
	return protocol.Task{}, protocol.Faultf(protocol.CodeNotFound, "there is no task %s", id).Cure("see orchestrator-cc tasks")
}

// Tasks lists the tasks, newest first.
func (h *Hub) Tasks() []protocol.Task { return h.Overview().Tasks }

// Poke is heard by nobody: there is no pane.
func (h *Hub) Poke(string) {}

// Metrics counts messages.
func (h *Hub) Metrics() protocol.Metrics {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := protocol.Metrics{ByType: map[protocol.Type]int{}, ByAgent: map[string]int{}, Tokens: protocol.TokenStats{ByAgent: map[string]protocol.Tokens{}}}
	for _, e := range h.entries {
		if e.Message != nil {
			m.MessagesSent++
			m.ByType[e.Message.Message.Header.Type]++
		}
		if u := e.Usage; u != nil {
			m.Tokens.ByAgent[u.Agent] = m.Tokens.ByAgent[u.Agent].Plus(u.Tokens)
		}
	}
	return m
}

// Answer knows one dialog, "d1".
func (h *Hub) Answer(_ context.Context, agent, dialog string, _ []string) error {
	if dialog != "d1" {
		return protocol.Faultf(protocol.CodeConflict, "%s shows another dialog", agent)
	}
	return nil
}

// Approvals folds what was asked and decided.
func (h *Hub) Approvals() (a protocol.Approvals, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.entries {
		a.Apply(e)
	}
	return a, uint64(len(h.entries))
}

// Caller knows the secrets "secret-of-<agent>".
func (h *Hub) Caller(secret string) (protocol.Identifier, bool) {
	name, ok := h.secrets[secret]
	if !ok {
		return protocol.Identifier{}, false
	}
	who, err := h.Party(name)
	return who, err == nil
}

// Party finds the agents, the user and groups.
func (h *Hub) Party(name string) (protocol.Identifier, error) {
	if name == protocol.User {
		return protocol.FromUser(), nil
	}
	if name == protocol.All || strings.HasPrefix(name, protocol.RolePrefix) {
		return protocol.Identifier{AgentType: protocol.All, AgentID: name}, nil
	}
	for _, a := range h.Overview().Agents {
		if a.Name == name {
			return protocol.Party(a.Name, a.Role), nil
		}
	}
	return protocol.Identifier{}, protocol.Faultf(protocol.CodeUnknownAgent, "there is no agent %q", name)
}

// Write lets an agent write at an answer; without a text it is over.
func (h *Hub) Write(w protocol.Writing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.Text == "" {
		delete(h.writings, w.Agent)
		return
	}
	h.writings[w.Agent] = w
	close(h.written)
	h.written = make(chan struct{})
}

// Writings are the answers being written.
func (h *Hub) Writings() (open []protocol.Writing, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.writings)), h.written
}

// Stop closes Stopped.
func (h *Hub) Stop() { h.ending.Do(func() { close(h.stopped) }) }

// Stopped is closed by Stop.
func (h *Hub) Stopped() <-chan struct{} { return h.stopped }

// Follow reads the stream.
func (h *Hub) Follow(after uint64, task string) *Follower {
	return &Follower{hub: h, next: after, task: task}
}

// Follower reads the stream for one reader.
type Follower struct {
	hub  *Hub
	next uint64
	task string
}

// Next waits for the next entry of its task.
func (f *Follower) Next(ctx context.Context) (protocol.Entry, error) {
	for {
		f.hub.mu.Lock()
		grown := f.hub.grown
		var entry *protocol.Entry
		if f.next < uint64(len(f.hub.entries)) {
			entry = &f.hub.entries[f.next]
			f.next++
		}
		f.hub.mu.Unlock()
		if entry != nil {
			if f.task == "" || entry.Message != nil && entry.Message.Task == f.task || entry.Step != nil && slices.Contains(entry.Step.Messages, f.task) {
				return *entry, nil
			}
			continue
		}
		select {
		case <-ctx.Done():
			return protocol.Entry{}, ctx.Err()
		case <-grown:
		}
	}
}
