package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"orchestrator-cc/protocol"
)

// Guest is the caller of one request to /mcp, as the room that answers it meets
// him.
type Guest struct {
	// Client asks this server in the caller's name and session, for as long as
	// the request lasts.
	Client *Client
	// Agent is the agent in whose pane the caller sits, or empty.
	Agent string
	// Submits tells whether he may give work.
	Submits bool
}

// mcp hands a request to whoever speaks that protocol.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	c := callerOf(r.Context())
	transport := &inner{handler: s.logged(s.handler), caller: c, life: r.Context()}
	guest := Guest{Client: &Client{base: "http://hub", http: &http.Client{Transport: transport}}, Submits: c.may(ScopeSubmit)}
	if c.who.AgentID != protocol.User {
		guest.Agent = c.who.AgentID
	}
	s.options.MCP(guest).ServeHTTP(w, r)
}

// inner is the way of a client inside the server: straight to the routes, past
// the gates that its caller has passed already.
type inner struct {
	handler http.Handler
	caller  caller
	life    context.Context // what is asked ends with it
}

// RoundTrip runs the handler beside the reader, because an event stream is read
// while it is written. Closing the body ends the handler and waits for its end.
func (t *inner) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.life.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(withCaller(r.Context(), t.caller))
	release := context.AfterFunc(t.life, cancel)
	request := r.Clone(ctx)
	request.RequestURI, request.Host = r.URL.RequestURI(), r.URL.Host
	if request.Body == nil {
		request.Body = http.NoBody
	}
	reader, writer := net.Pipe()
	w := &innerWriter{Conn: writer, header: http.Header{}, begun: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer writer.Close()
		defer abandoned()
		t.handler.ServeHTTP(w, request)
		w.WriteHeader(http.StatusOK) // Who wrote nothing is content.
	}()
	end := func() error {
		cancel()
		release()
		err := reader.Close()
		<-ended
		return err
	}
	select {
	case <-w.begun:
	case <-ended:
		return nil, io.ErrUnexpectedEOF // The handler gave up without a word.
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: -1, Body: innerBody{Reader: reader, end: end}, Request: r,
	}, nil
}

// abandoned takes the one panic that means no more than to cut the connection.
func abandoned() {
	if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
		panic(cause)
	}
}

type innerBody struct {
	io.Reader
	end func() error
}

func (b innerBody) Close() error { return b.end() }

// innerWriter is the handler's side of the pipe. The pipe gives it deadlines.
type innerWriter struct {
	net.Conn
	header, sent http.Header
	status       int
	begun        chan struct{}
}

func (w *innerWriter) Header() http.Header { return w.header }

func (w *innerWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	close(w.begun)
}

func (w *innerWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.Conn.Write(data)
}

// Flush has nothing to do: a pipe holds nothing back.
func (w *innerWriter) Flush() {}

// SetWriteDeadline is the pipe's; named here because a stream cannot do without.
func (w *innerWriter) SetWriteDeadline(t time.Time) error { return w.Conn.SetWriteDeadline(t) }
