package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrator-cc/agents"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// dialogs is what answerDialogs remembers of the dialogs in a pane.
type dialogs struct {
	answered map[string]string // by the configuration, for which attempt, once each: where that does not help, a person is asked
	used     map[string]bool   // confirmations by which a dialog was answered
	last     string            // the dialog that was answered last, while it is shown
}

// answerDialogs presses the keys that the configuration has for a dialog, and
// what allows a tool call that was allowed before the program itself asks.
func (w *worker) answerDialogs(ctx context.Context) error {
	if len(w.Engine.Answers) == 0 && w.Engine.AllowOnce.Dialog == nil {
		return nil
	}
	seen := dialogs{answered: map[string]string{}, used: map[string]bool{}}
	for {
		select {
		case <-w.asked:
		case <-ctx.Done():
			return nil
		}
		now := w.agent.Status()
		if now.State != protocol.Waiting || now.Dialog != seen.last {
			seen.last = ""
		}
		if now.State != protocol.Waiting || now.Dialog == "" || seen.last != "" {
			continue
		}
		if err := w.answerDialog(ctx, now, &seen); err != nil {
			w.log.Warn().Err(err).Msg("dialog not answered, or not recorded")
		}
	}
}

func (w *worker) answerDialog(ctx context.Context, now agents.Status, seen *dialogs) error {
	for _, call := range w.allowed(now.Asks) {
		if seen.used[call.ID] || w.agent.Allow(ctx, now.Dialog, protocol.ToolUse{Tool: call.Tool, Args: call.Args}) != nil {
			continue // the dialog is about another of them
		}
		seen.used[call.ID], seen.last = true, now.Dialog
		return w.recordAnswer(ctx, call.By, w.Engine.AllowOnce.Keys, now.Screen, call)
	}
	keys := w.Engine.AnswerTo(now.Screen)
	attempt := w.newest()
	if before, ok := seen.answered[now.Dialog]; keys == nil || ok && before == attempt {
		return nil
	}
	if err := w.agent.Answer(ctx, now.Dialog, keys); err != nil {
		return err
	}
	seen.answered[now.Dialog], seen.last = attempt, now.Dialog
	return w.recordAnswer(ctx, "configuration", keys, now.Screen, protocol.Confirmation{})
}

// newest is the attempt that was begun last, "" before the first.
func (w *worker) newest() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempt
}

// allowed are the tool calls about which the program asks, if each of them was
// allowed: it may show several dialogs, in an order of its own. The pane only
// says which calls they are; that they were allowed the stream says.
func (w *worker) allowed(asks []string) (calls []protocol.Confirmation) {
	w.book.read(func(l *ledger.Ledger) {
		known := l.Approvals().Items
		for _, id := range asks {
			i := slices.IndexFunc(known, func(c protocol.Confirmation) bool {
				return c.ID == id && c.Agent == w.Name && c.State == protocol.ConfirmationApproved
			})
			if i < 0 {
				calls = nil
				return
			}
			calls = append(calls, known[i])
		}
	})
	return calls
}

// recordAnswer writes down by whom which keys were pressed, and on what.
func (w *worker) recordAnswer(ctx context.Context, by string, keys []string, screen string, call protocol.Confirmation) error {
	what := map[string]any{
		"agent": w.Name, "keys": keys, "by": by, "screen": screen,
		"text": fmt.Sprintf("the %s pressed %s in the dialog of %s", by, strings.Join(keys, " "), w.Name),
	}
	if call.ID != "" {
		what["confirmationId"] = call.ID
		what["text"] = fmt.Sprintf("the hub pressed %s in the dialog of %s about %s, which %s has approved", strings.Join(keys, " "), w.Name, call.Tool, by)
	}
	data, err := json.Marshal(what)
	if err == nil {
		m := protocol.New(protocol.FromHub(), protocol.FromUser(), &protocol.EventPayload{EventType: protocol.EventDialogAnswered, Data: data})
		_, err = w.submit(ctx, protocol.Accepted{Message: m, Task: call.Task, Session: call.Session})
	}
	if err != nil {
		return fmt.Errorf("record the answer: %w", err)
	}
	return nil
}
