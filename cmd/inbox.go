package cmd

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

type inboxOptions struct{ json bool }

func newInboxCommand(a *app) *cobra.Command {
	var o inboxOptions
	c := &cobra.Command{
		Use:     "inbox",
		Short:   "What waits for you",
		Example: "  orchestrator-cc inbox",
		GroupID: groupSee,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runInbox(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "for programs")
	return c
}

func runInbox(ctx context.Context, a *app, o inboxOptions) error {
	return a.withHub(ctx, func(hub *link) error {
		items, err := hub.Inbox(ctx)
		if err != nil {
			return err
		}
		if o.json {
			return a.out.json(map[string]any{"inbox": items})
		}
		if len(items) == 0 {
			a.out.printf("nothing waits for you\n")
			return nil
		}
		for i, item := range items {
			if i > 0 {
				a.out.printf("\n")
			}
			a.out.printf("%s", inboxItem(a.out, item, a.now()))
		}
		return nil
	})
}

// inboxItem shows what is asked and every way to answer.
func inboxItem(v voice, item protocol.InboxItem, now time.Time) string {
	var b strings.Builder
	b.WriteString(v.paint(yellow, item.Kind) + "  " + v.paint(bold, short(item.ID)) + "  " + item.Agent + ", for " + age(now, item.Since) + "\n")
	for line := range strings.Lines(strings.TrimSpace(harmless(item.Text))) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	if item.Screen != "" {
		for line := range strings.Lines(strings.TrimSpace(harmless(item.Screen))) {
			b.WriteString("  " + v.paint(faint, "| "+strings.TrimRight(line, "\n")) + "\n")
		}
	}
	if item.Kind == api.KindConfirmation {
		b.WriteString("  decide: orchestrator-cc approve " + short(item.ID) + ", or: deny " + short(item.ID) + "\n")
		return b.String()
	}
	switch item.Kind {
	case protocol.InboxTokens:
		b.WriteString("  " + allowanceCure(item) + "\n")
		return b.String()
	case protocol.InboxLimited:
		b.WriteString("  it goes on by itself; to try now: orchestrator-cc resume " + item.Agent + "\n")
		return b.String()
	case protocol.InboxDegraded:
		b.WriteString("  look at its pane: orchestrator-cc attach " + item.Agent + ", and at its program: orchestrator-cc doctor\n")
		return b.String()
	}
	if item.Kind == protocol.InboxDialog || item.Task == "" {
		b.WriteString("  answer it in its pane: orchestrator-cc attach " + item.Agent + "\n")
		return b.String()
	}
	id := short(item.ID)
	b.WriteString("  answer it: orchestrator-cc answer " + id + " TEXT, or: retry " + id + ", or: cancel " + id + "\n")
	return b.String()
}

// allowanceCure is what a person can do about what has used its tokens.
func allowanceCure(item protocol.InboxItem) string {
	cure := "give as many again: orchestrator-cc approve " + short(item.ID)
	switch {
	case item.Task != "":
		cure += ", or: cancel " + short(item.ID)
	case item.Agent != protocol.All:
		cure += ", or: resume " + item.Agent
	}
	return cure
}
