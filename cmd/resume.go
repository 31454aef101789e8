package cmd

import (
	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

func newResumeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "resume AGENT",
		Short:             "Deliver to a paused agent again",
		Example:           "  orchestrator-cc resume testing_specialist",
		GroupID:           groupSteer,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			return runOrder(c.Context(), a, args[0], protocol.Resume)
		},
	}
}
