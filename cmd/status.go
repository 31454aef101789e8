package cmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

type statusOptions struct{ json, watch bool }

func newStatusCommand(a *app) *cobra.Command {
	var o statusOptions
	c := &cobra.Command{
		Use:     "status",
		Short:   "Who does what, which tasks run, what waits for you",
		Example: "  orchestrator-cc status --watch",
		GroupID: groupSee,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runStatus(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "for programs")
	c.Flags().BoolVar(&o.watch, "watch", false, "redraw as things change, until Ctrl-C")
	return c
}

func runStatus(ctx context.Context, a *app, o statusOptions) error {
	if o.json && o.watch {
		return usagef("--json and --watch exclude each other; programs follow GET /events")
	}
	return a.withHub(ctx, func(hub *link) error {
		if o.watch {
			return a.watchStatus(ctx, hub)
		}
		overview, err := hub.Overview(ctx)
		if err != nil {
			return err
		}
		if o.json {
			return a.out.json(overview)
		}
		a.out.printf("%s", overviewText(a.out, overview, a.now()))
		return nil
	})
}

// watchStatus redraws in place on a terminal. Into a pipe it writes the status
// again whenever it says something new, for as long as anybody reads it.
func (a *app) watchStatus(ctx context.Context, hub *link) error {
	ctx, stop := a.out.whileRead(ctx)
	defer stop()
	ticker := time.NewTicker(watchTick)
	defer ticker.Stop()
	lines, last := 0, ""
	for {
		overview, err := hub.Overview(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			err = hub.Await(ctx, hubBack)
			if err != nil {
				return err
			}
			continue
		}
		text := overviewText(a.out, overview, a.now())
		switch {
		case a.out.terminal:
			if lines > 0 {
				a.out.printf("\x1b[%dA\x1b[J", lines)
			}
			text = top(text, a.out.height()-1)
			a.out.printf("%s", text)
			lines = strings.Count(text, "\n")
		case overviewText(a.out, overview, time.Time{}) != last:
			last = overviewText(a.out, overview, time.Time{})
			a.out.printf("%s\n", text)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// top is as many lines of a text as fit on a screen: what has scrolled away
// cannot be redrawn.
func top(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[:min(len(lines), max(most, 1))], "")
}

// recentTasks is how many closed tasks a glance needs.
const recentTasks = 5

func overviewText(v voice, o protocol.Overview, now time.Time) string {
	var b strings.Builder
	b.WriteString(agentTable(v, o.Agents, now))
	if tasks := openAndRecent(o.Tasks); len(tasks) > 0 {
		b.WriteString("\n" + taskTable(v, tasks, now))
	}
	if len(o.Inbox) > 0 {
		b.WriteString("\n" + v.paint(yellow, fmt.Sprintf("waits for you: %d", len(o.Inbox))) + " (orchestrator-cc inbox)\n")
		for _, item := range o.Inbox {
			line := "  " + whose(item) + "  " + oneLine(item.Text)
			if edge := v.width(); edge > 0 {
				line = shorten(line, edge)
			}
			b.WriteString(line + "\n")
		}
	}
	for _, problem := range o.Hub.Problems {
		b.WriteString("\n" + v.paint(red, "problem: ") + oneLine(problem) + "\n")
	}
	return b.String()
}

// agentTable has a column for tokens once any program has told of some.
func agentTable(v voice, agents []protocol.AgentStatus, now time.Time) string {
	rows := [][]string{{"AGENT", "STATE", "SINCE", "ENGINE", "QUEUE", "TOKENS", "TASK", "NOTE"}}
	told := false
	for _, s := range agents {
		since := ""
		if !now.IsZero() {
			since = age(now, s.Since)
		}
		told = told || s.TokensToday != nil
		note := oneLine(s.Reason)
		if s.Restarts > 0 {
			note = strings.TrimSpace(note + fmt.Sprintf(" (restarted %s)", times(s.Restarts)))
		}
		rows = append(rows, []string{s.Name, v.paint(agentTone(s.State), string(s.State)), since, s.Engine, strconv.Itoa(s.Queue), tokensToday(s), short(s.Task), note})
	}
	for i := range rows {
		if !told {
			rows[i] = slices.Delete(rows[i], 5, 6)
		}
	}
	return v.table(rows[0], rows[1:])
}

// tokensToday is what limits count of it; a program that does not tell is no
// program that takes nothing.
func tokensToday(s protocol.AgentStatus) string {
	if s.TokensToday == nil {
		return "-"
	}
	return protocol.Figure(s.TokensToday.Spent())
}

// openAndRecent keeps every task that still moves, and a few that ended.
func openAndRecent(tasks []protocol.Task) []protocol.Task {
	var out []protocol.Task
	closed := 0
	for _, t := range tasks {
		if t.State.Done() {
			if closed++; closed > recentTasks {
				continue
			}
		}
		out = append(out, t)
	}
	return out
}
