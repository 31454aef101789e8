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
		Args:              takes(false),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			return runPause(c.Context(), a, args[0])
		},
	}
}

func runPause(ctx context.Context, a *app, agent string) error {
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.ControlAgent(ctx, agent, protocol.Pause); err != nil {
			return hub.suggestAgent(ctx, err, agent)
		}
		a.out.printf("%s is paused\n", agent)
		a.err.printf("Let it go on with: orchestrator-cc resume %s\n", agent)
		return nil
	})
}
