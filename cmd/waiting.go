package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

// errShutDown says that somebody ended the company while a sender waited.
var errShutDown = errors.New("the hub was shut down; the task goes on at the next: orchestrator-cc up")

// whyWaiting asks what a task waits for; "" where it simply takes its time. A
// hub that cannot be asked is on its way back, unless it was shut down.
func (l *link) whyWaiting(ctx context.Context, id string) (string, error) {
	task, err := l.Task(ctx, id)
	if err == nil {
		var o protocol.Overview
		if o, err = l.Overview(ctx); err == nil {
			return hindrance(task, o.Agents), nil
		}
	}
	if errors.Is(err, api.ErrUnreachable) && l.shutDown(ctx) {
		return "", errShutDown
	}
	return "", nil
}

// shutDown tells an orderly end from a crash: only the former takes both the
// hub's card and its session away.
func (l *link) shutDown(ctx context.Context) bool {
	if l.card.Session == "" {
		return false // A hub elsewhere leaves no card here.
	}
	if _, found, err := l.place.readHubCard(); err != nil || found {
		return false
	}
	there, err := cardServer(l.place, l.card).Exists(ctx)
	return err == nil && !there
}

// hindrance is what keeps the agents from a task and those made for it; the
// deepest one counts, because everybody above waits for it.
func hindrance(t protocol.Task, agents []protocol.AgentStatus) string {
	switch {
	case t.State.Done():
		return ""
	case t.State != protocol.TaskNeedsHuman && t.Reason != "": // its tokens are used up
		return fmt.Sprintf("%s; let it go on with: orchestrator-cc approve %s", oneLine(t.Reason), short(t.ID))
	}
	open := false
	for _, child := range t.Children {
		if why := hindrance(child, agents); why != "" {
			return why
		}
		open = open || !child.State.Done()
	}
	if open {
		return ""
	}
	for _, s := range agents {
		if s.Name == t.Agent {
			return held(t, s)
		}
	}
	return ""
}

// held words what keeps an agent from its task, and what a person can do.
func held(t protocol.Task, s protocol.AgentStatus) string {
	switch s.State {
	case protocol.Waiting:
		return fmt.Sprintf("%s needs you: %s; look at it with: orchestrator-cc attach %s", s.Name, oneLine(s.Reason), s.Name)
	case protocol.Paused:
		if s.Reason != "" {
			return fmt.Sprintf("%s is paused; %s", s.Name, oneLine(s.Reason))
		}
		return fmt.Sprintf("%s is paused; let it go on with: orchestrator-cc resume %s", s.Name, s.Name)
	case protocol.Limited:
		return fmt.Sprintf("%s: %s; try now with: orchestrator-cc resume %s", s.Name, oneLine(s.Reason), s.Name)
	case protocol.Dead, protocol.Degraded:
		return fmt.Sprintf("%s is %s: %s", s.Name, s.State, oneLine(s.Reason))
	case protocol.Starting:
		return strings.TrimSuffix(s.Name+" is starting: "+oneLine(s.Reason), ": ")
	}
	switch {
	case s.State == protocol.Idle && s.Reason != "":
		return s.Name + ": " + oneLine(s.Reason)
	case s.Task != "" && s.Task != t.ID:
		return fmt.Sprintf("%s is at another task first; see: orchestrator-cc status", s.Name)
	}
	return ""
}
