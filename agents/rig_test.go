package agents_test

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(agentstest.Variable) != "" {
		os.Exit(agentstest.Main())
	}
	flag.Parse()
	// These tests wait more than they work, so a few more at once than there
	// are cores keep the suite short.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

const testMarker = "TESTING OK"

// setup is what a test may ask of its rig beyond the script.
type setup struct {
	script  agentstest.Script
	width   int
	height  int
	history int  // lines tmux keeps; 0 is our own default
	blind   bool // no event client: only the tick wakes
	channel bool
	options func(*agents.Options)
	meddle  func(*rig) // somebody acts between the look at the pane and the paste
}

// rig is one agent at a scripted program in a real tmux.
type rig struct {
	t       testing.TB
	tmux    tmux.Options
	server  *tmux.Server
	info    tmux.PaneInfo
	spec    tmux.PaneSpec
	options agents.Options
	agent   *agents.Agent
	log     string
	meddle  func(*rig)
	cancel  context.CancelFunc
	ran     chan error

	mu       sync.Mutex
	statuses []agents.Status
}

func newRig(t testing.TB, s setup) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, meddle: s.meddle, tmux: tmuxtest.Options(t), log: filepath.Join(dir, "log")}
	s.script.Log = r.log
	if s.script.Marker == "" {
		s.script.Marker = testMarker
	}
	r.options = agents.Options{
		Name: "agent", Role: protocol.SpecialistTesting, Marker: s.script.Marker, Engine: engineFor(s.script.Kind),
		Timeout: 8 * time.Second, AckTimeout: 8 * time.Second, Log: zerolog.Nop(), OnChange: r.changed,
	}
	if s.channel {
		s.script.Spool = filepath.Join(dir, "spool")
		r.options.Spool, r.options.Engine.Channel = s.script.Spool, true
	}
	if s.options != nil {
		s.options(&r.options)
	}
	argv, err := s.script.Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.spec = tmux.PaneSpec{Name: "agent", Argv: argv, Dir: dir}
	r.build(s)
	r.run()
	return r
}

func (r *rig) build(s setup) {
	r.t.Helper()
	r.server = tmux.New(r.tmux)
	panes, err := r.server.Build(r.t.Context(), tmux.SessionSpec{
		Hub: tmux.PaneSpec{Argv: []string{"sleep", "1000"}}, Agents: []tmux.PaneSpec{r.spec},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range panes {
		if p.Name == r.spec.Name {
			r.info = p
		}
	}
	if s.history > 0 {
		// A pane keeps the limit it was made with, so it is made again.
		r.command("set-option", "-t", r.tmux.Session, "history-limit", strconv.Itoa(s.history))
		r.command("kill-pane", "-t", r.info.ID)
		if r.info, err = r.server.Respawn(r.t.Context(), r.spec); err != nil {
			r.t.Fatal(err)
		}
	}
	if s.width > 0 || s.height > 0 {
		r.resize(max(s.width, 33), max(s.height, 24))
	}
	if !s.blind {
		tmuxtest.Run(r.t, r.server)
	}
}

// run starts the agent's owner; stop ends it, as the end of a hub would.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var pane agents.Terminal = terminal{r.server.Pane(r.info)}
	if r.meddle != nil {
		pane = meddled{terminal{r.server.Pane(r.info)}, func() { r.meddle(r) }}
	}
	r.agent = agents.New(pane, r.options)
	agent, ran := r.agent, make(chan error, 1)
	r.cancel, r.ran = cancel, ran
	go func() { ran <- agent.Run(ctx) }()
	r.t.Cleanup(cancel)
}

func (r *rig) stop() {
	r.t.Helper()
	r.cancel()
	select {
	case <-r.ran:
	case <-time.After(tmuxtest.Wait):
		r.t.Fatal("got an agent that runs on, want it to end with its context")
	}
}

func (r *rig) changed(s agents.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses = append(r.statuses, s)
}

// was says whether the agent has ever been in a state for a reason.
func (r *rig) was(state protocol.AgentState, reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.statuses {
		if s.State == state && strings.Contains(s.Reason, reason) {
			return true
		}
	}
	return false
}

// command runs a tmux command on the rig's own server.
func (r *rig) command(args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-L", r.tmux.Socket}, args...)...)
	cmd.Env = r.tmux.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Errorf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// resize changes the window and waits until the program's terminal has the new
// size, which tmux tells it only a moment later.
func (r *rig) resize(width, height int) {
	r.t.Helper()
	r.command("resize-window", "-t", r.info.ID, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
	tty, err := os.Open(strings.TrimSpace(r.command("display-message", "-p", "-t", r.info.ID, "#{pane_tty}")))
	if err != nil {
		r.t.Fatal(err)
	}
	defer tty.Close()
	tmuxtest.Eventually(r.t, tmuxtest.Wait, func() bool {
		columns, rows, err := term.GetSize(int(tty.Fd()))
		return err == nil && columns == width && rows <= height && rows > height-3
	})
}

// attempt is one exchange and everything that was seen of it.
type attempt struct {
	answer agents.Answer
	err    error
	steps  []protocol.StepName
	done   time.Time
}

func (a attempt) failure() *agents.Failure {
	var f *agents.Failure
	errors.As(a.err, &f)
	return f
}

func (r *rig) send(req agents.Request) attempt {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return r.sendIn(ctx, req)
}

func (r *rig) sendIn(ctx context.Context, req agents.Request) attempt {
	var out attempt
	if req.From == "" {
		req.From = "user"
	}
	out.answer, out.err = r.agent.Exchange(ctx, req, func(s protocol.StepName, _ string) error {
		out.steps = append(out.steps, s)
		return nil
	})
	out.done = time.Now()
	return out
}

// entries returns the program's log of one kind.
func (r *rig) entries(event string) (out []agentstest.Entry) {
	r.t.Helper()
	all, err := agentstest.Read(r.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	for _, e := range all {
		if e.Event == event {
			out = append(out, e)
		}
	}
	return out
}

// terminal hands a real pane to an agent, as the hub does.
type terminal struct{ *tmux.Pane }

// meddled is a terminal at which somebody acts just before each paste.
type meddled struct {
	terminal
	act func()
}

func (m meddled) Paste(ctx context.Context, seen agents.Screen, note string, parts ...[]byte) error {
	m.act()
	return m.terminal.Paste(ctx, seen, note, parts...)
}

func (t terminal) Paste(ctx context.Context, seen agents.Screen, note string, parts ...[]byte) error {
	pane := t.Pane
	if seen.Pane != "" {
		pane = pane.While(tmux.Screen(seen))
	}
	return translate(pane.Paste(ctx, note, parts...))
}

func (t terminal) Press(ctx context.Context, keys ...string) error {
	return translate(t.Pane.Press(ctx, keys...))
}

func (t terminal) Capture(ctx context.Context, history int) (agents.Screen, error) {
	s, err := t.Pane.Capture(ctx, history)
	return agents.Screen(s), translate(err)
}

func translate(err error) error {
	switch {
	case errors.Is(err, tmux.ErrMoved):
		return errors.Join(agents.ErrMoved, err)
	case errors.Is(err, tmux.ErrRefused):
		return errors.Join(agents.ErrRefused, err)
	case errors.Is(err, tmux.ErrGone):
		return errors.Join(agents.ErrGone, err)
	}
	return err
}

func engineFor(kind string) agents.Engine {
	compile := func(patterns ...string) (out []*regexp.Regexp) {
		for _, p := range patterns {
			out = append(out, regexp.MustCompile(p))
		}
		return out
	}
	if kind == agentstest.Line {
		return agents.Engine{
			Name: kind, Composer: compile(`^> ?`), Busy: compile(`esc to interrupt`),
			Interrupt: []string{"C-c"}, Settle: 30 * time.Millisecond,
		}
	}
	return agents.Engine{
		Name: kind, Ready: compile(`^❯`), Composer: compile(`^❯`), Busy: compile(`esc to interrupt`),
		Dialog: compile(`Do you want to proceed\?`), Interrupt: []string{"Escape"}, Multiline: true,
		Settle: 60 * time.Millisecond,
	}
}
