package hub

import (
	"encoding/json"

	"orchestrator-cc/protocol"
)

// asked is the tool calls that wait for a person's word, folded from the
// stream. The interface for programs keeps their details; the session only
// says how many there are.
type asked map[string]bool

func (a asked) apply(e protocol.Entry) {
	if e.Message == nil {
		return
	}
	event, ok := e.Message.Message.Payload.(*protocol.EventPayload)
	if !ok {
		return
	}
	var about struct {
		ID string `json:"confirmationId"`
	}
	switch event.EventType {
	case protocol.EventConfirmationRequest:
		if json.Unmarshal(event.Data, &about) == nil {
			a[about.ID] = true
		}
	case protocol.EventConfirmationAnswer:
		if json.Unmarshal(event.Data, &about) == nil {
			delete(a, about.ID)
		}
	}
}
