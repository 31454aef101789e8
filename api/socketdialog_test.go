package api_test

import (
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// dialog puts a dialog of the boss before people, or takes it away.
func dialog(hub *apitest.Hub, task, id string) {
	hub.Change(func(o *protocol.Overview) {
		o.Inbox = nil
		if id != "" {
			o.Inbox = []protocol.InboxItem{{
				ID: "grand_boss", Kind: protocol.InboxDialog, Agent: "grand_boss", Task: task,
				Text: "a dialog waits for an answer", Screen: "Do you trust this folder?", Dialog: id,
			}}
		}
	})
}

// A dialog in a pane is shown to the window whose task it holds up, answered
// from there, and told to be gone.
func TestSocketDialog(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{})
	w, other := p.window(p.key("ui"), "?sessionId=desk"), p.window(p.key("other"), "?sessionId=elsewhere")
	w.expect("onAgentStateChange", "sessionId", "desk")
	other.expect("onAgentStateChange", "sessionId", "elsewhere")
	w.say(`{"type":"submitUserInput","payload":{"text":"look around"}}`)
	task, _ := w.expect("onAgentStateChange", "state", "thinking").Payload["taskId"].(string)

	dialog(hub, task, "d0")
	w.expect("onDialogRequest", "dialogId", "d0")
	dialog(hub, task, "d1")
	shown := w.expect("onDialogRequest", "dialogId", "d1").Payload
	if shown["agent"] != "grand_boss" || shown["screen"] != "Do you trust this folder?" || shown["taskId"] != task || shown["sessionId"] != "desk" {
		t.Errorf("got %v, want the agent, its screen, the task and the session", shown)
	}
	w.say(`{"type":"provideDialogAnswer","payload":{"agent":"grand_boss","dialogId":"d0","keys":["Enter"]}}`)
	if f := w.hear(); f.Type != "onError" || !strings.Contains(errorText(f), "E_CONFLICT") {
		t.Errorf("got %v, want the answer to an old dialog refused", f)
	}
	other.say(`{"type":"provideDialogAnswer","payload":{"agent":"grand_boss","dialogId":"d1","keys":["Enter"]}}`)
	if f := other.hear(); f.Type != "onError" || !strings.Contains(errorText(f), "E_NOT_FOUND") {
		t.Errorf("got %v, want no dialog for another session", f)
	}
	w.say(`{"type":"provideDialogAnswer","payload":{"agent":"grand_boss","dialogId":"d1","keys":["1","Enter"]}}`)
	for len(dialogAnswers(t, hub)) == 0 && w.ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	dialog(hub, task, "")
	w.expect("onDialogClosed", "dialogId", "d1")
	hub.Reply(task, "it is trusted")
	w.expect("onNewMessage", "content", "it is trusted")
	if text := dialogAnswers(t, hub); len(text) != 1 || !strings.Contains(text[0], "key ui pressed 1 Enter in the dialog of grand_boss") {
		t.Errorf("got %q in the stream, want who pressed what, once", text)
	}
}

// Whoever opens a window while a dialog waits is shown it; without the scope
// nobody answers one.
func TestSocketDialogBefore(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{})
	key := p.key("ui", api.ScopeRead, api.ScopeSubmit)
	w := p.window(key, "?sessionId=desk")
	w.hear()
	w.say(`{"type":"submitUserInput","payload":{"text":"look around"}}`)
	task, _ := w.expect("onAgentStateChange", "state", "thinking").Payload["taskId"].(string)
	dialog(hub, task, "d1")
	w.expect("onDialogRequest", "dialogId", "d1")
	late := p.window(key, "?sessionId=desk")
	late.expect("onAgentStateChange", "state", "thinking")
	late.expect("onDialogRequest", "dialogId", "d1")
	late.say(`{"type":"provideDialogAnswer","payload":{"agent":"grand_boss","dialogId":"d1","keys":["Enter"]}}`)
	if f := late.hear(); f.Type != "onError" || !strings.Contains(errorText(f), "E_FORBIDDEN") {
		t.Errorf("got %v, want the answer refused for want of the scope", f)
	}
}

// dialogAnswers are the answers to dialogs in the stream.
func dialogAnswers(t *testing.T, hub *apitest.Hub) (texts []string) {
	t.Helper()
	_, last := hub.Approvals()
	stream := hub.Follow(0, "")
	for range last {
		e, err := stream.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Message == nil {
			continue
		}
		if p, ok := e.Message.Message.Payload.(*protocol.EventPayload); ok && p.EventType == protocol.EventDialogAnswered {
			texts = append(texts, string(p.Data))
		}
	}
	return texts
}
