package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
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
		a.out.printf("%s", a.out.table([]string{"FIGURE", "VALUE"}, rows))
		return nil
	})
}

func counts[K cmp.Ordered](prefix string, by map[K]int) [][]string {
	var rows [][]string
	for _, k := range slices.Sorted(maps.Keys(by)) {
		rows = append(rows, []string{prefix + fmt.Sprint(k), strconv.Itoa(by[k])})
	}
	return rows
}
