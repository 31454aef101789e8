package api

import (
	"context"
	"net"

	"orchestrator-cc/protocol"
)

// A process that descends from a pane is the agent in it, whatever credentials
// it leaves out. The kernel says which process is at the other end of the
// socket; its parents are walked when it matters.

type peerKey struct{}

// withPeer notes the process at the other end, as a server's ConnContext.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return ctx
	}
	pid := 0
	if err := raw.Control(func(fd uintptr) { pid = peerPID(int(fd)) }); err != nil {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, pid)
}

func peerOf(ctx context.Context) int {
	pid, ok := ctx.Value(peerKey{}).(int)
	if !ok {
		return 0
	}
	return pid
}

// mostParents ends the walk should the system lie about a circle.
const mostParents = 64

// descends tells whether a process is one of the given or has one of them
// among its parents.
func descends(pid int, from map[int]bool, parent func(int) int) bool {
	for range mostParents {
		if pid <= 1 {
			return false
		}
		if from[pid] {
			return true
		}
		pid = parent(pid)
	}
	return false
}

// inPane tells whether the caller is a program in some agent's pane.
func (s *Server) inPane(c caller) bool {
	return c.key == nil && DescendsFromPane(c.pid, s.hub.Overview().Agents)
}

// DescendsFromPane tells whether a process was started in an agent's pane.
func DescendsFromPane(pid int, agents []protocol.AgentStatus) bool {
	panes := map[int]bool{}
	for _, a := range agents {
		if a.PID > 1 {
			panes[a.PID] = true
		}
	}
	return descends(pid, panes, parentPID)
}
