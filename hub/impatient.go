package hub

import (
	"context"
	"errors"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/protocol"
)

// errTryNow is why an exchange is cut short whose program waits for a limit by
// itself: a person does not want to wait.
var errTryNow = errors.New("tried at once")

// hurry lets agents that a person resumes try at once, where their programs wait
// for the end of a limit by themselves.
func (h *Hub) hurry(m protocol.Message) {
	order, ok := m.Payload.(*protocol.ControlPayload)
	if !ok || order.Command != protocol.Resume || m.From() != protocol.User || len(order.Params) > len("{}") {
		return // with parameters it is about tokens
	}
	for name, w := range h.workers {
		if m.To() == name || m.To() == protocol.All {
			w.hurry()
		}
	}
}

// hurry ends the turn of a program that waits. What a person typed there is
// left to that person.
func (w *worker) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil && !w.current.Begun && w.cut != nil && w.agent.Status().Waits.Why != "" {
		w.cut(errTryNow)
	}
}

// tryNow stops the program's turn, so that the next attempt can follow at once.
func (w *worker) tryNow(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopping)
	defer cancel()
	if err := w.agent.Interrupt(ctx); err != nil {
		return &agents.Failure{Code: protocol.CodeCancelled, Reason: "it is to try at once, but does not stop waiting: " + err.Error()}
	}
	return &agents.Failure{
		Code: protocol.CodeWall, Again: true, Until: time.Now(),
		Reason: "it waited for a limit by itself, and a person had it try at once",
	}
}
