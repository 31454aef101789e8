package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/bus"
	"orchestrator-cc/hub"
	"orchestrator-cc/logs"
)

// newHubCommand is what the session's hub window runs.
func newHubCommand() *cobra.Command {
	var dir, configPath, engine, auto, server, listen string
	c := &cobra.Command{
		Use:    "hub",
		Short:  "Serve this project, or stand by where another hub does",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := newPlace(dir)
			if err != nil {
				return err
			}
			o := hubOptions{place: p, configPath: configPath, engine: engine, auto: auto, server: server, listen: listen}
			return runHubWindow(c.Context(), o, os.Stdout)
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "the project")
	c.Flags().StringVar(&configPath, "config", "", "the configuration")
	c.Flags().StringVar(&engine, "engine", "", "the engine for every agent that names none")
	c.Flags().StringVar(&auto, "auto", "", "what the engine auto stands for")
	c.Flags().StringVar(&server, "server", "", "the tmux server's name")
	c.Flags().StringVar(&listen, "listen", "", "host and port of the HTTP interface")
	return c
}

// runHubWindow serves, or shows the hops and waits to take over. One that
// stands by ends with its terminal; one that serves outlives it, see runHub.
func runHubWindow(ctx context.Context, o hubOptions, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := o.place.makeState(); err != nil {
		return err
	}
	diary, err := openDiary(o.place.diary())
	if err != nil {
		return err
	}
	defer diary.Close()
	o.log = diary.logger()

	if o.deaths, err = o.backOff(ctx, out); err != nil {
		return err
	}
	for {
		err := runHub(ctx, o, out)
		if !errors.Is(err, bus.ErrLocked) {
			if err != nil && ctx.Err() == nil {
				o.log.Error().Err(err).Msg("hub ended")
				return err
			}
			bootsOf(o.place).lasted() // an end in good order is no crash
			return nil
		}
		if err := standBy(ctx, o, out); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// backOff waits where the hubs before this one did not last, unless somebody
// forgets their deaths meanwhile. It returns how many they were, where it had
// to wait.
func (o hubOptions) backOff(ctx context.Context, out io.Writer) (deaths int, err error) {
	b := bootsOf(o.place)
	before := b.count()
	d := pause(before)
	if d == 0 {
		return 0, nil
	}
	o.log.Warn().Int("starts", before).Dur("pause", d).Msg("the hub keeps dying")
	fmt.Fprintf(out, "the hub died %d times in a row; it starts again in %s (see %s)\r\n", before, d, o.place.diary())
	over := time.NewTimer(d)
	defer over.Stop()
	tick := time.NewTicker(startTick)
	defer tick.Stop()
	for {
		select {
		case <-over.C:
			return before, nil
		case <-tick.C:
			if b.count() == 0 {
				return 0, nil
			}
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// standBy shows the hops of the hub that serves, and returns when the stream
// is free.
func standBy(ctx context.Context, o hubOptions, out io.Writer) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	shown := make(chan error, 1)
	go func() {
		shown <- logs.Follow(watching, journalPath(cfg), func(l logs.Line) error {
			showHop(out, l)
			return nil
		}, logs.FollowOptions{FromEnd: true})
	}()
	fmt.Fprint(out, "another hub serves this project; standing by\r\n")
	err = bus.Wait(ctx, o.place.stream())
	stop()
	if showErr := <-shown; err == nil && ctx.Err() == nil {
		err = showErr
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// showHops prints every message as it is accepted, for whoever looks at the
// hub's window. A window that is gone costs nothing but the hops not seen.
func showHops(ctx context.Context, hops hub.Follower, out io.Writer) error {
	for {
		e, err := hops.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("show the hops: %w", err)
		}
		if l, ok := logs.LineOf(e); ok {
			showHop(out, l)
		}
	}
}

func showHop(out io.Writer, l logs.Line) {
	width := 0
	if f, ok := out.(*os.File); ok {
		width = terminalWidth(int(f.Fd()))()
	}
	fmt.Fprint(out, logs.Pretty(l, width, true)+"\r\n")
}
