package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Watch yields what happens after a sequence number: to one task's tree, or,
// with an empty task, to everything. It goes on across restarts of the hub, by
// the last number it saw, and ends with an error once no hub has answered for
// ten seconds or ctx is over. The caller leaves the loop when it has enough.
func (c *Client) Watch(ctx context.Context, task string, after uint64) iter.Seq2[protocol.Entry, error] {
	return c.WatchWriting(ctx, task, after, func(protocol.Part) {})
}

// WatchWriting is Watch for those who also read along: wrote is told, between
// two entries, how the answers go on that are being written.
func (c *Client) WatchWriting(ctx context.Context, task string, after uint64, wrote func(protocol.Part)) iter.Seq2[protocol.Entry, error] {
	path := "/events"
	if task != "" {
		path = "/tasks/" + url.PathEscape(task) + "/events"
	}
	return func(yield func(protocol.Entry, error) bool) {
		for barren := 0; ; {
			opened := time.Now()
			stream, err := c.open(ctx, path, after)
			if err != nil {
				yield(protocol.Entry{}, err)
				return
			}
			last, more, err := relay(stream, after, wrote, yield)
			_ = stream.Close() // What it had was read, or is not wanted.
			if !more {
				return
			}
			barren++
			if last > after || time.Since(opened) > restartPatience {
				barren = 0
			}
			after = last
			if err == nil {
				err = pause(ctx, barren)
			}
			if err != nil {
				yield(protocol.Entry{}, err)
				return
			}
		}
	}
}

// pause waits a moment before the next stream is opened, and gives up on a hub
// that has hung up so often without a word that waiting is no use.
func pause(ctx context.Context, barren int) error {
	if barren > int(restartPatience/restartTick) {
		return fmt.Errorf("%w: it ends every event stream at once", ErrUnreachable)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(restartTick):
		return nil
	}
}

// open connects to the event stream and waits for a hub that is coming back.
func (c *Client) open(ctx context.Context, path string, after uint64) (io.ReadCloser, error) {
	var stream io.ReadCloser
	err := c.Patiently(ctx, func() error {
		// The stream outlives this function, so it hangs on the caller's context.
		resp, err := c.request(ctx, http.MethodGet, path, nil, after)
		if err == nil {
			stream = resp.Body
		}
		return err
	})
	return stream, err
}

// relay hands on what comes until the stream ends or the reader has enough. A
// stream that breaks off is no error: the watcher opens the next one.
func relay(stream io.Reader, after uint64, wrote func(protocol.Part), yield func(protocol.Entry, error) bool) (last uint64, more bool, err error) {
	lines := bufio.NewReader(stream)
	last = after
	event := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return last, true, nil
		}
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = strings.TrimSpace(name)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if event == partEvent {
			var part protocol.Part
			if json.Unmarshal([]byte(data), &part) == nil {
				wrote(part)
			}
			continue
		}
		var entry protocol.Entry
		if err := json.Unmarshal([]byte(data), &entry); err != nil {
			return last, true, fmt.Errorf("read an event after %d: %w", last, err)
		}
		if entry.Seq <= last {
			continue
		}
		last = entry.Seq
		if !yield(entry, nil) {
			return last, false, nil
		}
	}
}

// Gone waits until no hub answers any more.
func (c *Client) Gone(ctx context.Context) error {
	tick := time.NewTicker(restartTick)
	defer tick.Stop()
	for {
		if _, err := c.Health(ctx); errors.Is(err, ErrUnreachable) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
