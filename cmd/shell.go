package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"orchestrator-cc/api"
	"orchestrator-cc/builtin"
	"orchestrator-cc/protocol"
)

// envShell lets a built-in agent run commands, each after a person's approval.
const envShell = "ORCHESTRATOR_CC_SHELL"

// toolShell is how the confirmation names it.
const toolShell = "shell:execute"

// shellOf is the shell of a built-in agent, or none.
func shellOf(getenv func(string) string) builtin.Shell {
	if getenv(envShell) != "1" {
		return nil
	}
	return askedShell{getenv}
}

// askedShell asks a person before each command.
type askedShell struct{ getenv func(string) string }

// mostOutput bounds what a command may put into an answer.
const mostOutput = 64 << 10

func (s askedShell) Run(ctx context.Context, command string) (string, error) {
	p, _, err := findPlace(".", s.getenv)
	if err != nil {
		return "", err
	}
	card, found, err := p.readHubCard()
	if err != nil || !found {
		return "", errors.Join(err, fmt.Errorf("ask for approval: %w", errNoHub))
	}
	client := api.NewClient(card.Socket, s.getenv(envSecret))
	defer client.Close()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return "", fmt.Errorf("ask for approval: %w", err)
	}
	decision, err := client.Confirm(ctx, api.Ask{Tool: toolShell, Args: args})
	if err != nil {
		return "", fmt.Errorf("ask for approval: %w", err)
	}
	// A refusal and a command that fails are answers: a turn that failed would
	// be tried again, and the person asked again.
	if decision.State != protocol.ConfirmationApproved {
		return fmt.Sprintf("%s is %s by %s", toolShell, decision.State, decision.By), nil
	}
	out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
	text := strings.TrimRight(string(out[:min(len(out), mostOutput)]), "\n")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return strings.TrimRight(fmt.Sprintf("%s: %v\n%s", toolShell, err, text), "\n"), nil
	}
	return text, nil
}
