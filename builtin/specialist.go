package builtin

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"orchestrator-cc/investigate"
	"orchestrator-cc/protocol"
)

// specialist runs the steps it is given.
type specialist struct{ Desk }

// tries is how often a step that fails is run: once, and twice again.
const tries = 3

var stepLine = regexp.MustCompile(`^\s*(?:(step-[0-9-]+):\s*)?((?:tree|find|grep|signature_search|static_analysis)(?:\s.*)?)$`)

// Reply answers steps with outcomes, and any other text as a question.
func (s specialist) Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error) {
	steps := readSteps(p.Body)
	if len(steps) == 0 {
		return s.alone(ctx, p.Body, say)
	}
	root, err := investigate.Open(ctx, s.Code)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, step := range steps {
		o := s.run(ctx, root, step, say)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		say(o.Summary())
		text, err := investigate.EncodeOutcome(o)
		if err != nil {
			return "", err
		}
		parts = append(parts, o.Summary(), text)
	}
	if err := pruneSpills(s.Files); err != nil {
		say("old results stay: " + err.Error())
	}
	return strings.Join(parts, "\n"), nil
}

// order is one line of a prompt that names a command.
type order struct{ id, command string }

// readSteps takes a prompt as steps only if every line of it is one.
func readSteps(body string) (steps []order) {
	for _, line := range strings.Split(body, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := stepLine.FindStringSubmatch(line)
		if m == nil {
			return nil
		}
		steps = append(steps, order{m[1], m[2]})
	}
	return steps
}

// run runs a step, again where it fails in a way that may pass, and returns
// its failure as an outcome: a step that failed is a gap, never hidden.
func (s specialist) run(ctx context.Context, root *investigate.Root, step order, say func(string)) investigate.Outcome {
	c, err := investigate.ParseCommand(step.command)
	if err != nil {
		name, _, _ := strings.Cut(step.command, " ")
		return investigate.Outcome{Step: step.id, Command: investigate.Command{Name: name}, Error: err.Error(), Attempts: 1}
	}
	for try := 1; ; try++ {
		o, err := root.Run(ctx, c, investigate.Limits{Spill: s.Files})
		if err == nil {
			o.Step, o.Attempts = step.id, try
			return o
		}
		say(fmt.Sprintf("%s, try %d of %d: %v", c.Name, try, tries, err))
		if try == tries || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return investigate.Outcome{Step: step.id, Command: c, Error: err.Error(), Attempts: try}
		}
	}
}
