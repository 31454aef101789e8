package agents

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orchestrator-cc/protocol"
)

// Answering is the answer to one kind of dialog.
type Answering struct {
	Dialog *regexp.Regexp // matches a row of it
	Keys   []string
}

// AnswerTo is what the user has decided beforehand about the dialog that a
// screen shows; nil leaves it to a person.
func (e Engine) AnswerTo(screen string) []string {
	rows := strings.Split(screen, "\n")
	for _, a := range e.Answers {
		if slices.ContainsFunc(rows, a.Dialog.MatchString) {
			return a.Keys
		}
	}
	return nil
}

// keys is a person's answer to the dialog in the pane.
type keys struct {
	ctx    context.Context
	dialog string
	press  []string
	call   *protocol.ToolUse // which the dialog must ask about; nil: whatever it asks
	done   chan error
}

// ErrAnotherDialog says that the dialog which somebody answers is not, or no
// longer, the one in the pane. Nothing was pressed.
var ErrAnotherDialog = errors.New("the pane does not show this dialog any more")

// Answer presses keys in the dialog that a person has seen, known by the id that
// Status gives it, and in no other.
func (a *Agent) Answer(ctx context.Context, dialog string, press []string) error {
	return a.put(keys{ctx: ctx, dialog: dialog, press: press, done: make(chan error, 1)})
}

// Allow presses what allows one tool call in the dialog that the program shows
// about it. A dialog about anything else is left alone.
func (a *Agent) Allow(ctx context.Context, dialog string, call protocol.ToolUse) error {
	return a.put(keys{ctx: ctx, dialog: dialog, press: a.opts.Engine.AllowOnce.Keys, call: &call, done: make(chan error, 1)})
}

func (a *Agent) put(k keys) error {
	select {
	case a.answers <- k:
	case <-k.ctx.Done():
		return k.ctx.Err()
	case <-a.ended:
		return ErrStopped
	}
	select {
	case err := <-k.done:
		return err
	case <-a.ended:
		return ErrStopped
	}
}

// answer looks once more and presses. The prompt is that of the turn under way,
// whose echo is no dialog.
func (a *Agent) answer(k keys, ours prompt) error {
	s, err := a.look(k.ctx, 0)
	if err != nil {
		return fmt.Errorf("look at the dialog of %s: %w", a.opts.Name, err)
	}
	if v := a.opts.Engine.read(s, ours); !v.dialog || dialogID(s) != k.dialog || k.call != nil && !a.opts.Engine.asksAbout(s, *k.call) {
		return ErrAnotherDialog
	}
	if err := a.term.Press(k.ctx, k.press...); err != nil {
		return fmt.Errorf("answer the dialog of %s: %w", a.opts.Name, err)
	}
	return nil
}

// asksAbout says that a screen shows the program's own dialog about a tool call.
// Long ones are cut off there, so the beginning must do; the program itself has
// said on its channel which call it is.
func (e Engine) asksAbout(s Screen, call protocol.ToolUse) bool {
	const enough = 24 // characters
	if e.AllowOnce.Dialog == nil || !slices.ContainsFunc(s.Visible, e.AllowOnce.Dialog.MatchString) {
		return false
	}
	want := squeeze(call.Mention())
	return strings.Contains(string(squeeze(strings.Join(s.Visible, "\n"))), string(want[:min(enough, len(want))]))
}

// excerpt is the lowest rows of a screen, enough to see a dialog whole.
func excerpt(s Screen) string {
	end := lastText(s.Visible) + 1
	return strings.Join(s.Visible[max(0, end-excerptRows):end], "\n")
}

// dialogID tells dialogs apart by their text, in one process of the pane.
// Numbers count something in many programs and are left out.
func dialogID(s Screen) string {
	text := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, excerpt(s))
	sum := sha256.Sum256([]byte(s.Epoch + "\n" + strings.Join(strings.Fields(text), " ")))
	return fmt.Sprintf("%x", sum[:4])
}
