package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

func newApproveCommand(a *app) *cobra.Command {
	return decideCommand(a, true, &cobra.Command{
		Use:     "approve ID",
		Short:   "Let an agent use the tool, or the further tokens, it asks for",
		Example: "  orchestrator-cc approve 3f2a9c1b\n  orchestrator-cc approve 3f2a9c1b --for task",
	})
}

// decideCommand answers a confirmation, once or for all of its kind.
func decideCommand(a *app, approved bool, c *cobra.Command) *cobra.Command {
	d := api.Decision{Approved: approved}
	c.GroupID, c.Args, c.ValidArgsFunction = groupSteer, takes(false), a.completeQuestions
	c.RunE = func(c *cobra.Command, args []string) error { return runDecide(c.Context(), a, args[0], d) }
	c.Flags().StringVar(&d.Scope, "for", protocol.ScopeOnce, "once; or what is of this kind from now on: for this task, for this agent")
	return c
}

// runDecide answers one confirmation.
func runDecide(ctx context.Context, a *app, id string, d api.Decision) error {
	switch d.Scope {
	case protocol.ScopeOnce, protocol.ScopeTask, protocol.ScopeAgent:
	default:
		return usagef("--for is %q; use once, task or agent", d.Scope)
	}
	return a.withHub(ctx, func(hub *link) error {
		item, err := hub.Decide(ctx, id, d)
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			if held, found := heldItem(ctx, hub, id); found {
				return allow(ctx, a, hub, held, d.Approved)
			}
		}
		if err != nil {
			return err
		}
		a.out.printf("%s %s of %s\n", item.State, item.Tool, item.Agent)
		if d.Scope != protocol.ScopeOnce {
			a.err.printf("From now on for this %s: %s. End it with: orchestrator-cc inbox --revoke %s\n", d.Scope, oneLine(item.Kind), short(item.ID))
		}
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
