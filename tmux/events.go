package tmux

// The event client and its life:
//
//	Run -> connect -> read until it ends -> wait a little -> connect ...
//	          |            '-> %output: poke the pane's readers; other notices: poke Changes
//	          '-> ping: every two seconds a command whose answer must come, or the client is ended and made anew
//
// The reader hands nothing on but pokes into channels of capacity one, so nobody can make it wait. That matters: tmux
// stops reading from the panes when a control client does not read.

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// detachLimit is how long a client may take to go by itself; a stuck one never does.
	detachLimit = time.Second
	// greetLimit is how long commands wait for a client that is attaching. A healthy one takes about 5 ms, and a second
	// or two where the machine is busy beyond measure. After one that never spoke they wait only muteLimit for the next.
	greetLimit = 3 * time.Second
	muteLimit  = 100 * time.Millisecond
	backoffMin = 50 * time.Millisecond
	backoffMax = 2 * time.Second
)

// events is what Run and its readers share.
type events struct {
	pingEvery, pingLimit time.Duration
	greet                time.Duration // how long commands wait for a client
	mute                 bool          // the last one did not speak in that time; kept under the gate

	mu      sync.Mutex
	down    bool               // Shutdown has begun: no new client until the next Start
	current *client            // the client that is attached or attaching
	outputs map[string]readers // by pane id

	connected atomic.Bool
	wake      chan struct{} // ends a wait between two clients
}

// client is one control-mode process.
type client struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   io.ReadCloser
	began time.Time
	pong  atomic.Int64 // how long after its begin it last answered; a clock that is set does not matter so

	greeted chan struct{} // closed at its first line
	read    chan struct{} // closed when its output has ended
	done    chan struct{} // closed when the process has been waited for
}

// readers are those who wait for the output of a pane at an epoch.
type readers struct {
	epoch string
	wake  []chan struct{}
}

// subscribe registers a reader of a pane's output. Those of an earlier epoch are let go.
func (e *events) subscribe(pane, epoch string) chan struct{} {
	c := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.outputs[pane]
	if r.epoch != epoch {
		r = readers{epoch: epoch}
	}
	r.wake = append(r.wake, c)
	e.outputs[pane] = r
	return c
}

// resume lets Run connect again.
func (e *events) resume() {
	e.mu.Lock()
	e.down = false
	e.mu.Unlock()
	poke(e.wake)
}

// Connected says whether the control client is attached now.
func (s *Server) Connected() bool { return s.events.connected.Load() }

// Run keeps the event client attached until ctx ends, then detaches it in good order.
func (s *Server) Run(ctx context.Context) error {
	delay := backoffMin
	for ctx.Err() == nil {
		began := time.Now()
		if err := s.attend(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Debug().Err(err).Msg("event client ended")
		}
		if time.Since(began) > backoffMax {
			delay = backoffMin
		}
		wait := time.NewTimer(delay)
		select {
		case <-ctx.Done():
		case <-s.events.wake:
			delay = backoffMin
		case <-wait.C:
			delay = min(2*delay, backoffMax)
		}
		wait.Stop()
	}
	return nil
}

// attend runs one client from attaching to its end.
func (s *Server) attend(ctx context.Context) error {
	if err := s.confirm(ctx); err != nil {
		return err
	}
	c, err := s.attach()
	if err != nil || c == nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.watch(ctx, c)
	}()
	<-c.read
	err = c.cmd.Wait()
	close(c.done)
	<-ended
	s.events.connected.Store(false)
	s.events.mu.Lock()
	s.events.current = nil
	s.events.mu.Unlock()
	_ = os.Remove(s.pidPath())
	poke(s.changes)
	return err
}

// attach starts a client and its reader, and holds back our own commands until the client speaks: tmux crashes when
// it has something to tell a control client that has not yet introduced itself. Commands of others cannot be held
// back, but the introduction is short: see bare.
func (s *Server) attach() (*client, error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	c, err := s.connect()
	if err != nil || c == nil {
		return nil, err
	}
	go func() {
		defer close(c.read)
		s.read(c)
	}()
	limit := s.events.greet
	if s.events.mute {
		limit = muteLimit
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c.greeted:
		s.events.mute = false
	case <-c.read:
	case <-t.C:
		s.events.mute = true
	}
	return c, nil
}

// connect starts a client, unless a Shutdown has begun; then it returns none.
func (s *Server) connect() (*client, error) {
	e := &s.events
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		return nil, nil
	}
	c := &client{began: time.Now(), greeted: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{})}
	c.cmd = exec.Command(s.o.Bin, append(s.base(), "-C", "attach-session", "-E", "-t", "="+s.o.Session)...)
	c.cmd.Env = bare(s.env)
	// A group of its own keeps a Ctrl-C at the terminal of this process away from it.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("attach event client: %w", err)
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("attach event client: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("attach event client: %w", err)
	}
	e.current = c
	// Whoever comes after a crash of this process can end a client that got stuck.
	if err := os.WriteFile(s.pidPath(), []byte(strconv.Itoa(c.cmd.Process.Pid)), 0o600); err != nil {
		s.o.Log.Warn().Err(err).Msg("event client is not on record")
	}
	return c, nil
}

// bare leaves what tmux itself needs. A client introduces itself variable by variable, and a large environment would
// take long; -E keeps the session from taking over what is missing here.
func bare(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "TERM", "TMUX_TMPDIR", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE":
			out = append(out, kv)
		}
	}
	return out
}

// watch pings the client, and ends it when it stops answering or ctx ends. The reader goes on until the client is gone.
func (s *Server) watch(ctx context.Context, c *client) {
	tick := time.NewTicker(s.events.pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.read:
			return
		case <-ctx.Done():
			c.stop()
			return
		case <-tick.C:
		}
		if silent := time.Since(c.began) - time.Duration(c.pong.Load()); silent > s.events.pingLimit+s.events.pingEvery {
			s.o.Log.Warn().Int("pid", c.cmd.Process.Pid).Msg("event client does not answer, making a new one")
			c.stop()
			return
		}
		// An empty line would detach the client. The pipe takes far more of these than the limit allows unanswered.
		if _, err := io.WriteString(c.stdin, "display-message -p pong\n"); err != nil {
			s.o.Log.Debug().Err(err).Msg("event client takes no commands")
		}
	}
}

// stop detaches the client: its input is closed, it gets a moment to go, then it is killed by its process id. The
// server holds the other end of the output too, so that is let go of last.
func (c *client) stop() {
	_ = c.stdin.Close()
	for _, harder := range []func() error{c.cmd.Process.Kill, c.out.Close} {
		t := time.NewTimer(detachLimit)
		select {
		case <-c.done:
			t.Stop()
			return
		case <-t.C:
			_ = harder()
		}
	}
}

// pidPath is where the event client's process id is on record.
func (s *Server) pidPath() string { return filepath.Join(s.o.Dir, "events.pid") }

// killStuckClient ends the client of an earlier driver which holds a dying server's socket. The record alone is not
// enough, since process ids are used again: the process must also be such a client by its command line.
func (s *Server) killStuckClient(ctx context.Context) bool {
	text, err := os.ReadFile(s.pidPath())
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, execTimeout)
	defer cancel()
	args, err := exec.CommandContext(ctx, "ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if err != nil || !strings.Contains(string(args), "-L "+s.o.Socket+" ") || !strings.Contains(string(args), " -C attach-session") {
		return false
	}
	s.o.Log.Warn().Int("pid", pid).Msg("ending the stuck event client of an earlier run")
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}
