package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"orchestrator-cc/protocol"
)

// ErrUnreachable says that no hub answers on the socket.
var ErrUnreachable = errors.New("no hub answers")

// How long a client waits for a hub that is being restarted, and how often it
// looks. tmux brings a dead hub back within two seconds; a replay may add some.
const (
	restartPatience = 10 * time.Second
	restartTick     = 50 * time.Millisecond
)

// Client speaks to one hub. It is safe for concurrent use.
type Client struct {
	base        string // in front of every path
	credentials string // the Authorization header, "" for none
	session     string // the session it works in, "" for the default one
	http        *http.Client
}

// NewClient makes a client; nothing is dialled yet. secret is a pane's, or
// empty for the user.
func NewClient(socket, secret string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err != nil {
			return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, socket, err)
		}
		return conn, nil
	}
	c := &Client{base: "http://hub", http: &http.Client{Transport: &http.Transport{DialContext: dial}}}
	if secret != "" {
		c.credentials = paneScheme + secret
	}
	return c
}

// In makes the client work in one session of its key.
func (c *Client) In(session string) { c.session = session }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Await waits until a hub answers, for as long as patience lasts.
func (c *Client) Await(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.untilReachable(ctx, func() error {
		_, err := c.Health(ctx)
		return err
	})
}

// Patiently repeats a question while the hub is being restarted.
func (c *Client) Patiently(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, restartPatience)
	defer cancel()
	return c.untilReachable(ctx, ask)
}

// untilReachable repeats try while no hub answers and ctx lasts.
func (c *Client) untilReachable(ctx context.Context, try func() error) error {
	tick := time.NewTicker(restartTick)
	defer tick.Stop()
	var away error
	for {
		err := try()
		if away != nil && err != nil && ctx.Err() != nil {
			return away // The patience ended in the middle of a try.
		}
		if !errors.Is(err, ErrUnreachable) {
			return err
		}
		away = err
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// Post submits a message and survives a restart of the hub under way: the
// message has its id before it is sent, so a second try cannot make it two.
// collect says that the caller waits for the answer itself.
func (c *Client) Post(ctx context.Context, m protocol.Message, collect bool) (Receipt, error) {
	if m.Header.MessageID == "" {
		m.Header.MessageID = protocol.NewID()
	}
	path := "/messages"
	if collect {
		path += "?collect=true"
	}
	var receipt Receipt
	tries := 0
	err := c.Patiently(ctx, func() error {
		tries++
		return c.do(ctx, http.MethodPost, path, m, &receipt)
	})
	if tries > 1 && protocol.CodeOf(err) == protocol.CodeDuplicate {
		return c.receiptOf(ctx, m.ID())
	}
	return receipt, err
}

// receiptOf stands for a receipt that was lost on its way.
func (c *Client) receiptOf(ctx context.Context, id string) (Receipt, error) {
	t, err := c.Task(ctx, id)
	if protocol.CodeOf(err) == protocol.CodeNotFound && err != nil {
		return Receipt{MessageID: id}, nil // It was accepted and starts no task.
	}
	return Receipt{MessageID: id, TaskID: t.Root}, err
}

// Overview asks for everything `status` shows.
func (c *Client) Overview(ctx context.Context) (o protocol.Overview, err error) {
	return o, c.do(ctx, http.MethodGet, "/status", nil, &o)
}

// Health asks the hub how it is.
func (c *Client) Health(ctx context.Context) (p Pulse, err error) {
	return p, c.do(ctx, http.MethodGet, "/healthz", nil, &p)
}

// Tasks lists so many of the root tasks, newest first; with 0 all of them.
func (c *Client) Tasks(ctx context.Context, limit int) (l TaskList, err error) {
	return l, c.do(ctx, http.MethodGet, "/tasks?limit="+strconv.Itoa(limit), nil, &l)
}

// Task asks for one task with its tree, by id or unique prefix.
func (c *Client) Task(ctx context.Context, id string) (t protocol.Task, err error) {
	return t, c.do(ctx, http.MethodGet, "/tasks/"+url.PathEscape(id), nil, &t)
}

// Inbox lists what waits for a person.
func (c *Client) Inbox(ctx context.Context) ([]protocol.InboxItem, error) {
	var i Inbox
	err := c.do(ctx, http.MethodGet, "/inbox", nil, &i)
	return i.Inbox, err
}

// Metrics asks for the communication figures.
func (c *Client) Metrics(ctx context.Context) (m protocol.Metrics, err error) {
	return m, c.do(ctx, http.MethodGet, "/stats", nil, &m)
}

// ControlTask cancels or retries a task.
func (c *Client) ControlTask(ctx context.Context, id string, command protocol.Command, text string) (r Receipt, err error) {
	in := map[string]string{"command": string(command)}
	if text != "" {
		in["text"] = text
	}
	return r, c.do(ctx, http.MethodPost, "/tasks/"+url.PathEscape(id)+"/control", in, &r)
}

// ControlAgent pauses, resumes or shuts down an agent.
func (c *Client) ControlAgent(ctx context.Context, name string, command protocol.Command) (r Receipt, err error) {
	in := map[string]string{"command": string(command)}
	return r, c.do(ctx, http.MethodPost, "/agents/"+url.PathEscape(name)+"/control", in, &r)
}

// Answer answers an item of the inbox.
func (c *Client) Answer(ctx context.Context, id, text string) (r Receipt, err error) {
	return r, c.do(ctx, http.MethodPost, "/inbox/"+url.PathEscape(id)+"/answer", map[string]string{"text": text}, &r)
}

// Press answers the dialog in an agent's pane that somebody has seen.
func (c *Client) Press(ctx context.Context, agent, dialog string, keys []string) (r Receipt, err error) {
	return r, c.do(ctx, http.MethodPost, "/inbox/"+url.PathEscape(agent)+"/answer", map[string]any{"dialog": dialog, "keys": keys}, &r)
}

// Allow lets what has used its tokens go on with as many again.
func (c *Client) Allow(ctx context.Context, id string) (r Receipt, err error) {
	return r, c.do(ctx, http.MethodPost, "/inbox/"+url.PathEscape(id)+"/allow", nil, &r)
}

// Shutdown asks the hub to end everything; it does not wait for the end.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/shutdown", nil, &Pulse{})
}

// do makes one request. An answer that is an error comes back as the fault the
// hub returned, so that callers branch on codes and never on texts.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.request(ctx, method, path, in, 0)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return lost(ctx, method, path, err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, in any, after uint64) (*http.Response, error) {
	var content io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", method, path, err)
		}
		content = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, fmt.Errorf("ask the hub: %w", err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.credentials != "" {
		req.Header.Set("Authorization", c.credentials)
	}
	if c.session != "" {
		req.Header.Set(sessionHeader, c.session)
	}
	if after > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatUint(after, 10))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, lost(ctx, method, path, err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, faultIn(resp)
}

// lost words a request that got no whole answer. Unless the caller gave up, the
// hub went away meanwhile, which is the same as its not being there.
func lost(ctx context.Context, method, path string, err error) error {
	if ctx.Err() != nil && !errors.Is(err, ErrUnreachable) {
		return fmt.Errorf("%s %s: %w", method, path, ctx.Err())
	}
	if errors.Is(err, ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %s %s: %w", ErrUnreachable, method, path, err)
}

func faultIn(resp *http.Response) error {
	var p Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || p.Error.Code == "" {
		return protocol.Faultf(protocol.CodeInternal, "the hub answered %s", resp.Status)
	}
	fault := &protocol.Fault{Code: p.Error.Code, Message: p.Error.Message}
	d := p.Error.Details
	if d == nil {
		return fault
	}
	if len(d.Faults) > 1 {
		return &protocol.Problems{Faults: d.Faults}
	}
	fault.Field, fault.Hint = d.Field, d.Hint
	if len(d.Faults) == 1 {
		return d.Faults[0]
	}
	return fault
}
