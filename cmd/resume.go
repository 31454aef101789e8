package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

func newResumeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "resume AGENT",
		Short:             "Deliver to a paused or limited agent again",
		Example:           "  orchestrator-cc resume testing_specialist",
		GroupID:           groupSteer,
		Args:              takes(false),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			return runResume(c.Context(), a, args[0])
		},
	}
}

func runResume(ctx context.Context, a *app, agent string) error {
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.ControlAgent(ctx, agent, protocol.Resume); err != nil {
			return hub.suggestAgent(ctx, err, agent)
		}
		a.out.printf("%s goes on\n", agent)
		return nil
	})
}
