package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

type answerOptions struct {
	id, text, dialog string
	keys             []string
}

func newAnswerCommand(a *app) *cobra.Command {
	var o answerOptions
	c := &cobra.Command{
		Use:     "answer ID TEXT|-",
		Short:   "Answer what waits for you: a task with words, a dialog with keys",
		Example: "  orchestrator-cc answer 3f2a9c1b \"use the staging key\"\n  orchestrator-cc answer grand_boss --dialog 5d41402a --key Enter",
		GroupID: groupWork,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.id, o.text = args[0], phrase(args[1:])
			switch {
			case len(o.keys) > 0 && o.dialog != "" && len(args) == 1:
				return runPress(c.Context(), a, o)
			case len(o.keys) > 0 || o.dialog != "" || len(args) < 2:
				return usagef("answer takes an id and a text, or an agent with --dialog and --key as inbox shows them")
			}
			return runAnswer(c.Context(), a, o)
		},
	}
	c.Flags().StringArrayVar(&o.keys, "key", nil, "press this key in a dialog, by its tmux name, such as Enter, Escape, Down, y or 1; may come again")
	c.Flags().StringVar(&o.dialog, "dialog", "", "the dialog you have seen, by its `ID` in the inbox; another one is not answered")
	return c
}

// runPress answers a dialog.
func runPress(ctx context.Context, a *app, o answerOptions) error {
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.Press(ctx, o.id, o.dialog, o.keys); err != nil {
			return err
		}
		a.out.printf("pressed %s at %s\n", strings.Join(o.keys, " "), o.id)
		return nil
	})
}

func runAnswer(ctx context.Context, a *app, o answerOptions) error {
	text, err := a.words(o.text)
	if err != nil {
		return err
	}
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.Answer(ctx, o.id, text); err != nil {
			return err
		}
		a.out.printf("answered %s\n", o.id)
		a.err.printf("Follow it with: orchestrator-cc show %s\n", o.id)
		return nil
	})
}
