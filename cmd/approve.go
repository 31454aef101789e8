package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

func newApproveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "approve ID",
		Short:             "Let an agent use the tool, or the further tokens, it asks for",
		Example:           "  orchestrator-cc approve 3f2a9c1b",
		GroupID:           groupSteer,
		Args:              takes(false),
		ValidArgsFunction: a.completeQuestions,
		RunE:              func(c *cobra.Command, args []string) error { return runDecide(c.Context(), a, args[0], true) },
	}
}

// runDecide answers one confirmation, or what has used its tokens.
func runDecide(ctx context.Context, a *app, id string, approved bool) error {
	return a.withHub(ctx, func(hub *link) error {
		item, err := hub.Decide(ctx, id, approved)
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			if held, found := heldItem(ctx, hub, id); found {
				return allow(ctx, a, hub, held, approved)
			}
		}
		if err != nil {
			return err
		}
		a.out.printf("%s %s of %s\n", item.State, item.Tool, item.Agent)
		return nil
	})
}

// heldItem finds what waits for tokens by the beginning of its id.
func heldItem(ctx context.Context, hub *link, id string) (protocol.InboxItem, bool) {
	items, err := hub.Inbox(ctx)
	at := slices.IndexFunc(items, func(i protocol.InboxItem) bool {
		return i.Kind == protocol.InboxTokens && strings.HasPrefix(i.ID, id)
	})
	if err != nil || at < 0 {
		return protocol.InboxItem{}, false
	}
	return items[at], true
}

func allow(ctx context.Context, a *app, hub *link, item protocol.InboxItem, approved bool) error {
	if !approved {
		a.out.printf("%s stays as it is: %s\n", short(item.ID), item.Text)
		a.err.printf("Until then: %s\n", allowanceCure(item))
		return nil
	}
	if _, err := hub.Allow(ctx, item.ID); err != nil {
		return err
	}
	a.out.printf("%s goes on\n", short(item.ID))
	return nil
}
