package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

type retryOptions struct{ id, text string }

func newRetryCommand(a *app) *cobra.Command {
	var o retryOptions
	c := &cobra.Command{
		Use:               "retry TASK",
		Short:             "Give a failed, cancelled or stuck task another try",
		Example:           "  orchestrator-cc retry 3f2a9c1b --text \"the file is src/main.go\"",
		GroupID:           groupSteer,
		Args:              takes(false),
		ValidArgsFunction: a.completeEnded,
		RunE: func(c *cobra.Command, args []string) error {
			o.id = args[0]
			return runRetry(c.Context(), a, o)
		},
	}
	c.Flags().StringVar(&o.text, "text", "", "what to add to the request")
	return c
}

func runRetry(ctx context.Context, a *app, o retryOptions) error {
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.ControlTask(ctx, o.id, protocol.Retry, o.text); err != nil {
			return tooLate(err, "see it with: orchestrator-cc show %s; for a new task: orchestrator-cc send AGENT TEXT", o.id)
		}
		a.out.printf("task %s is tried again\n", o.id)
		a.err.printf("Follow it with: orchestrator-cc show %s\n", o.id)
		return nil
	})
}
