package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

// decorate keeps the session's borders and status line true, and rings the
// bell when something new waits for a person. It draws only what changed, and
// at most a few times a second, however fast things change.
func (h *Hub) decorate(ctx context.Context) error {
	const pause = 200 * time.Millisecond
	drawn := map[string]string{}
	var bell int
	for ctx.Err() == nil {
		changed := h.book.wait()
		o := h.Overview()
		asked, _ := h.Approvals()
		waiting := len(o.Inbox) + asked.Pending()
		h.draw(ctx, o, waiting, drawn)
		if waiting > bell {
			h.said(h.o.Server.Bell(ctx), "bell not rung")
		}
		bell = waiting
		sleep(ctx, time.Now().Add(pause), nil, nil)
		sleep(ctx, firstUntil(o.Agents), changed, h.redraw)
	}
	return nil
}

// firstUntil is when the first wall ends, which nothing else tells of.
func firstUntil(agents []protocol.AgentStatus) (first time.Time) {
	for _, a := range agents {
		if !a.Until.IsZero() && (first.IsZero() || a.Until.Before(first)) {
			first = a.Until
		}
	}
	return first
}

// draw writes the labels and the status line that are not drawn yet. A new
// pane has nothing drawn on it, so what was drawn is kept with its process.
func (h *Hub) draw(ctx context.Context, o protocol.Overview, waiting int, drawn map[string]string) {
	session := ""
	for _, a := range o.Agents {
		label := labelOf(a)
		key := fmt.Sprint(label, a.Pane, a.PID)
		session += fmt.Sprint(a.PID, " ")
		if drawn[a.Name] != key && h.said(h.o.Server.Label(ctx, a.Name, label), "label not drawn") {
			drawn[a.Name] = key
		}
	}
	line := statusLine(o, waiting)
	if drawn[""] != session+line && h.said(h.o.Server.StatusLine(ctx, line), "status line not drawn") {
		drawn[""] = session + line
	}
}

// said notes in the diary what could not be drawn; the next change tries again.
func (h *Hub) said(err error, what string) bool {
	if err != nil {
		h.o.Log.Debug().Err(err).Msg(what)
	}
	return err == nil
}

// labelOf is an agent's border: its name, its state, and what it is at.
func labelOf(a protocol.AgentStatus) tmux.Label {
	l := tmux.Label{Title: a.Name, State: string(a.State), Colour: colourOf(a.State)}
	switch {
	case a.State != protocol.Busy && a.Reason != "":
		l.Task = a.Reason
	case a.Task != "" && a.State == protocol.Idle:
		l.Task = "task " + short(a.Task) + ", waiting for its delegates"
	case a.Task != "":
		l.Task = "task " + short(a.Task)
	}
	if a.Queue > 0 {
		l.Task = strings.TrimPrefix(l.Task+fmt.Sprintf(" · %d waiting", a.Queue), " · ")
	}
	return l
}

func colourOf(s protocol.AgentState) string {
	switch s {
	case protocol.Busy:
		return "cyan"
	case protocol.Idle:
		return "green"
	case protocol.Waiting, protocol.Paused, protocol.Limited:
		return "yellow"
	case protocol.Dead, protocol.Degraded:
		return "red"
	}
	return "default"
}

// statusLine counts the work and names what waits for a person.
func statusLine(o protocol.Overview, waiting int) string {
	var open, done int
	for _, t := range o.Tasks {
		if t.State.Done() {
			done++
		} else {
			open++
		}
	}
	line := fmt.Sprintf("%d open · %d done", open, done)
	if waiting > 0 {
		line += fmt.Sprintf(" · %d for you: orchestrator-cc inbox", waiting)
	}
	if n := len(o.Hub.Problems); n > 0 {
		line += fmt.Sprintf(" · problems (%d): orchestrator-cc status", n)
	}
	return line
}

// short is the part of an id that people type.
func short(id string) string { return id[:min(8, len(id))] }
