// Package tmux drives one tmux server: a session with a window for the hub and panes for the agents, what is typed into
// the panes, what stands on their screens, and the notices that something changed there.
//
// Every command is its own short-lived tmux process with a deadline, so nothing the driver does can wedge the server.
// The one long-lived connection, the control-mode client behind Run, only wakes its readers up: it carries no text, and
// when it is missing or wedged every other method works as before. Wake-ups are coalesced (a slow reader finds one, not
// a thousand); a reader who needs the truth takes a Capture or asks for Panes.
//
// Panes are known by their tmux id together with an epoch kept in a pane option. Whatever is typed is guarded inside the
// server by that epoch, so text meant for a process that has died, or sent late by a driver that has been replaced, is
// refused and never typed. When this process dies the server and its panes live on, and tmux itself starts a dead hub
// again; when the server dies, Start and Build make a new one.
//
// A session that does not carry our project's mark is foreign: it is reported and never touched.
package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// What a caller branches on; test with errors.Is.
var (
	// ErrMoved says that nothing was typed: the pane is no longer as it was seen.
	ErrMoved = errors.New("the pane has changed since it was looked at, nothing was typed")
	// ErrRefused says that nothing was typed: the pane's process is dead, its epoch is another one, or its input is off.
	ErrRefused = errors.New("refused by the pane's guard, nothing was typed")
	// ErrGone says that the pane, the session or the server is not there.
	ErrGone = errors.New("not there")
	// ErrForeign says that a session of our name belongs to somebody else.
	ErrForeign = errors.New("session belongs to somebody else")
	// ErrMissing says that there is no tmux program.
	ErrMissing = errors.New("tmux is not installed")
	// ErrTooOld says that the tmux program is older than 3.2.
	ErrTooOld = errors.New("tmux is too old")
)

// Options name a server, a session on it and its owner.
type Options struct {
	Bin        string         // the program; "" is tmux
	Socket     string         // name of the server (-L); "default" is the user's own
	Session    string         // exact name of the session
	Project    string         // the owner's id, kept in the session option @orchestrator_project
	UserConfig bool           // load the user's tmux.conf instead of ours
	Dir        string         // folder (0700) for our configuration file and for text on its way into a pane
	Env        []string       // environment of the server and its commands; nil is this process's own
	Log        zerolog.Logger // the diary
}

// Size is a width and a height in cells.
type Size struct{ Width, Height int }

// cover is the smallest size that holds both.
func (a Size) cover(b Size) Size { return Size{max(a.Width, b.Width), max(a.Height, b.Height)} }

// Server is one tmux server with our session. Its methods may be called from several goroutines.
type Server struct {
	o   Options
	env []string
	tag string // names this driver's paste buffers, so that those of a dead one can be told apart

	gate   sync.RWMutex // held by commands; by the event client while it attaches
	build  sync.Mutex   // held while panes are made or removed
	spec   SessionSpec
	labels sync.Map               // pane id -> labelled
	paste  atomic.Pointer[string] // the flags of a paste, once they are known

	events  events
	changes chan struct{}
}

// New describes a server; it touches nothing.
func New(o Options) *Server {
	if o.Bin == "" {
		o.Bin = "tmux"
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	s := &Server{o: o, env: cleanEnv(o.Env), tag: token(), changes: make(chan struct{}, 1)}
	s.events = events{
		pingEvery: 2 * time.Second, pingLimit: 5 * time.Second, greet: greetLimit,
		outputs: map[string]readers{}, wake: make(chan struct{}, 1),
	}
	return s
}

// Changes wakes its reader when a pane died, a window, the layout or a client changed, or the server went or came back.
// Notices while nobody reads are merged into one.
func (s *Server) Changes() <-chan struct{} { return s.changes }

// private says whether the whole server is ours to configure and to end.
func (s *Server) private() bool { return s.o.Socket != "default" }

// target is the session, by its exact name, in the form every command takes.
func (s *Server) target() string { return "=" + s.o.Session + ":" }

// socketPath is where tmux puts the socket.
func (s *Server) socketPath() string {
	dir := lookup(s.env, "TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	return filepath.Join(dir, "tmux-"+uid(), s.o.Socket)
}

// poke leaves one notice in a channel of capacity one and never blocks.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
