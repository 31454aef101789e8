package cmd

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/bus"
	"orchestrator-cc/protocol"
)

// downPatience bounds how long the end may take; ending a hub and its tmux
// server takes well under a second.
const downPatience = 20 * time.Second

// lastSteps is how long a hub that no longer answers may take to end its
// session and close its stream.
const lastSteps = 5 * time.Second

func newDownCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "End the agents, the session and the hub; nothing is lost",
		Example: "  orchestrator-cc down",
		GroupID: groupStart,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runDown(c.Context(), a) },
	}
}

func runDown(ctx context.Context, a *app) error {
	ctx, cancel := context.WithTimeout(ctx, downPatience)
	defer cancel()
	if a.getenv(envURL) != "" {
		return a.downThere(ctx)
	}
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return err
	}
	card, found, err := p.readHubCard()
	if err != nil {
		return err
	}
	if !found {
		a.out.printf("nothing is running\n")
		return nil
	}
	ended, unfinished, err := a.askDown(ctx, card)
	if err != nil {
		return err
	}
	if ended {
		free(ctx, p, lastSteps) // Where it is not, clearAway sees to it.
	}
	cleared, err := clearAway(ctx, p, card)
	if err != nil {
		return err
	}
	if !ended && !cleared {
		a.out.printf("nothing is running\n")
		return nil
	}
	a.out.printf("the session %s is down\n", card.Session)
	switch unfinished {
	case 0:
	case 1:
		a.err.printf("1 task is unfinished; it goes on at the next: orchestrator-cc up\n")
	default:
		a.err.printf("%d tasks are unfinished; they go on at the next: orchestrator-cc up\n", unfinished)
	}
	return nil
}

// downThere ends a hub elsewhere, which takes a key with the scope admin.
func (a *app) downThere(ctx context.Context) error {
	return a.withHub(ctx, func(hub *link) error {
		if err := hub.Shutdown(ctx); err != nil {
			return err
		}
		if err := hub.Gone(ctx); err != nil {
			return withHint(errors.New("the hub was asked to end but goes on"), "look at it on its own machine with: orchestrator-cc doctor")
		}
		a.out.printf("the hub at %s is down\n", a.getenv(envURL))
		return nil
	})
}

// askDown asks a living hub to end everything, and waits until it has. It
// counts the tasks that go on when there is a hub again.
func (a *app) askDown(ctx context.Context, card hubCard) (ended bool, unfinished int, err error) {
	client := api.NewClient(card.Socket, a.getenv(envSecret))
	defer client.Close()
	overview, _ := client.Overview(ctx) // A hub that cannot tell can still end.
	for _, t := range overview.Tasks {
		if !t.State.Done() && t.State != protocol.TaskNeedsHuman {
			unfinished++
		}
	}
	err = client.Shutdown(ctx)
	if errors.Is(err, api.ErrUnreachable) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	if err := client.Gone(ctx); err != nil {
		return false, 0, withHint(errors.New("the hub was asked to end but still answers"), "look at it with: orchestrator-cc doctor")
	}
	return true, unfinished, nil
}

// clearAway ends what an orderly end left: nothing, as a rule, and the session
// and a hub that does not answer where the hub could not do it itself. Each
// keeps the other alive, so they are ended in turns until neither is there.
func clearAway(ctx context.Context, p place, card hubCard) (cleared bool, err error) {
	server := cardServer(p, card)
	for range 5 {
		stopped, err := endHolder(ctx, p)
		if err != nil {
			return cleared, err
		}
		there, err := server.Exists(ctx)
		if err != nil {
			return cleared, err
		}
		if there {
			if err := server.Shutdown(ctx); err != nil {
				return cleared, err
			}
		}
		if !stopped && !there {
			return cleared, p.dropHubCard(card.PID)
		}
		cleared = true
	}
	return cleared, withHint(errors.New("the hub comes back each time it is ended"), "look at it with: orchestrator-cc doctor")
}

// endHolder ends the process that holds the project's stream, politely first.
// The pid in the lock's file counts only while the lock is held: the process
// that wrote it may be dead, and its number somebody else's.
func endHolder(ctx context.Context, p place) (stopped bool, err error) {
	if free(ctx, p, 50*time.Millisecond) {
		return false, nil
	}
	report, err := bus.Check(p.stream())
	if err != nil {
		return false, err
	}
	if report.Holder == 0 && free(ctx, p, lastSteps) {
		return false, nil // It was just taking it, or letting it go.
	}
	if report.Holder == 0 {
		return false, fmt.Errorf("end the hub: its stream %s is locked, but nobody says by whom", p.stream())
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(report.Holder, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return false, fmt.Errorf("end the hub's process %d: %w", report.Holder, err)
		}
		if free(ctx, p, 3*time.Second) {
			return true, nil
		}
	}
	return false, fmt.Errorf("end the hub's process %d: it does not go away", report.Holder)
}

// free tells whether nobody holds the project's stream, or lets it go in time.
func free(ctx context.Context, p place, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return bus.Wait(ctx, p.stream()) == nil
}
