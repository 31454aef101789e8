package api

import (
	"cmp"
	"slices"

	"orchestrator-cc/protocol"
)

// mostTasks is how many tasks the figures name.
const mostTasks = 10

// mostTokens finds the tasks that took the most tokens with all their
// delegates.
func mostTokens(tasks []protocol.Task) []protocol.TaskTokens {
	out := []protocol.TaskTokens{}
	for _, t := range tasks {
		if t.TreeTokens != nil {
			out = append(out, protocol.TaskTokens{Task: t.ID, Agent: t.Agent, Text: t.Text, Total: *t.TreeTokens})
		}
	}
	slices.SortStableFunc(out, func(a, b protocol.TaskTokens) int { return cmp.Compare(b.Total.Spent(), a.Total.Spent()) })
	return out[:min(mostTasks, len(out))]
}
