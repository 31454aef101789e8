package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/protocol"
)

type showOptions struct {
	id   string
	json bool
}

func newShowCommand(a *app) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:               "show TASK",
		Short:             "A task's tree of hops, with the evidence for each step",
		Example:           "  orchestrator-cc show 3f2a9c1b",
		GroupID:           groupSee,
		Args:              takes(false),
		ValidArgsFunction: a.completeTasks,
		RunE: func(c *cobra.Command, args []string) error {
			o.id = args[0]
			return runShow(c.Context(), a, o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "for programs")
	return c
}

func runShow(ctx context.Context, a *app, o showOptions) error {
	return a.withHub(ctx, func(hub *link) error {
		t, err := hub.Task(ctx, o.id)
		if err != nil {
			return err
		}
		if o.json {
			return a.out.json(t)
		}
		a.out.printf("%s", taskTree(a.out, t))
		return nil
	})
}

// taskTree draws a task with everything that was done for it.
func taskTree(v voice, t protocol.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "task %s  %s  %d%%  %s\n", v.paint(bold, t.ID), v.paint(taskTone(t.State), string(t.State)), t.Progress, t.Created.Local().Format("2006-01-02 15:04:05"))
	drawTask(&b, v, t, branch{})
	if t.TreeTokens != nil {
		fmt.Fprintf(&b, "tokens: %s\n", tokenText(*t.TreeTokens))
	}
	if t.Result != "" {
		fmt.Fprintf(&b, "\n%s\n%s\n", v.paint(faint, "answer:"), v.safe(fold(strings.TrimRight(t.Result, "\n"))))
	}
	return b.String()
}

// branch is how far a node is indented, and what connects it to its parent.
type branch struct{ indent, knot string }

func drawTask(b *strings.Builder, v voice, t protocol.Task, at branch) {
	line := fmt.Sprintf("%s%s%s → %s  %s  %s  %s", at.indent, at.knot, t.From, v.paint(bold, t.Agent),
		v.paint(taskTone(t.State), string(t.State)), span(t.Updated.Sub(t.Created)), gist(fold(t.Text)))
	b.WriteString(fit(v, line) + "\n")
	inner := at.indent
	switch at.knot {
	case "├─ ":
		inner += "│  "
	case "└─ ":
		inner += "   "
	}
	rail := "   "
	if len(t.Children) > 0 {
		rail = "│  "
	}
	if t.Reason != "" {
		b.WriteString(fit(v, inner+rail+strings.TrimSpace(string(t.Code)+" "+oneLine(t.Reason))) + "\n")
	}
	if t.Tokens != nil {
		b.WriteString(inner + rail + v.paint(faint, "tokens: "+tokenText(*t.Tokens)) + "\n")
	}
	for i, name := range attemptNames(t.Attempts) {
		b.WriteString(inner + rail + v.paint(faint, attemptLine(t, name, t.Attempts[i])) + "\n")
	}
	for i, child := range t.Children {
		knot := "├─ "
		if i == len(t.Children)-1 {
			knot = "└─ "
		}
		drawTask(b, v, child, branch{indent: inner, knot: knot})
	}
}

// attemptNames tells attempts apart: a task that comes back to its agent with
// the results of others has several turns, and each counts its attempts anew.
func attemptNames(attempts []protocol.Attempt) []string {
	names := make([]string, len(attempts))
	turn := 1
	for i, a := range attempts {
		if i > 0 && (a.Number <= attempts[i-1].Number || !slices.Equal(a.Messages, attempts[i-1].Messages)) {
			turn++
		}
		names[i] = fmt.Sprintf("turn %d, attempt %d", turn, a.Number)
	}
	for i, a := range attempts {
		if turn == 1 {
			names[i] = fmt.Sprintf("attempt %d", a.Number)
		}
	}
	return names
}

// attemptLine tells an attempt's steps, when each was taken and who saw it.
func attemptLine(t protocol.Task, name string, attempt protocol.Attempt) string {
	steps := make([]string, 0, len(attempt.Steps))
	for _, m := range attempt.Steps {
		step := fmt.Sprintf("%s +%s", m.Step, span(m.Time.Sub(t.Created)))
		var by []string
		for _, fact := range []string{m.Evidence, string(m.Code), oneLine(m.Reason)} {
			if fact != "" {
				by = append(by, fact)
			}
		}
		if m.Truncated {
			by = append(by, "truncated")
		}
		if len(by) > 0 {
			step += " (" + strings.Join(by, ", ") + ")"
		}
		steps = append(steps, step)
	}
	return fmt.Sprintf("%s req-%s: %s", name, attempt.Req, strings.Join(steps, ", "))
}

// tokenText tells tokens, and money where the program told it.
func tokenText(t protocol.Tokens) string {
	text := fmt.Sprintf("%s in, %s out", protocol.Figure(t.Input), protocol.Figure(t.Output))
	if t.Cached > 0 {
		text += fmt.Sprintf(", %s from a cache", protocol.Figure(t.Cached))
	}
	if t.Cost > 0 {
		text += fmt.Sprintf(", $%.2f", t.Cost)
	}
	return text
}

// fold shortens the blocks that are for programs to one line each.
func fold(text string) string {
	const begin, end = "```outcome", "```"
	lines := strings.Split(text, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		last := slices.Index(lines[i:], end)
		if lines[i] != begin || last < 0 {
			out = append(out, lines[i])
			continue
		}
		out = append(out, fmt.Sprintf("[outcome, %s]", count(last-1, "line")))
		i += last
	}
	return strings.Join(out, "\n")
}

// fit cuts a line at the edge of a terminal.
func fit(v voice, line string) string {
	if edge := v.width(); edge > 0 {
		return shorten(line, edge)
	}
	return line
}
