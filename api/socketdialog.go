package api

import (
	"context"
	"time"

	"orchestrator-cc/protocol"
)

// The events about what a program asks in its pane. Dialogs are not in the
// stream: they are what the panes show now.
const (
	evDialog       = "onDialogRequest"
	evDialogClosed = "onDialogClosed"
)

type dialogPayload struct {
	ID      string `json:"dialogId"`
	Agent   string `json:"agent"`
	Text    string `json:"text,omitempty"`
	Screen  string `json:"screen,omitempty"`
	Task    string `json:"taskId,omitempty"`
	Session string `json:"sessionId"`
}

// dialogAnswer is a person's answer to the dialog he was shown.
type dialogAnswer struct {
	Agent string   `json:"agent"`
	ID    string   `json:"dialogId"`
	Keys  []string `json:"keys"`
}

// mostKeys bounds one answer.
const mostKeys = 20

func (a dialogAnswer) check() error {
	var bad protocol.Problems
	if a.Agent == "" {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.agent", "is missing"))
	}
	if a.ID == "" {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.dialogId", "is missing; say which dialog was seen"))
	}
	if len(a.Keys) == 0 || len(a.Keys) > mostKeys {
		bad.Faults = append(bad.Faults, protocol.Invalid("payload.keys", "are %d; give 1 to %d by their tmux names, such as Enter", len(a.Keys), mostKeys))
	}
	if len(bad.Faults) > 0 {
		return &bad
	}
	return nil
}

// answer presses a person's keys in the dialog, if it still stands there.
func (w *window) answer(ctx context.Context, a dialogAnswer) error {
	if fault := lacks(w.caller, ScopeApprove); fault != nil {
		return fault
	}
	for _, item := range w.dialogs() {
		if item.Agent == a.Agent {
			_, err := w.server.answerDialog(ctx, w.caller, item, a.ID, a.Keys)
			return err
		}
	}
	return protocol.Faultf(protocol.CodeNotFound, "%s shows no dialog to this session", a.Agent)
}

// dialogs are those of the session's tasks that stand in the panes now.
func (w *window) dialogs() (found []protocol.InboxItem) {
	for _, item := range w.server.overview(w.caller).Inbox {
		if item.Kind == protocol.InboxDialog && item.Dialog != "" {
			found = append(found, item)
		}
	}
	return found
}

// showDialogs tells of each dialog when it comes and when it goes.
func (w *window) showDialogs(ctx context.Context) error {
	shown := map[string]string{} // the dialog that the client knows, by agent
	for {
		changed := w.server.hub.Changed()
		now := map[string]string{}
		for _, item := range w.dialogs() {
			now[item.Agent] = item.Dialog
			if shown[item.Agent] == item.Dialog {
				continue
			}
			if err := w.send(ctx, w.frame(evDialog, dialogPayload{
				ID: item.Dialog, Agent: item.Agent, Text: item.Text, Screen: item.Screen, Task: item.Task, Session: w.name,
			})); err != nil {
				return err
			}
		}
		for agent, dialog := range shown {
			if now[agent] != "" {
				continue // another one has taken its place
			}
			if err := w.send(ctx, w.frame(evDialogClosed, dialogPayload{ID: dialog, Agent: agent, Session: w.name})); err != nil {
				return err
			}
		}
		shown = now
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		pause := time.NewTimer(partsEvery) // a screen that moves shows many
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil
		}
	}
}
