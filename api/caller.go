package api

import (
	"context"
	"strings"

	"orchestrator-cc/protocol"
)

// caller is who speaks in one request, what he may do, and in which session.
//
//	on the socket   the owner, or an agent by its pane's secret, in the session of its task
//	on TCP          a program by its key, in one session of that key
type caller struct {
	who     protocol.Identifier
	key     *Key   // nil on the socket
	named   bool   // the request names its session
	session string // as the stream knows it: the key's id comes first
	pid     int    // of the process at the other end of the socket, 0 = unknown
}

// defaultSession is where a key works that names no session.
const defaultSession = "default"

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf is who speaks in a request that passed a gate.
func callerOf(ctx context.Context) caller {
	c, ok := ctx.Value(callerKey{}).(caller)
	if !ok {
		return caller{}
	}
	return c
}

// sender is who speaks, as a message names him.
func sender(ctx context.Context) protocol.Identifier { return callerOf(ctx).who }

// may tells whether the caller has a scope. The owner of the socket has all;
// an agent has all but the right to answer what agents ask.
func (c caller) may(s Scope) bool {
	if c.key != nil {
		return c.key.May(s)
	}
	return c.who.AgentID == protocol.User || s != ScopeApprove
}

// in puts the caller into a session he names. The key's id becomes a part of
// it, so a session belongs to its key by its very name.
func (c caller) in(session string) (caller, error) {
	if session == "" {
		if c.key != nil {
			c.session = c.key.ID + "/" + defaultSession
		}
		return c, nil
	}
	if len(session) > 256 || strings.ContainsAny(session, "/\r\n\x00") {
		return c, protocol.Invalid("sessionId", "is not a name for a session").Cure("use up to 256 letters, digits, dots and dashes")
	}
	c.named, c.session = true, session
	if c.key != nil {
		c.session = c.key.ID + "/" + session
	}
	return c, nil
}

// inside tells that the caller is an agent in its pane.
func (c caller) inside() bool { return c.key == nil && c.who.AgentID != protocol.User }

// oversees tells that the caller is in no session and sees all of them.
func (c caller) oversees() bool { return !c.named && (c.key == nil || c.key.May(ScopeAdmin)) }

// sees tells whether what belongs to a session is listed for the caller.
func (c caller) sees(session string) bool { return c.oversees() || session == c.session }

// owns tells whether the caller may ask for one thing of a session by its full
// id: what he sees, and without a named session whatever is his key's.
func (c caller) owns(session string) bool {
	return c.sees(session) || c.key != nil && !c.named && strings.HasPrefix(session, c.key.ID+"/")
}

// shown is a session's name as its own key knows it.
func (c caller) shown(session string) string {
	if c.key == nil {
		return session
	}
	_, name, found := strings.Cut(session, "/")
	if !found {
		return session
	}
	return name
}

// label names the caller in the diary and in the journal.
func (c caller) label() string {
	if c.key != nil {
		return "key " + c.key.Name
	}
	return c.who.AgentID
}

// prove checks that a message names no other sender than the proved one.
func prove(ctx context.Context, claimed string) (protocol.Identifier, error) {
	who := sender(ctx)
	if claimed == "" || claimed == who.AgentID {
		return who, nil
	}
	fault := protocol.Faultf(protocol.CodeImpostor, "names %s, but the sender is %s", claimed, who.AgentID)
	fault.Field = "header.from.agent_id"
	return who, fault.Cure("leave the sender out: it is proved, not claimed")
}
