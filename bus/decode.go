package bus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"orchestrator-cc/protocol"
)

// rawBatch is a batch out of the scanner's buffers, and what became of it.
type rawBatch struct {
	off     int64
	lines   []line
	entries []protocol.Entry
	err     error
}

func copyBatch(st stretch) rawBatch {
	b := rawBatch{off: st.start, lines: make([]line, len(st.lines))}
	for i, n := range st.lines {
		n.body = bytes.Clone(n.body)
		b.lines[i] = n
	}
	return b
}

// decodeShare is how many entries make a further processor worth waking.
const decodeShare = 64

// decodeAll decodes batches of n entries in all. Nearly all the time of a
// replay goes into this, so a long chunk is shared among the processors.
func (l *Log) decodeAll(batches []rawBatch, n int) {
	var taken atomic.Int64
	work := func() {
		for i := taken.Add(1) - 1; i < int64(len(batches)); i = taken.Add(1) - 1 {
			b := &batches[i]
			b.entries, b.err = decodeBatch(l.dir, b.lines)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/decodeShare) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// decodeBatch returns the entries of a batch, all or none.
func decodeBatch(dir string, lines []line) ([]protocol.Entry, error) {
	out := make([]protocol.Entry, 0, len(lines))
	for _, n := range lines {
		body, err := bodyOf(dir, n)
		if err != nil {
			return nil, fmt.Errorf("entry %d is skipped: %w", n.seq, err)
		}
		e, err := decode(n.seq, body)
		if err != nil {
			return nil, fmt.Errorf("entry %d is skipped: %w", n.seq, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// The stored forms shadow the parts of an entry whose own decoding is strict.
// A line was checked on its way in and has a checksum, so it is read leniently:
// that takes a third of the time, and a field that a later version added does
// not make an entry unreadable for this one.
type storedEntry struct {
	protocol.Entry
	Message *storedAccepted `json:"message"`
}

type storedAccepted struct {
	protocol.Accepted
	Message storedMessage `json:"message"`
}

type storedMessage struct {
	Header   protocol.Header    `json:"header"`
	Payload  protocol.Payload   `json:"payload"`
	Metadata *protocol.Metadata `json:"metadata"`
}

func decode(seq uint64, body []byte) (protocol.Entry, error) {
	var s storedEntry
	kind, ok := messageType(body)
	if ok {
		payload := blank(kind)
		if payload == nil {
			return protocol.Entry{}, fmt.Errorf("message type %q is unknown to this version", kind)
		}
		s.Message = &storedAccepted{Message: storedMessage{Payload: payload}}
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return protocol.Entry{}, err
	}
	e := s.Entry
	e.Seq = seq
	if s.Message == nil {
		return e, nil
	}
	m, accepted := s.Message.Message, s.Message.Accepted
	if m.Header.Type != kind {
		return protocol.Entry{}, fmt.Errorf("message type %q was read as %q", m.Header.Type, kind)
	}
	accepted.Message = protocol.Message{Header: m.Header, Payload: m.Payload, Metadata: m.Metadata}
	e.Message = &accepted
	return e, nil
}

// messageType finds the type of an encoded message before it is decoded, so
// that its payload is decoded in the same pass. The header's is the first key
// of that name, and no text can pretend to be one: quotes in it are escaped.
func messageType(body []byte) (protocol.Type, bool) {
	_, rest, ok := bytes.Cut(body, []byte(`"type":"`))
	if !ok {
		return "", false
	}
	name, _, ok := bytes.Cut(rest, []byte{'"'})
	return protocol.Type(name), ok
}

func blank(t protocol.Type) protocol.Payload {
	switch t {
	case protocol.Request:
		return &protocol.RequestPayload{}
	case protocol.Response:
		return &protocol.ResponsePayload{}
	case protocol.Event:
		return &protocol.EventPayload{}
	case protocol.Error:
		return &protocol.ErrorPayload{}
	case protocol.Heartbeat:
		return &protocol.HeartbeatPayload{}
	case protocol.Control:
		return &protocol.ControlPayload{}
	case protocol.Ack:
		return &protocol.AckPayload{}
	case protocol.Nack:
		return &protocol.NackPayload{}
	}
	return nil
}
