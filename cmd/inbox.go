package cmd

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

type inboxOptions struct {
	json, rules bool
	revoke      string
}

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
	c.Flags().BoolVar(&o.rules, "rules", false, "what you decided for more than one call")
	c.Flags().StringVar(&o.revoke, "revoke", "", "end such a decision, by its `ID`")
	return c
}

func runInbox(ctx context.Context, a *app, o inboxOptions) error {
	return a.withHub(ctx, func(hub *link) error {
		switch {
		case o.revoke != "":
			r, err := hub.Revoke(ctx, o.revoke)
			if err == nil {
				a.out.printf("revoked: %s\n", oneLine(r.String()))
			}
			return err
		case o.rules:
			return a.showRules(ctx, hub, o.json)
		}
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

func (a *app) showRules(ctx context.Context, hub *link, asJSON bool) error {
	rules, err := hub.Rules(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return a.out.json(map[string]any{"rules": rules})
	}
	if len(rules) == 0 {
		a.out.printf("no rules; make one with: orchestrator-cc approve ID --for task\n")
		return nil
	}
	var rows [][]string
	for _, r := range rules {
		until := "revoked"
		if r.Task != "" {
			until = "task " + short(r.Task) + " ends"
		}
		rows = append(rows, []string{short(r.ID), r.Decide, oneLine(r.Kind), r.Agent, until, r.By, age(a.now(), r.Since)})
	}
	a.out.printf("%s", a.out.table([]string{"RULE", "DECIDES", "WHAT", "AGENT", "UNTIL", "BY", "AGE"}, rows))
	return nil
}

// inboxItem shows what is asked and every way to answer.
func inboxItem(v voice, item protocol.InboxItem, now time.Time) string {
	var b strings.Builder
	kind := item.Kind
	if kind == protocol.InboxDialog && item.Dialog == "" {
		kind = "pane"
	}
	b.WriteString(v.paint(yellow, kind) + "  " + v.paint(bold, whose(item)) + ", for " + age(now, item.Since) + "\n")
	for line := range strings.Lines(strings.TrimSpace(harmless(item.Text))) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	if item.Screen != "" {
		for line := range strings.Lines(strings.TrimSpace(harmless(item.Screen))) {
			b.WriteString("  " + v.paint(faint, "| "+strings.TrimRight(line, "\n")) + "\n")
		}
	}
	if item.Kind == api.KindConfirmation {
		b.WriteString("  decide: orchestrator-cc approve " + short(item.ID) + ", or: orchestrator-cc deny " + short(item.ID) + "\n")
		b.WriteString("  with --for task or --for agent also from now on: " + oneLine(item.Rule) + "\n")
		return b.String()
	}
	switch item.Kind {
	case protocol.InboxTokens:
		b.WriteString("  " + allowanceCure(item) + "\n")
		return b.String()
	case protocol.InboxLimited:
		b.WriteString("  it goes on by itself; to try now: orchestrator-cc resume " + item.Agent + "\n")
		return b.String()
	case protocol.InboxDead:
		b.WriteString("  it is started again by itself; look at its pane: orchestrator-cc attach " + item.Agent + "\n")
		return b.String()
	case protocol.InboxDegraded:
		b.WriteString("  look at its pane: orchestrator-cc attach " + item.Agent + ", and at its program: orchestrator-cc doctor\n")
		return b.String()
	}
	if item.Kind == protocol.InboxDialog && item.Dialog != "" {
		b.WriteString(dialogCure(item))
		return b.String()
	}
	if item.Kind == protocol.InboxDialog || item.Task == "" {
		b.WriteString("  its pane: orchestrator-cc attach " + item.Agent + "\n")
		return b.String()
	}
	id := short(item.ID)
	b.WriteString("  answer it: orchestrator-cc answer " + id + " TEXT, or: orchestrator-cc retry " + id + ", or: orchestrator-cc cancel " + id + "\n")
	return b.String()
}

// whose names an item and its agent, once where they are the same.
func whose(item protocol.InboxItem) string {
	if item.ID == item.Agent {
		return item.Agent
	}
	return short(item.ID) + "  " + item.Agent
}

// dialogCure is a command that answers a dialog, and the keys that may be in
// place of the one in it.
func dialogCure(item protocol.InboxItem) string {
	keys := dialogKeys(item.Screen)
	return "  answer it: orchestrator-cc answer " + item.Agent + " --dialog " + item.Dialog + " " + keys[0] +
		"\n  other keys: " + strings.Join(keys[1:], ", ") + "; or in its pane: orchestrator-cc attach " + item.Agent + "\n"
}

var (
	numberedChoice = regexp.MustCompile(`^[\s\x{a0}│┃>❯›●]*([1-9])\. `)
	yesOrNo        = regexp.MustCompile(`(?i)[\[(]y(es)?/no?[\])]`)
)

// dialogKeys are flags that may answer the dialog on a screen. Enter, which
// takes the choice that the program has marked, comes first; a question for yes
// or no wants a letter before it.
func dialogKeys(screen string) []string {
	if yesOrNo.MatchString(screen) {
		return []string{"--key y --key Enter", "--key n --key Enter"}
	}
	var choices []string // of the lowest list
	for line := range strings.Lines(screen) {
		m := numberedChoice.FindStringSubmatch(line)
		if m != nil && m[1] == "1" {
			choices = nil
		}
		if m != nil && m[1] == strconv.Itoa(len(choices)+1) {
			choices = append(choices, "--key "+m[1])
		}
	}
	if choices == nil {
		choices = []string{"--key Down"}
	}
	return append(append([]string{"--key Enter"}, choices...), "--key Escape")
}

// allowanceCure is what a person can do about what has used its tokens.
func allowanceCure(item protocol.InboxItem) string {
	cure := "give as many again: orchestrator-cc approve " + short(item.ID)
	switch {
	case item.Task != "":
		cure += ", or: orchestrator-cc cancel " + short(item.ID)
	case item.Agent != protocol.All:
		cure += ", or: orchestrator-cc resume " + item.Agent
	}
	return cure
}
