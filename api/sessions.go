package api

import (
	"context"
	"slices"
	"sync"

	"orchestrator-cc/protocol"
)

// Sessions are walled off from each other here, and only here: whatever leaves
// the server, a list, a task or an entry of the stream, passes one of these
// functions with the caller it is for.

// sessions remembers which session a task belongs to, for entries that name
// only their task.
type sessions struct {
	find func(task string) (string, bool)

	mu    sync.Mutex
	known map[string]string
}

// mostKnown bounds the memory; what is forgotten is asked for again.
const mostKnown = 10_000

func newSessions(find func(string) (string, bool)) *sessions {
	return &sessions{find: find, known: map[string]string{}}
}

// ofTask is the session of a task's tree. A task that nobody knows any more
// belongs to nobody, so ok is false and nobody but an overseer sees it.
func (s *sessions) ofTask(root string) (session string, ok bool) {
	s.mu.Lock()
	session, ok = s.known[root]
	s.mu.Unlock()
	if ok {
		return session, true
	}
	if session, ok = s.find(root); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.known) >= mostKnown {
			clear(s.known)
		}
		s.known[root] = session
	}
	return session, ok
}

// ofEntry is the session an entry belongs to; ok is false where it belongs to
// none, or to the owner's own work.
func (s *sessions) ofEntry(e protocol.Entry) (string, bool) {
	root := ""
	switch {
	case e.Message != nil:
		if e.Message.Session != "" {
			return e.Message.Session, true
		}
		root = e.Message.Task
	case e.Step != nil:
		root = e.Step.Task
	}
	if root == "" {
		return "", false
	}
	session, ok := s.ofTask(root)
	return session, ok && session != ""
}

// visible tells whether the caller may see an entry: all of his session, and
// of what belongs to none the system's broadcasts.
func (s *Server) visible(c caller, e protocol.Entry) bool {
	if c.oversees() {
		return true
	}
	if session, ok := s.sessions.ofEntry(e); ok {
		return c.sees(session)
	}
	return c.inside() && c.session == "" || broadcast(e)
}

// veil takes out of an entry what is nobody's business outside: the inner name
// of a session, and why an agent is in its state, which may quote its task.
func (c caller) veil(e protocol.Entry) protocol.Entry {
	if c.key == nil {
		return e
	}
	if e.Message != nil {
		m := *e.Message
		m.Session = c.shown(m.Session)
		e.Message = &m
	}
	if e.Agent != nil {
		e.Agent = &protocol.AgentChange{Name: e.Agent.Name, State: e.Agent.State}
	}
	return e
}

// broadcast tells whether an entry that belongs to no session is for everyone:
// agents and the hub coming and going, and what the owner or the hub tells a
// whole group.
func broadcast(e protocol.Entry) bool {
	switch {
	case e.Kind == protocol.KindHub || e.Kind == protocol.KindAgent:
		return true
	case e.Message == nil || e.Message.Task != "":
		return false
	}
	h := e.Message.Message.Header
	return h.Type == protocol.Event && h.To.AgentType == protocol.All && (h.From.AgentID == protocol.User || h.From.AgentID == protocol.Hub)
}

// task finds one task for the caller. One of another session is not there, in
// the same words as one that never was.
func (s *Server) task(ctx context.Context, id string) (protocol.Task, error) {
	c := callerOf(ctx)
	t, err := s.hub.Task(id)
	if c.oversees() {
		return t, err
	}
	if err != nil || t.ID != id && !c.inside() || !c.owns(t.Session) {
		return protocol.Task{}, protocol.Faultf(protocol.CodeNotFound, "there is no task %q", id).Cure("GET /tasks lists those of your session")
	}
	return c.tree(t), nil
}

// tree is a task with the session's own name for itself all through.
func (c caller) tree(t protocol.Task) protocol.Task {
	t.Session = c.shown(t.Session)
	t.Children = slices.Clone(t.Children)
	for i, child := range t.Children {
		t.Children[i] = c.tree(child)
	}
	return t
}

// tasks lists those of the caller's session, newest first.
func (s *Server) tasks(c caller) []protocol.Task {
	out := newestFirst(s.hub.Tasks())
	if c.oversees() {
		return out
	}
	out = slices.DeleteFunc(out, func(t protocol.Task) bool { return !c.sees(t.Session) })
	for i, t := range out {
		out[i] = c.tree(t)
	}
	return out
}

// overview is everything the caller may see at once.
func (s *Server) overview(c caller) protocol.Overview {
	o := s.hub.Overview()
	o.Agents, o.Inbox, o.Hub.Problems = list(o.Agents), list(o.Inbox), list(o.Hub.Problems)
	if c.oversees() {
		o.Tasks, o.Inbox = newestFirst(o.Tasks), append(o.Inbox, s.waiting(c)...)
		return o
	}
	o.Tasks = s.tasks(c)
	for i, a := range o.Agents {
		o.Agents[i] = protocol.AgentStatus{Name: a.Name, Role: a.Role, Engine: a.Engine, State: a.State, Queue: a.Queue}
		if session, ok := s.sessions.ofTask(a.Task); a.Task != "" && ok && c.sees(session) {
			o.Agents[i].Task = a.Task
		}
	}
	o.Inbox = slices.DeleteFunc(o.Inbox, func(i protocol.InboxItem) bool {
		session, ok := s.sessions.ofTask(i.Task)
		return i.Task == "" || !ok || !c.sees(session)
	})
	o.Inbox = append(o.Inbox, s.waiting(c)...)
	return o
}
