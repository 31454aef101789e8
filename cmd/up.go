package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

type upOptions struct {
	engine string
	config string
	port   string
	attach bool
}

// upPatience bounds the start of a hub, and is given to agents even when they
// do not seem to start any more: those that still do are waited for.
const upPatience = 60 * time.Second

func newUpCommand(a *app) *cobra.Command {
	var o upOptions
	c := &cobra.Command{
		Use:   "up",
		Short: "Start the session, the hub and the agents, and wait until all are ready",
		Long:  "Start the session, the hub and the agents, and wait until all are ready.\nSafe to repeat: what runs is kept, what is missing is made.",
		Example: `  orchestrator-cc up
  orchestrator-cc up --engine builtin --attach
  orchestrator-cc up --port 8000`,
		GroupID: groupStart,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runUp(c.Context(), a, o) },
	}
	f := c.Flags()
	f.StringVar(&o.engine, "engine", "", "the engine of every agent that names none (default: as configured)")
	f.StringVar(&o.config, "config", "", "the configuration (default: config/cc-cluster.yaml, else the built-in one)")
	f.StringVar(&o.port, "port", "", "also serve HTTP on this port of 127.0.0.1, for programs with a key")
	f.BoolVar(&o.attach, "attach", false, "show the session when it is ready")
	_ = c.RegisterFlagCompletionFunc("engine", a.completeEngines) // The flag is there.
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		// Only who asks for help waits for the configuration to be read.
		engines, _ := a.completeEngines(c, nil, "")
		f.Lookup("engine").Usage = "the engine of every agent that names none: " + strings.Join(engines, ", ") + " (default: as configured)"
		c.Root().HelpFunc()(c, args)
	})
	return c
}

func runUp(ctx context.Context, a *app, o upOptions) error {
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return err
	}
	hub, overview, err := a.raise(ctx, p, o)
	for again := 0; again < 2 && errors.Is(err, errSessionGone); again++ {
		hub, overview, err = a.raise(ctx, p, o) // everything died under our eyes
	}
	if ctx.Err() != nil {
		return withHint(errors.New("stopped waiting; what was started goes on"), "look at it with: orchestrator-cc status; end it with: orchestrator-cc down")
	}
	if err != nil {
		return err
	}
	defer hub.Close()
	a.out.printf("%s\n%s", readyTable(a.out, overview), waysIn(overview.Hub, overview.Agents))
	a.out.printf("%s", httpWay(hub.card))
	if o.attach {
		return runAttach(ctx, a, attachOptions{})
	}
	return nil
}

// raise finds the living hub or starts one, and waits until everybody is ready.
func (a *app) raise(ctx context.Context, p place, o upOptions) (*link, protocol.Overview, error) {
	starting, cancel := context.WithTimeout(ctx, upPatience)
	defer cancel()
	hub, err := a.living(starting, p)
	if err != nil {
		return nil, protocol.Overview{}, err
	}
	if hub != nil {
		a.err.printf("already running in %s\n", p.root)
		err = a.compare(starting, hub, o)
	} else {
		hub, err = a.start(starting, p, o)
	}
	var overview protocol.Overview
	if err == nil {
		overview, err = a.ready(ctx, hub)
	}
	if err != nil && hub != nil {
		hub.Close()
	}
	return hub, overview, err
}

// living is the link to a hub that answers, or nil where none does.
func (a *app) living(ctx context.Context, p place) (*link, error) {
	card, found, err := p.readHubCard()
	if err != nil || !found {
		return nil, err
	}
	client := api.NewClient(card.Socket, a.getenv(envSecret))
	if _, err := client.Health(ctx); err != nil {
		client.Close()
		if errors.Is(err, api.ErrUnreachable) {
			return nil, nil
		}
		return nil, err
	}
	return &link{Client: client, place: p, card: card}, nil
}

// start checks everything that can be checked beforehand, then starts the tmux
// server with the hub in it. Where the hub does not come, nothing stays.
func (a *app) start(ctx context.Context, p place, o upOptions) (*link, error) {
	options, cfg, err := a.prepare(ctx, p, o)
	if err != nil {
		return nil, err
	}
	server := newTmux(p, cfg, options.server, zerolog.Nop())
	before, err := server.Exists(ctx)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	said := diaryEnd(p)
	bootsOf(p).lasted() // a person who asks need not wait for earlier crashes
	err = server.Start(ctx, hubPane(options, self), a.size())
	if err == nil {
		var hub *link
		if hub, err = a.awaitHub(ctx, p, server, said); err == nil {
			return hub, nil
		}
	}
	if before {
		return nil, withHint(err, "look at it with: orchestrator-cc doctor; end it with: orchestrator-cc down")
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), downPatience)
	defer cancel()
	_, undo := clearAway(ending, p, hubCard{TmuxSocket: options.server, Session: cfg.Cluster.SessionName})
	return nil, errors.Join(err, undo)
}

// prepare reads the configuration, makes the state folder and settles the name
// of the tmux server.
func (a *app) prepare(ctx context.Context, p place, o upOptions) (hubOptions, config.Config, error) {
	options := hubOptions{place: p, engine: o.engine, log: zerolog.Nop()}
	listen, err := portAddress(o.port)
	if err != nil {
		return options, config.Config{}, err
	}
	options.listen = listen
	if _, err := tmux.Probe(ctx, ""); err != nil {
		return options, config.Config{}, err
	}
	options.configPath = a.fromHere(o.config)
	card, _, err := p.readHubCard() // of a hub that died without its session being ended
	if err != nil {
		return options, config.Config{}, err
	}
	options.auto = card.Auto
	cfg, err := options.config()
	if err != nil {
		return options, cfg, badConfig(err)
	}
	options.auto = cfg.Auto
	for _, warning := range cfg.Warnings {
		a.err.printf("%s %s\n", a.err.paint(faint, "note:"), warning)
	}
	if err := p.makeState(); err != nil {
		return options, cfg, err
	}
	options.server, err = serverName(ctx, p, cfg)
	return options, cfg, err
}

// serverName is the tmux server for this project: the configured one, the one
// its session is on, or a new one named after the session, which gets the
// project's hash where another project has taken the plain name.
func serverName(ctx context.Context, p place, cfg config.Config) (string, error) {
	if cfg.Tmux.Socket != "" {
		_, err := newTmux(p, cfg, cfg.Tmux.Socket, zerolog.Nop()).Exists(ctx)
		return cfg.Tmux.Socket, err
	}
	names := []string{cfg.Cluster.SessionName, cfg.Cluster.SessionName + "-" + p.hash()}
	free := ""
	var taken error
	for _, name := range names {
		ours, err := newTmux(p, cfg, name, zerolog.Nop()).Exists(ctx)
		switch {
		case ours:
			return name, nil
		case err == nil && free == "":
			free = name
		case err != nil && !errors.Is(err, tmux.ErrForeign):
			return "", err
		case err != nil:
			taken = err
		}
	}
	if free == "" {
		return "", taken
	}
	return free, nil
}

// size is this terminal's, so that the session fits the person who started it.
func (a *app) size() tmux.Size {
	if !a.out.terminal {
		return tmux.Size{}
	}
	return tmux.Size{Width: a.out.width(), Height: a.out.height()}
}
