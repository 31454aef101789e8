package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

func newPauseCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "pause AGENT",
		Short:             "Hold an agent's next deliveries; its running turn goes on",
		Example:           "  orchestrator-cc pause testing_specialist",
		GroupID:           groupSteer,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			return runOrder(c.Context(), a, args[0], protocol.Pause)
		},
	}
}

func runOrder(ctx context.Context, a *app, agent string, order protocol.Command) error {
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.ControlAgent(ctx, agent, order); err != nil {
			return hub.suggestAgent(ctx, err, agent)
		}
		a.out.printf("%s: %s\n", agent, order)
		return nil
	})
}
