package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

func newApproveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "approve ID",
		Short:             "Let an agent use the tool it asks for",
		Example:           "  orchestrator-cc approve 3f2a9c1b",
		GroupID:           groupSteer,
		Args:              takes(false),
		ValidArgsFunction: a.completeQuestions,
		RunE:              func(c *cobra.Command, args []string) error { return runDecide(c.Context(), a, args[0], true) },
	}
}

// runDecide answers one confirmation.
func runDecide(ctx context.Context, a *app, id string, approved bool) error {
	return a.withHub(ctx, func(hub *link) error {
		item, err := hub.Decide(ctx, id, approved)
		if err != nil {
			return err
		}
		a.out.printf("%s %s of %s\n", item.State, item.Tool, item.Agent)
		return nil
	})
}
