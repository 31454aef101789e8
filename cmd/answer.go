package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

type answerOptions struct{ id, text string }

func newAnswerCommand(a *app) *cobra.Command {
	var o answerOptions
	return &cobra.Command{
		Use:     "answer ID TEXT|-",
		Short:   "Answer what waits for you: the task goes on with your words",
		Example: "  orchestrator-cc answer 3f2a9c1b \"use the staging key\"",
		GroupID: groupWork,
		Args:    takes(true),
		RunE: func(c *cobra.Command, args []string) error {
			o.id, o.text = args[0], phrase(args[1:])
			return runAnswer(c.Context(), a, o)
		},
	}
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
