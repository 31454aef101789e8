package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"orchestrator-cc/protocol"
)

// A WebSocket is one person's window on one session.
//
//	frames in  -> socketIn.go: submitUserInput, provideConfirmation, provideDialogAnswer -> the hub
//	the stream -> socketOut.go: onNewMessage, onToolCallRequest, onAgentStateChange -> frames out
//	the panes  -> socketDialog.go: onDialogRequest, onDialogClosed -> frames out
//
// A window that does not take its frames, or does not answer a ping, is closed.

// mostFrame leaves room for attachments, which come as base64.
const mostFrame = 4 * mostAttached

// socketsKey finds the count of open WebSockets, which a server that ends waits
// for: it no longer knows connections that were handed over.
type socketsKey struct{}

// window is one open WebSocket.
type window struct {
	server *Server
	conn   *websocket.Conn
	caller caller
	name   string // the session, as the client knows it
}

func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		refusePlain(w, protocol.Faultf(protocol.CodeInvalid, "this is a WebSocket").Cure("connect with a WebSocket client; plain requests use POST /submit_task"))
		return
	}
	c := callerOf(r.Context())
	if !c.named {
		var err error
		if c, err = c.in("ws-" + protocol.NewID()); err != nil {
			refusePlain(w, err)
			return
		}
	}
	if open, ok := r.Context().Value(socketsKey{}).(*sync.WaitGroup); ok {
		open.Add(1)
		defer open.Done()
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		s.options.Log.Debug().Err(err).Msg("WebSocket not opened")
		return // Accept has answered.
	}
	defer s.tally.stream()()
	conn.SetReadLimit(mostFrame)
	win := &window{server: s, conn: conn, caller: c, name: c.shown(c.session)}
	if err := win.run(r.Context()); err != nil {
		s.options.Log.Debug().Err(err).Msg("WebSocket ended")
	}
	_ = conn.CloseNow() // What there was to say is said.
}

// run serves until the client goes, the server ends, or the client is too slow.
func (w *window) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	view := w.begin()
	if err := w.send(ctx, view.state()); err != nil {
		return err
	}
	ended := make(chan error, 3)
	for _, part := range []func(context.Context) error{
		func(ctx context.Context) error { return w.show(ctx, view) },
		w.showDialogs,
		w.ping,
	} {
		go func() {
			defer stop()
			err := part(ctx)
			if errors.Is(err, errKeyGone) {
				_ = w.conn.Close(websocket.StatusPolicyViolation, errKeyGone.Error()) // A courtesy; it is cut off anyhow.
			}
			ended <- err
		}()
	}
	err := w.listen(ctx)
	stop()
	return errors.Join(err, <-ended, <-ended, <-ended)
}

// listen reads commands. A frame that is no command is answered with an error,
// and the next one is read.
func (w *window) listen(ctx context.Context) error {
	for {
		kind, data, err := w.conn.Read(ctx)
		if err != nil {
			return nil // The client is gone; how does not matter.
		}
		err = w.obey(ctx, kind, data)
		if err == nil {
			continue
		}
		p := problemOf(err)
		if err := w.send(ctx, w.frame("onError", errorPayload{Error: p.Error, Session: w.name})); err != nil {
			return err
		}
	}
}

// ping finds out about clients that are gone without a word.
func (w *window) ping(ctx context.Context) error {
	tick := time.NewTicker(w.server.options.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !w.server.valid(w.caller) {
			return errKeyGone
		}
		patience, cancel := context.WithTimeout(ctx, w.server.options.WriteWait)
		err := w.conn.Ping(patience)
		cancel()
		if err != nil {
			return nil // It is gone.
		}
	}
}

// frame is what goes over a WebSocket in both directions.
type frame struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp,omitempty"` // milliseconds
	Payload   any    `json:"payload"`
}

func (w *window) frame(kind string, payload any) frame {
	return frame{Type: kind, Timestamp: time.Now().UnixMilli(), Payload: payload}
}

func (w *window) send(ctx context.Context, f frame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.Type, err)
	}
	patience, cancel := context.WithTimeout(ctx, w.server.options.WriteWait)
	defer cancel()
	if err := w.conn.Write(patience, websocket.MessageText, data); err != nil {
		return fmt.Errorf("write %s: %w", f.Type, err)
	}
	return nil
}
