package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

type statsOptions struct{ json bool }

func newStatsCommand(a *app) *cobra.Command {
	var o statsOptions
	c := &cobra.Command{
		Use:     "stats",
		Short:   "How much was said, how fast, and how often it failed",
		Example: "  orchestrator-cc stats --json",
		GroupID: groupSee,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runStats(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "for programs")
	return c
}

func runStats(ctx context.Context, a *app, o statsOptions) error {
	return a.withHub(ctx, func(hub *link) error {
		m, err := hub.Metrics(ctx)
		if err != nil {
			return err
		}
		if o.json {
			return a.out.json(m)
		}
		percent := func(rate float64) string { return fmt.Sprintf("%.1f%%", 100*rate) }
		rows := [][]string{
			{"messages sent", strconv.Itoa(m.MessagesSent)},
			{"messages received", strconv.Itoa(m.MessagesReceived)},
			{"average latency", fmt.Sprintf("%.0f ms", m.AvgLatencyMS)},
			{"errors", percent(m.ErrorRate)},
			{"retries", percent(m.RetryRate)},
			{"timeouts", percent(m.TimeoutRate)},
		}
		rows = append(rows, counts("type ", m.ByType)...)
		rows = append(rows, counts("agent ", m.ByAgent)...)
		a.out.printf("%s", a.out.table([]string{"FIGURE", "VALUE"}, append(rows, tokenRows(m.Tokens)...)))
		return nil
	})
}

// shownDays is how many days of tokens a person is shown; programs get all.
const shownDays = 7

// tokenRows tells what models took, where any program told.
func tokenRows(t protocol.TokenStats) [][]string {
	if t.Total == (protocol.Tokens{}) {
		return nil
	}
	rows := [][]string{{"tokens", tokenText(t.Total)}}
	for _, name := range slices.Sorted(maps.Keys(t.ByAgent)) {
		rows = append(rows, []string{"tokens of " + name, tokenText(t.ByAgent[name])})
	}
	for _, model := range slices.Sorted(maps.Keys(t.ByModel)) {
		rows = append(rows, []string{"tokens of model " + model, tokenText(t.ByModel[model])})
	}
	for _, d := range t.ByDay[:min(shownDays, len(t.ByDay))] {
		rows = append(rows, []string{"tokens on " + d.Day + " UTC", tokenText(d.Total)})
	}
	for _, task := range t.ByTask {
		rows = append(rows, []string{"tokens of task " + short(task.Task), tokenText(task.Total) + "  " + gist(task.Text)})
	}
	return rows
}

func counts[K cmp.Ordered](prefix string, by map[K]int) [][]string {
	var rows [][]string
	for _, k := range slices.Sorted(maps.Keys(by)) {
		rows = append(rows, []string{prefix + fmt.Sprint(k), strconv.Itoa(by[k])})
	}
	return rows
}
