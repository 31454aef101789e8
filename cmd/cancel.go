package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

func newCancelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "cancel TASK",
		Short:             "Stop a task and everything delegated for it",
		Example:           "  orchestrator-cc cancel 3f2a9c1b",
		GroupID:           groupSteer,
		Args:              takes(false),
		ValidArgsFunction: a.completeOpen,
		RunE:              func(c *cobra.Command, args []string) error { return runCancel(c.Context(), a, args[0]) },
	}
}

func runCancel(ctx context.Context, a *app, id string) error {
	return a.withHub(ctx, func(hub *link) error {
		if _, err := hub.ControlTask(ctx, id, protocol.Cancel, ""); err != nil {
			return tooLate(err, "see what became of it: orchestrator-cc show %s", id)
		}
		a.out.printf("task %s is being cancelled\n", id)
		return nil
	})
}

// tooLate adds what to type where a task is past what was asked for.
func tooLate(err error, format string, args ...any) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Code == protocol.CodeConflict && fault.Hint == "" {
		return withHint(err, format, args...)
	}
	return err
}
