package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator-cc/protocol"
)

// answerDialogs presses the keys that the configuration has for a dialog. Each
// dialog of a process gets them once: where they do not help, a person is asked.
func (w *worker) answerDialogs(ctx context.Context) error {
	if len(w.Engine.Answers) == 0 {
		return nil
	}
	pressed := map[string]bool{}
	for {
		select {
		case <-w.asked:
		case <-ctx.Done():
			return nil
		}
		now := w.agent.Status()
		keys := w.Engine.AnswerTo(now.Screen)
		if now.State != protocol.Waiting || now.Dialog == "" || keys == nil || pressed[now.Dialog] {
			continue
		}
		if err := w.agent.Answer(ctx, now.Dialog, keys); err != nil {
			w.log.Info().Err(err).Msg("dialog not answered")
			continue
		}
		pressed[now.Dialog] = true
		w.recordAnswer(ctx, keys, now.Screen)
	}
}

func (w *worker) recordAnswer(ctx context.Context, keys []string, screen string) {
	data, err := json.Marshal(map[string]any{
		"agent": w.Name, "keys": keys, "by": "configuration", "screen": screen,
		"text": fmt.Sprintf("the configuration pressed %s in the dialog of %s", strings.Join(keys, " "), w.Name),
	})
	if err == nil {
		m := protocol.New(protocol.FromHub(), protocol.FromUser(), &protocol.EventPayload{EventType: protocol.EventDialogAnswered, Data: data})
		_, err = w.submit(ctx, protocol.Accepted{Message: m})
	}
	if err != nil && ctx.Err() == nil {
		w.log.Warn().Err(err).Msg("answer to a dialog not recorded")
	}
}
