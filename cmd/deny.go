package cmd

import "github.com/spf13/cobra"

func newDenyCommand(a *app) *cobra.Command {
	return decideCommand(a, false, &cobra.Command{
		Use:     "deny ID",
		Short:   "Do not let an agent use the tool it asks for",
		Example: "  orchestrator-cc deny 3f2a9c1b",
	})
}
