package cmd

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// rig is an app whose voices can be read, before a hub in memory that is
// served by the real server on a real socket.
type rig struct {
	*app
	hub      *apitest.Hub
	out, err *lockedBuffer
	stop     func() // the server
}

// lockedBuffer can be read while a verb still writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T, react func(*apitest.Hub, protocol.Accepted)) *rig {
	t.Helper()
	p := tempPlace(t)
	if err := p.makeState(); err != nil {
		t.Fatal(err)
	}
	hub := apitest.New(react)
	card := hubCard{PID: os.Getpid(), Socket: apitest.SocketPath(t), TmuxSocket: "none", Session: "orchestrator-cc", Project: p.hash()}
	if err := p.writeHubCard(card); err != nil {
		t.Fatal(err)
	}
	r := quietRig(p)
	r.hub = hub
	r.stop = r.serve(t, card.Socket)
	return r
}

// serve starts the hub's server, again after stop.
func (r *rig) serve(t *testing.T, socket string) (stop func()) {
	t.Helper()
	l, err := api.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Serve(t, api.New(r.hub, api.Options{}), l)
}

// quietRig has no hub.
func quietRig(p place) *rig {
	r := &rig{out: &lockedBuffer{}, err: &lockedBuffer{}}
	unlimited := func() int { return 0 }
	r.app = &app{
		ui: ui{
			in:  strings.NewReader(""),
			out: voice{w: r.out, width: unlimited},
			err: voice{w: r.err, width: unlimited},
		},
		getenv:  noEnv,
		environ: func() []string { return nil },
		dir:     p.root,
		now:     time.Now,
	}
	return r
}

// run runs a command line as main does.
func (r *rig) run(t *testing.T, args ...string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return run(ctx, r.app, args)
}

// wantRun checks a command line's exit code and what stands in its outputs.
func wantRun(t *testing.T, r *rig, args []string, code int, out, errText string) {
	t.Helper()
	got := r.run(t, args...)
	if got != code {
		t.Errorf("got exit %d, want %d (stderr: %s)", got, code, r.err)
	}
	if !strings.Contains(r.out.String(), out) {
		t.Errorf("got stdout %q, want %q in it", r.out, out)
	}
	if !strings.Contains(r.err.String(), errText) {
		t.Errorf("got stderr %q, want %q in it", r.err, errText)
	}
	if strings.Contains(r.out.String()+r.err.String(), "\x1b") {
		t.Errorf("got escape sequences, want none into a pipe: %q %q", r.out, r.err)
	}
}

// replyWith is a company that answers every request at once.
func replyWith(text string) func(*apitest.Hub, protocol.Accepted) {
	return func(h *apitest.Hub, in protocol.Accepted) {
		if in.Message.Header.Type == protocol.Request {
			h.Reply(in.Message.ID(), text)
		}
	}
}
