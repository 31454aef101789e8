package cmd

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// completionPatience bounds how long a shell waits for the hub's names.
const completionPatience = 500 * time.Millisecond

// completeAgents offers the agents' names for a verb's first argument.
func (a *app) completeAgents(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		a.ask(c.Context(), func(ctx context.Context, hub *api.Client) {
			overview, err := hub.Overview(ctx)
			for _, agent := range overview.Agents {
				if err == nil {
					names = append(names, agent.Name+"\t"+string(agent.State))
				}
			}
		})
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeTasks offers the tasks' ids for a verb's first argument.
func (a *app) completeTasks(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeTasksThat(c, args, func(protocol.TaskState) bool { return true })
}

// completeOpen offers the tasks that can be cancelled.
func (a *app) completeOpen(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeTasksThat(c, args, func(s protocol.TaskState) bool { return !s.Done() })
}

// completeEnded offers the tasks that can be retried.
func (a *app) completeEnded(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.completeTasksThat(c, args, func(s protocol.TaskState) bool {
		return s == protocol.TaskFailed || s == protocol.TaskCancelled || s == protocol.TaskNeedsHuman
	})
}

func (a *app) completeTasksThat(c *cobra.Command, args []string, fits func(protocol.TaskState) bool) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if len(args) == 0 {
		a.ask(c.Context(), func(ctx context.Context, hub *api.Client) {
			l, err := hub.Tasks(ctx, 0)
			for _, t := range l.Tasks {
				if err == nil && fits(t.State) {
					ids = append(ids, short(t.ID)+"\t"+shorten(oneLine(t.Text), 40))
				}
			}
		})
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeQuestions offers what waits for approval: tools, and further tokens.
func (a *app) completeQuestions(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if len(args) == 0 {
		a.ask(c.Context(), func(ctx context.Context, hub *api.Client) {
			items, err := hub.Inbox(ctx)
			for _, item := range items {
				if err == nil && (item.Kind == api.KindConfirmation || item.Kind == protocol.InboxTokens) {
					ids = append(ids, short(item.ID)+"\t"+item.Agent+": "+shorten(oneLine(item.Text), 40))
				}
			}
		})
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeEngines offers the engines of the project's configuration.
func (a *app) completeEngines(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg := config.Default()
	if p, _, err := findPlace(a.dir, a.getenv); err == nil {
		if own, err := loadConfig(p, "", "", ""); err == nil {
			cfg = own
		}
	}
	return engineNames(cfg), cobra.ShellCompDirectiveNoFileComp
}

// engineNames lists what can stand behind --engine.
func engineNames(cfg config.Config) []string {
	names := append(slices.Collect(maps.Keys(cfg.Engines)), config.Auto)
	names = slices.DeleteFunc(names, func(name string) bool { return name == config.Custom })
	slices.Sort(names)
	return names
}

// ask asks the hub something while somebody holds the Tab key; without a hub
// there is simply nothing to offer.
func (a *app) ask(ctx context.Context, question func(context.Context, *api.Client)) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	if a.getenv(envURL) != "" {
		if hub, err := a.connectFar(ctx); err == nil {
			defer hub.Close()
			question(ctx, hub.Client)
		}
		return
	}
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return
	}
	card, found, err := p.readHubCard()
	if err != nil || !found {
		return
	}
	client := api.NewClient(card.Socket, a.getenv(envSecret))
	defer client.Close()
	question(ctx, client)
}
