package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/agents"
	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

// maxHook bounds what one hook may say.
const maxHook = 16 << 20

// newHookCommand is what an agent program runs to tell about itself: the hook's
// data comes on stdin.
//
//	the program -> hook -> the pane's spool -> the hub, now or when it is back
func newHookCommand(a *app) *cobra.Command {
	var program string
	c := &cobra.Command{
		Use:    "hook EVENT",
		Short:  "Take in what an agent program tells",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			runHook(c.Context(), a, program, args[0])
			return nil // a hook never fails its program
		},
	}
	c.Flags().StringVar(&program, "program", "", "the file that says how it was started")
	return c
}

// runHook takes in one hook. What goes wrong is written beside the program's
// file, for whoever repairs the house.
func runHook(ctx context.Context, a *app, file, event string) {
	if err := hook(ctx, a, file, event); err != nil {
		log, openErr := os.OpenFile(filepath.Join(filepath.Dir(file), "hooks.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if openErr != nil {
			return
		}
		defer log.Close()
		fmt.Fprintf(log, "%s %s: %v\n", time.Now().UTC().Format(time.RFC3339Nano), event, err)
	}
}

func hook(ctx context.Context, a *app, file, event string) error {
	p, err := agents.LoadProgram(file)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(a.in, maxHook))
	if err != nil {
		return fmt.Errorf("read the hook's data: %w", err)
	}
	word, err := p.Hear(event, data)
	if err != nil {
		return err
	}
	for _, r := range word.Reports {
		if r.Time.IsZero() {
			r.Time = time.Now().UTC()
		}
		if err := agents.Append(p.Spool, r); err != nil {
			return err
		}
	}
	if len(word.Reports) > 0 {
		poke(ctx, a, p.Agent)
	}
	output := word.Output
	if word.Ask != nil {
		if output, err = decide(ctx, a, p, *word.Ask); err != nil {
			return err // The program's own dialog stays, for whoever is at the pane.
		}
	}
	_, err = a.out.w.Write(output)
	return err
}

// pokePatience is how long a hook waits for the hub to hear it. A hub that
// needs longer finds the report by itself.
const pokePatience = 300 * time.Millisecond

// poke tells the hub that there is something on the spool. Where no hub hears
// it nothing is lost, so nothing is said.
func poke(ctx context.Context, a *app, agent string) {
	ctx, cancel := context.WithTimeout(ctx, pokePatience)
	defer cancel()
	if client, err := hubOf(a); err == nil {
		defer client.Close()
		_ = client.Poke(ctx, agent) // the spool has it
	}
}

// hubOf is the hub whose pane this runs in.
func hubOf(a *app) (*api.Client, error) {
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return nil, err
	}
	card, found, err := p.readHubCard()
	if err != nil || !found {
		return nil, errors.Join(err, errNoHub)
	}
	return api.NewClient(card.Socket, a.getenv(envSecret)), nil
}

// decide asks a person about a tool call and words the decision for the
// program. Nothing is said for nobody: without a decision the program's own
// dialog stays.
func decide(ctx context.Context, a *app, p agents.Program, q agents.Question) ([]byte, error) {
	client, err := hubOf(a)
	if err != nil {
		return nil, fmt.Errorf("ask for approval: %w", err)
	}
	defer client.Close()
	item, err := client.Confirm(ctx, api.Ask{Tool: q.Tool, Args: q.Input})
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask for approval: %w", err)
	case item.State == protocol.ConfirmationApproved && q.Again:
		return q.Allow, p.Permit(item.ID, q)
	case item.State == protocol.ConfirmationApproved:
		return q.Allow, nil
	case item.State == protocol.ConfirmationDenied:
		return q.Deny, nil
	case item.State == protocol.ConfirmationWithdrawn && item.By == protocol.ByEndOfTask:
		return q.Over, nil
	}
	return nil, nil
}
