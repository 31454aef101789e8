package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
	"golang.org/x/term"

	"orchestrator-cc/agents"
	"orchestrator-cc/builtin"
	"orchestrator-cc/bus"
	"orchestrator-cc/config"
	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// agentVariable makes this test program the program of an agent's pane.
const agentVariable = "HUB_TEST_AGENT"

func TestMain(m *testing.M) {
	if name := os.Getenv(agentVariable); name != "" {
		if err := playAgent(name); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func playAgent(name string) error {
	before, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(os.Stdin.Fd()), before)
	return builtin.Run(context.Background(), builtin.Options{
		Name: name, Marker: os.Getenv("MARKER"), Spool: os.Getenv("SPOOL"), Brain: &builtin.Drill{},
		In: os.Stdin, Out: os.Stdout, Width: func() int { return 80 },
	})
}

const company = `
engine: builtin
agents:
  - {name: boss_one, role: grand_boss, marker: BOSS OK, personality_prompt_path: brief.txt}
  - {name: worker_one, role: specialist_one, marker: ONE OK, personality_prompt_path: brief.txt}
  - {name: worker_two, role: specialist_two, marker: TWO OK, personality_prompt_path: brief.txt}
retry: {max: 1, initial: 10ms, max_delay: 10ms}
`

// house is a place where hubs live, one after the other.
type house struct {
	t       testing.TB
	dir     string
	config  config.Config
	options tmux.Options
	diary   *diary
}

// diary is where hubs write, for tests to read.
type diary struct {
	mu   sync.Mutex
	text strings.Builder
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

func (d *diary) count(words string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Count(d.text.String(), words)
}

func newHouse(t testing.TB) *house {
	t.Helper()
	o := tmuxtest.Options(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "brief.txt"), []byte("Be brief.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("test", []byte(company), dir)
	if err == nil {
		cfg, err = cfg.Resolve(func(string) bool { return true })
	}
	if err != nil {
		t.Fatal(err)
	}
	return &house{t: t, dir: dir, config: cfg, options: o, diary: &diary{}}
}

// resident is a hub that runs in the house.
type resident struct {
	*Hub
	t    testing.TB
	stop func() error // ends the hub as a signal would; the session stays
}

// open starts a hub. Whoever opens it may close it; the test's end does too.
func (h *house) open() *resident {
	h.t.Helper()
	log := zerolog.New(h.diary)
	if _, measured := h.t.(*testing.B); !measured {
		log = zerolog.New(io.MultiWriter(zerolog.NewTestWriter(h.t), h.diary))
	}
	stream, err := bus.Open(filepath.Join(h.dir, "stream"), bus.Options{Log: log})
	if err != nil {
		h.t.Fatal(err)
	}
	journal, err := logs.Open(filepath.Join(h.dir, "messages.jsonl"), logs.Options{Log: log})
	if err != nil {
		h.t.Fatal(err)
	}
	hub, err := New(Options{
		Config: h.config, Stream: stream, Journal: journal, Server: tmux.New(h.options), Seats: h.seats(),
		HubPane: tmux.PaneSpec{Name: "hub", Argv: []string{"sleep", "1000"}}, Secret: []byte("key"), Log: log,
		Health: protocol.Health{PID: os.Getpid(), Started: time.Now()},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(ctx) }()
	r := &resident{Hub: hub, t: h.t}
	r.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, stream.Close())
	})
	h.t.Cleanup(func() {
		if err := r.stop(); err != nil && !errors.Is(err, context.Canceled) {
			h.t.Errorf("hub ended with %v", err)
		}
	})
	return r
}

func (h *house) seats() (seats []Seat) {
	for _, a := range h.config.Agents {
		engine, err := agents.EngineOf(h.config.Engines[config.Builtin])
		if err != nil {
			h.t.Fatal(err)
		}
		spool := filepath.Join(h.dir, a.Name+".spool")
		seats = append(seats, Seat{
			Name: a.Name, Role: a.Role, Marker: a.Marker, EngineName: a.Engine, Engine: engine, Spool: spool,
			Timeout: a.Timeout, HardLimit: time.Hour,
			Pane: tmux.PaneSpec{
				Name: a.Name, Argv: []string{os.Args[0]}, Dir: h.dir,
				Env: []string{agentVariable + "=" + a.Name, "MARKER=" + a.Marker, "SPOOL=" + spool},
			},
		})
	}
	return seats
}

func (r *resident) ask(agent, text string) string {
	r.t.Helper()
	e, err := r.submit(agent, text)
	if err != nil {
		r.t.Fatal(err)
	}
	return e.Message.Message.ID()
}

func (r *resident) submit(agent, text string) (protocol.Entry, error) {
	to, err := r.Party(agent)
	if err != nil {
		return protocol.Entry{}, err
	}
	m := protocol.New(protocol.FromUser(), to, protocol.TaskRequest(text))
	return r.Submit(context.Background(), protocol.Accepted{Message: m})
}

// order gives a command about a task or, without one, about an agent.
func (r *resident) order(agent string, c protocol.Command, task string) {
	r.t.Helper()
	to, err := r.Party(agent)
	if err != nil {
		r.t.Fatal(err)
	}
	p := &protocol.ControlPayload{Command: c}
	if task != "" {
		p.Params = fmt.Appendf(nil, `{"task":%q}`, task)
	}
	m := protocol.New(protocol.FromUser(), to, p).WithPriority(protocol.Critical)
	if _, err := r.Submit(context.Background(), protocol.Accepted{Message: m}); err != nil {
		r.t.Fatal(err)
	}
}

// await waits until a task has a state and returns it.
func (r *resident) await(id string, want protocol.TaskState) (task protocol.Task) {
	r.t.Helper()
	ok := tmuxtest.Within(2*tmuxtest.Wait, func() bool {
		var err error
		task, err = r.Task(id)
		return err == nil && task.State == want
	})
	if !ok {
		r.t.Fatalf("got task %+v, want it %s", task, want)
	}
	return task
}

// awaitTaken waits until the agent has a task's prompt.
func (r *resident) awaitTaken(id string) {
	r.t.Helper()
	tmuxtest.Eventually(r.t, 2*tmuxtest.Wait, func() bool {
		task, err := r.Task(id)
		return err == nil && slices.ContainsFunc(task.Attempts, func(a protocol.Attempt) bool {
			return slices.ContainsFunc(a.Steps, func(m protocol.Mark) bool { return m.Step == protocol.Taken })
		})
	})
}

// status waits until an agent is in a state and returns it.
func (r *resident) status(agent string, want protocol.AgentState) (found protocol.AgentStatus) {
	r.t.Helper()
	ok := tmuxtest.Within(2*tmuxtest.Wait, func() bool {
		for _, a := range r.Overview().Agents {
			if a.Name == agent {
				found = a
			}
		}
		return found.State == want
	})
	if !ok {
		r.t.Fatalf("got %s %s (%s), want it %s", agent, found.State, found.Reason, want)
	}
	return found
}
