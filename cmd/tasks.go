package cmd

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

type tasksOptions struct {
	json bool
	most int
}

func newTasksCommand(a *app) *cobra.Command {
	var o tasksOptions
	c := &cobra.Command{
		Use:     "tasks",
		Short:   "The tasks, newest first",
		Example: "  orchestrator-cc tasks -n 5",
		GroupID: groupSee,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runTasks(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "for programs")
	c.Flags().IntVarP(&o.most, "number", "n", 20, "how many to show; 0 shows all")
	return c
}

func runTasks(ctx context.Context, a *app, o tasksOptions) error {
	if o.most < 0 {
		return usagef("-n is %d; use a number from 0, which shows all", o.most)
	}
	return a.withHub(ctx, func(hub *link) error {
		l, err := hub.Tasks(ctx, o.most)
		if err != nil {
			return err
		}
		if o.json {
			return a.out.json(l)
		}
		if l.Total == 0 {
			a.out.printf("no tasks yet\n")
			a.err.printf("Give one with: orchestrator-cc send grand_boss \"your task\"\n")
			return nil
		}
		a.out.printf("%s", taskTable(a.out, l.Tasks, a.now()))
		if len(l.Tasks) < l.Total {
			a.err.printf("%d more; see them with: orchestrator-cc tasks -n 0\n", l.Total-len(l.Tasks))
		}
		return nil
	})
}

func taskTable(v voice, tasks []protocol.Task, now time.Time) string {
	var rows [][]string
	for _, t := range tasks {
		text := shorten(oneLine(t.Text), 200)
		if t.Reason != "" && t.State != protocol.TaskCompleted {
			text += " (" + oneLine(t.Reason) + ")"
		}
		rows = append(rows, []string{short(t.ID), v.paint(taskTone(t.State), string(t.State)), strconv.Itoa(t.Progress) + "%", t.Agent, age(now, t.Created), text})
	}
	return v.table([]string{"TASK", "STATE", "DONE", "AGENT", "AGE", "TEXT"}, rows)
}
