package agents

import (
	"testing"

	"orchestrator-cc/protocol"
)

func TestNextListsEveryArrow(t *testing.T) {
	t.Parallel()
	const (
		starting = protocol.Starting
		idle     = protocol.Idle
		busy     = protocol.Busy
		waiting  = protocol.Waiting
		degraded = protocol.Degraded
		dead     = protocol.Dead
	)
	observations := []observation{unclear, ready, working, asking, occupied, trouble, died, replaced}
	for _, row := range []struct {
		from protocol.AgentState
		to   [8]protocol.AgentState // in the order of the observations
	}{
		{starting, [8]protocol.AgentState{starting, idle, busy, waiting, waiting, degraded, dead, starting}},
		{idle, [8]protocol.AgentState{idle, idle, busy, waiting, waiting, degraded, dead, starting}},
		{busy, [8]protocol.AgentState{busy, idle, busy, waiting, waiting, degraded, dead, starting}},
		{waiting, [8]protocol.AgentState{busy, idle, busy, waiting, waiting, degraded, dead, starting}},
		{degraded, [8]protocol.AgentState{degraded, idle, busy, waiting, waiting, degraded, dead, starting}},
		{dead, [8]protocol.AgentState{dead, dead, dead, dead, dead, dead, dead, starting}},
	} {
		for i, o := range observations {
			if got := next(row.from, o); got != row.to[i] {
				t.Errorf("next(%s, %d): got %s, want %s", row.from, o, got, row.to[i])
			}
		}
	}
}
