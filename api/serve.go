package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/protocol"
)

// idleWait is how long a connection may be kept open for nothing.
const idleWait = 2 * time.Minute

// Serve answers on the unix socket until ctx ends. Running requests get a
// second to finish; streams end at once, and their readers come back by last id.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.logged(s.localGate(s.handler)))
}

// ServeTCP answers programs with keys. names are the hosts, besides addresses
// and localhost, by which this server may be called.
func (s *Server) ServeTCP(ctx context.Context, l net.Listener, names []string) error {
	return s.serve(ctx, l, s.logged(s.remoteGate(names, s.handler)))
}

func (s *Server) serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	var sockets sync.WaitGroup
	base, cut := context.WithCancel(context.WithValue(context.Background(), socketsKey{}, &sockets))
	defer cut()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: s.options.HeaderWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    1 << 16,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       withPeer,
		ErrorLog:          log.New(s.options.Log, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	cut()
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		s.options.Log.Debug().Err(err).Msg("requests cut off at the end")
		_ = server.Close() // The grace is over; whoever is left is cut off.
	}
	sockets.Wait()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	}
	return nil
}

// logged writes one line of the diary for each request: what was asked and how
// it ended, never a header, a query or a body, which may hold secrets. A panic
// is answered like every other error of ours.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		note := &statusNote{ResponseWriter: w}
		ctx := context.WithValue(r.Context(), secureKey{}, r.TLS != nil)
		defer func() {
			cause := recover()
			if cause == http.ErrAbortHandler {
				panic(cause) // It is meant to cut the connection.
			}
			if cause != nil {
				s.options.Log.Error().Interface("panic", cause).Str("path", r.URL.Path).Msg("request broke the server's handler")
				if note.status == 0 {
					refusePlain(note, protocol.Faultf(protocol.CodeInternal, "something broke while this was answered").Cure("the diary says what"))
				}
			}
			s.tally.note(r.Method, note.status, time.Since(began))
			level := zerolog.InfoLevel
			if r.RemoteAddr == "" || r.RemoteAddr == "@" {
				level = zerolog.DebugLevel // the owner's own socket, which every command asks
			}
			s.options.Log.WithLevel(level).Str("method", r.Method).Str("path", r.URL.Path).Int("status", note.status).
				Dur("took", time.Since(began)).Str("from", r.RemoteAddr).Msg("request")
		}()
		next.ServeHTTP(note, r.WithContext(ctx))
	})
}

// statusNote remembers the status that was answered.
type statusNote struct {
	http.ResponseWriter
	status int
}

func (n *statusNote) WriteHeader(status int) {
	if n.status == 0 {
		n.status = status
	}
	n.ResponseWriter.WriteHeader(status)
}

func (n *statusNote) Write(data []byte) (int, error) {
	if n.status == 0 {
		n.status = http.StatusOK
	}
	return n.ResponseWriter.Write(data)
}

// Unwrap leads a response controller to the real writer.
func (n *statusNote) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// Hijack hands the connection over, as a WebSocket needs it.
func (n *statusNote) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	n.status = http.StatusSwitchingProtocols
	return http.NewResponseController(n.ResponseWriter).Hijack()
}

// bound lets a number of connections in and closes those beyond it at once.
func bound(l net.Listener, most int) net.Listener {
	return &boundListener{Listener: l, places: make(chan struct{}, most)}
}

type boundListener struct {
	net.Listener
	places chan struct{}
}

func (b *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.places <- struct{}{}:
			return &boundConn{Conn: conn, leave: sync.OnceFunc(func() { <-b.places })}, nil
		default:
			_ = conn.Close() // There is no place for it, so nothing is owed to it.
		}
	}
}

type boundConn struct {
	net.Conn
	leave func()
}

func (c *boundConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
