package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/bus"
	"orchestrator-cc/protocol"
)

type serveOptions struct {
	port, config, engine, prompt string
}

// defaultPort is where serve listens when nothing else is said.
const defaultPort = "8000"

func newServeCommand(a *app) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the hub here, in the foreground, with the HTTP interface",
		Long: `Run the hub here, in the foreground, with the HTTP interface; Ctrl-C ends
everything. Programs need a key: orchestrator-cc keys add NAME --scope submit`,
		Example: `  orchestrator-cc serve --port 8000
  orchestrator-cc serve --config config/cc-cluster.yaml --prompt "review the last commit"`,
		GroupID: groupStart,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runServe(c.Context(), a, o) },
	}
	f := c.Flags()
	f.StringVar(&o.port, "port", "", "the port on 127.0.0.1 (default: api.listen of the configuration, else "+defaultPort+")")
	f.StringVar(&o.config, "config", "", "the configuration (default: config/cc-cluster.yaml, else the built-in one)")
	f.StringVar(&o.engine, "engine", "", "the engine of every agent that names none (default: as configured)")
	_ = c.RegisterFlagCompletionFunc("engine", a.completeEngines) // The flag is there.
	f.StringVar(&o.prompt, "prompt", "", "a first task for the boss; its answer goes to stdout")
	return c
}

func runServe(ctx context.Context, a *app, o serveOptions) error {
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return err
	}
	if hub, err := a.living(ctx, p); err != nil || hub != nil {
		if hub != nil {
			hub.Close()
			err = withHint(fmt.Errorf("a hub runs in %s already", p.root), "end it with: orchestrator-cc down")
		}
		return err
	}
	options, cfg, err := a.prepare(ctx, p, upOptions{engine: o.engine, config: o.config, port: o.port})
	if err != nil {
		return err
	}
	if options.listen == "" && cfg.API.Listen == "" {
		if options.listen, err = portAddress(defaultPort); err != nil {
			return err
		}
	}
	diary, err := openDiary(p.diary())
	if err != nil {
		return err
	}
	defer diary.Close()
	options.log = diary.logger()

	// The hub does not end with ctx: a hub that ends so leaves the session to
	// the next one, but Ctrl-C here means the end of everything.
	ended := make(chan error, 1)
	go func() { ended <- runHub(context.WithoutCancel(ctx), options, a.err.w) }()
	return a.attend(ctx, p, o, ended)
}

// attend says when the company is ready, gives it its first task, and ends it
// when ctx does.
func (a *app) attend(ctx context.Context, p place, o serveOptions, ended chan error) error {
	hub := &link{Client: api.NewClient(p.apiSocket(a.getenv), ""), place: p}
	defer hub.Close()
	begun, stop := context.WithCancel(ctx)
	defer stop()
	first := make(chan error, 1)
	go func() { first <- a.begin(begun, hub, o) }()
	for {
		select {
		case err := <-ended:
			stop()
			if first != nil {
				<-first
			}
			if errors.Is(err, bus.ErrLocked) {
				return withHint(errors.New("another hub serves this project"), "end it with: orchestrator-cc down")
			}
			return err
		case err := <-first:
			first = nil
			if err != nil && ctx.Err() == nil {
				return errors.Join(err, a.end(hub, ended))
			}
		case <-ctx.Done():
			if first != nil {
				<-first
			}
			return a.end(hub, ended)
		}
	}
}

// begin waits until every agent is ready and asks the boss the first thing.
func (a *app) begin(ctx context.Context, hub *link, o serveOptions) error {
	starting, cancel := context.WithTimeout(ctx, upPatience)
	defer cancel()
	if err := hub.Await(starting, upPatience); err != nil {
		return err
	}
	overview, err := a.ready(ctx, hub)
	if err != nil {
		return err
	}
	card, _, err := hub.place.readHubCard()
	if err != nil {
		return err
	}
	a.err.printf("ready\n%s", httpWay(card))
	if o.prompt == "" {
		return nil
	}
	boss := slices.IndexFunc(overview.Agents, func(s protocol.AgentStatus) bool { return s.Role.Rank() == protocol.RankBoss })
	if boss < 0 {
		return usagef("--prompt needs an agent with the role %s", protocol.GrandBoss)
	}
	m, err := sendOptions{to: overview.Agents[boss].Name, kind: kindTask, priority: string(protocol.Normal)}.message(o.prompt)
	if err != nil {
		return err
	}
	receipt, err := hub.Post(ctx, m, true)
	if err != nil {
		return err
	}
	result, err := a.await(ctx, hub, receipt)
	if err != nil {
		return err
	}
	if err := a.deliver(result, false); err != nil {
		complain(&a.ui, err, "orchestrator-cc serve") // The hub goes on; the task waits for a person.
	}
	return nil
}

// end asks the hub to end everything and waits until it has.
func (a *app) end(hub *link, ended chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), downPatience)
	defer cancel()
	if err := hub.Shutdown(ctx); err != nil && !errors.Is(err, api.ErrUnreachable) {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(downPatience):
		return withHint(errors.New("the hub was asked to end but goes on"), "end it with: orchestrator-cc down")
	}
}
