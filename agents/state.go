package agents

import "orchestrator-cc/protocol"

// observation is what one look at the pane, or one event, says of an agent.
type observation int

const (
	unclear  observation = iota // nothing that decides
	ready                       // it would take a prompt now
	working                     // it works on something
	asking                      // a dialog stands in the way, which keys answer
	occupied                    // a person has to do something in the pane, or does: a draft, scrolling, signing in
	trouble                     // it cannot be read, or does not become ready
	died                        // its process or its pane is gone
	replaced                    // a new process was started for it
)

// next is the life of an agent:
//
//	starting --ready--> idle <--ready / working--> busy
//	starting, idle, busy, degraded --asking, occupied--> waiting_for_human --ready--> idle
//	                                           waiting_for_human --working, unclear--> busy
//	starting, idle, busy, waiting_for_human --trouble--> degraded --ready, working, asking, occupied--> as above
//	any --died--> dead --replaced--> starting
//
// A dead agent stays dead until it is replaced, whatever its screen still
// shows. An unclear look changes nothing, except that a person who is no
// longer waited for has let the agent go on.
func next(state protocol.AgentState, o observation) protocol.AgentState {
	switch {
	case o == replaced:
		return protocol.Starting
	case o == died || state == protocol.Dead:
		return protocol.Dead
	case o == ready:
		return protocol.Idle
	case o == working:
		return protocol.Busy
	case o == asking || o == occupied:
		return protocol.Waiting
	case o == trouble:
		return protocol.Degraded
	case state == protocol.Waiting:
		return protocol.Busy
	}
	return state
}
