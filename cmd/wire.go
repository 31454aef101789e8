package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/agents"
	"orchestrator-cc/api"
	"orchestrator-cc/bus"
	"orchestrator-cc/config"
	"orchestrator-cc/hub"
	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

// The plan of the house. One process, the hub:
//
//	config -> seats ----.
//	bus.Log (the lock) -+-> hub.Hub -> api.Server on the unix socket, and on
//	tmux.Server --------'              TCP where that is asked for
//
// What is opened here is closed here, in the opposite order.

// hubOptions is what a hub process is started with.
type hubOptions struct {
	place      place
	configPath string // "" = the project's own, else the embedded default
	engine     string // "" = as configured
	auto       string // what the engine auto stands for; "" = to be chosen
	server     string // the tmux server's name
	listen     string // host:port of the HTTP interface; "" = as configured
	deaths     int    // of the hubs before this one, in a row
	log        zerolog.Logger
}

// runHub takes the stream's lock and serves until ctx ends or somebody stops
// the hub; the hops go to out. bus.ErrLocked says that another hub serves this
// project.
func runHub(ctx context.Context, o hubOptions, out io.Writer) error {
	if err := o.place.makeState(); err != nil {
		return err
	}
	stream, err := bus.Open(o.place.stream(), bus.Options{Log: o.log})
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	defer stream.Close()
	defer bootsOf(o.place).begin()()
	// The hub outlives the terminal it was started in: when the tmux server
	// dies, the hub is what makes a new one.
	signal.Ignore(syscall.SIGHUP)
	cfg, err := o.config()
	if err != nil {
		return err
	}
	o.auto = cfg.Auto
	h, err := buildHub(o, cfg, stream)
	if err != nil {
		return err
	}
	socket := o.place.apiSocket(os.Getenv)
	if err := makeSocketDir(socket); err != nil {
		return err
	}
	listener, err := api.Listen(socket)
	if err != nil {
		return fmt.Errorf("open the hub's socket: %w", err)
	}
	defer listener.Close()
	port, err := openPort(o, cfg)
	if err != nil {
		return err
	}
	defer port.Close()
	card := hubCard{
		PID: os.Getpid(), Socket: socket, TmuxSocket: o.server, Session: cfg.Cluster.SessionName,
		Project: o.place.hash(), Config: o.configPath, Started: time.Now().UTC(), Version: version(),
		Auto: cfg.Auto, URL: port.url, Fingerprint: port.fingerprint,
	}
	if err := o.place.writeHubCard(card); err != nil {
		return err
	}
	defer o.place.dropHubCard(os.Getpid())

	server := api.New(h, apiOptions(o, cfg))
	return h.Run(ctx, server.Run,
		func(ctx context.Context) error { return server.Serve(ctx, listener) },
		func(ctx context.Context) error { return port.serve(ctx, server) },
		func(ctx context.Context) error { return showHops(ctx, h.Follow(stream.Last(), ""), out) })
}

// buildHub hands every room what it needs.
func buildHub(o hubOptions, cfg config.Config, stream *bus.Log) (*hub.Hub, error) {
	journal, err := logs.Open(journalPath(cfg), logs.Options{MaxBytes: int64(cfg.Journal.RotateBytes), Keep: cfg.Journal.Keep, Log: o.log})
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	secret, err := paneKey(o.place)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	seats, err := makeSeats(o.place, cfg, self, secret)
	if err != nil {
		return nil, err
	}
	return hub.New(hub.Options{
		Config: cfg, Stream: stream, Journal: journal, Secret: secret, Log: o.log, Seats: seats,
		Server:  newTmux(o.place, cfg, o.server, o.log),
		HubPane: hubPane(o, self), Deaths: o.deaths,
		Health: protocol.Health{
			PID: os.Getpid(), Version: version(), Started: time.Now().UTC(),
			Session: cfg.Cluster.SessionName, Socket: o.server, Journal: journalPath(cfg),
		},
	})
}

func journalPath(cfg config.Config) string {
	return filepath.Join(cfg.Cluster.WorkDir, "logs", "messages.jsonl")
}

// newTmux is the project's tmux server, as every verb talks to it.
func newTmux(p place, cfg config.Config, server string, log zerolog.Logger) *tmux.Server {
	return tmux.New(tmux.Options{
		Socket: server, Session: cfg.Cluster.SessionName, Project: p.hash(),
		UserConfig: cfg.Tmux.Config == config.TmuxUser, Dir: p.run(), Log: log,
	})
}

// hubPane is what the session's hub window runs: a hub, which serves or, where
// one serves already, stands by.
func hubPane(o hubOptions, self string) tmux.PaneSpec {
	argv := []string{self, "hub", "--dir", o.place.root, "--server", o.server}
	if o.configPath != "" {
		argv = append(argv, "--config", o.configPath)
	}
	if o.engine != "" {
		argv = append(argv, "--engine", o.engine)
	}
	if o.auto != "" {
		argv = append(argv, "--auto", o.auto)
	}
	if o.listen != "" {
		argv = append(argv, "--listen", o.listen)
	}
	return tmux.PaneSpec{Name: "hub", Argv: argv, Dir: o.place.root}
}

func (o hubOptions) config() (config.Config, error) {
	return loadConfig(o.place, o.configPath, o.engine, o.auto)
}

// loadConfig reads the named file, the project's own, or the embedded default,
// and settles which program each agent runs. What auto stands for is chosen only
// where nothing is said of it: a session keeps its engine until it is ended.
func loadConfig(p place, path, engine, auto string) (config.Config, error) {
	if path == "" {
		own := filepath.Join(p.root, "config", "cc-cluster.yaml")
		if _, err := os.Stat(own); err == nil {
			path = own
		} else if !errors.Is(err, fs.ErrNotExist) {
			return config.Config{}, fmt.Errorf("look for the configuration: %w", err)
		}
	}
	cfg, err := config.Parse("built-in configuration", nil, p.root)
	if path != "" {
		cfg, err = config.Load(path)
	}
	if err == nil && engine != "" {
		cfg, err = cfg.WithEngine(engine)
	}
	if err != nil {
		return config.Config{}, err
	}
	cfg.Auto = auto
	return cfg.Resolve(func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	})
}

// makeSeats turns the configuration's agents into places at panes.
func makeSeats(p place, cfg config.Config, self string, secret []byte) ([]hub.Seat, error) {
	var seats []hub.Seat
	told := tellCompany(p, cfg)
	for _, a := range cfg.Agents {
		e := cfg.Engines[a.Engine]
		engine, err := agents.EngineOf(e)
		if err != nil {
			return nil, fmt.Errorf("engine of %s: %w", a.Name, err)
		}
		spool := spoolOf(p, a.Name)
		command, err := paneCommand(p, a, e, self, told)
		if err != nil {
			return nil, err
		}
		env := []string{
			envDir + "=" + p.root, envAgent + "=" + a.Name,
			envSecret + "=" + hub.PaneSecret(secret, a.Name), envSpool + "=" + spool,
		}
		for _, k := range slices.Sorted(maps.Keys(a.Env)) {
			env = append(env, k+"="+a.Env[k])
		}
		if e.Channel == config.ChannelNone {
			spool = ""
		}
		seats = append(seats, hub.Seat{
			Name: a.Name, Role: a.Role, Marker: a.Marker, MarkerLoose: a.MarkerLoose,
			EngineName: a.Engine, Brief: pastedBrief(a, e), Engine: engine, Spool: spool, Meter: agents.NewMeter(e.Hooks, folderOf(p, a.Name)),
			Timeout: a.Timeout, HardLimit: cfg.Limits.HardLimit, Version: versionOf(e, a), Forgets: cfg.Sessions.Forget && e.Forget != "",
			BeginAnew: func() error { return beginAnew(folderOf(p, a.Name)) },
			Pane:      tmux.PaneSpec{Name: a.Name, Argv: command, Env: env, Dir: cfg.Cluster.WorkDir},
		})
	}
	return seats, nil
}

// tellCompany is what a program of ours is told besides its own name: who else
// there is, what to investigate, and where to keep things.
func tellCompany(p place, cfg config.Config) []string {
	var team []string
	for _, a := range cfg.Agents {
		team = append(team, a.Name+"="+string(a.Role))
	}
	return []string{"--team", strings.Join(team, ","), "--code", cfg.Cluster.WorkDir, "--files", p.reports()}
}

// paneKey reads the key from which the panes' secrets are derived, and makes
// it at the first start.
func paneKey(p place) ([]byte, error) {
	path := filepath.Join(p.run(), "pane.key")
	key, err := os.ReadFile(path)
	if err == nil && len(key) == 32 {
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the panes' key: %w", err)
	}
	key = make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make the panes' key: %w", err)
	}
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return nil, fmt.Errorf("keep the panes' key: %w", err)
	}
	return key, nil
}
