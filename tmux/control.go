package tmux

import (
	"bufio"
	"bytes"
	"errors"
	"time"
)

// read takes the client's lines until it ends. Lines may be of any length; only their beginnings matter.
func (s *Server) read(c *client) {
	r := bufio.NewReaderSize(c.out, 64<<10)
	var block []byte // the numbers of the answer being read, nil between answers
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		for long := err; errors.Is(long, bufio.ErrBufferFull); {
			_, long = r.ReadSlice('\n')
			if !errors.Is(long, bufio.ErrBufferFull) {
				err = long
			}
		}
		if err != nil {
			return
		}
		if first {
			close(c.greeted)
		}
		block = s.notice(c, block, bytes.TrimRight(line, "\r\n"))
	}
}

// notice acts on one line and returns the answer that is open after it. Inside an answer only its own end counts,
// because its text may look like anything.
func (s *Server) notice(c *client, block, line []byte) []byte {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	if block != nil {
		if (string(word) == "%end" || string(word) == "%error") && bytes.Equal(rest, block) {
			c.pong.Store(int64(time.Since(c.began)))
			return nil
		}
		return block
	}
	switch string(word) {
	case "%begin":
		return bytes.Clone(rest)
	case "%output", "%extended-output":
		pane, _, _ := bytes.Cut(rest, []byte(" "))
		s.events.printed(string(pane))
	case "%session-changed":
		s.events.connected.Store(true)
		poke(s.changes)
	default:
		poke(s.changes)
	}
	return nil
}

// printed wakes the readers of a pane.
func (e *events) printed(pane string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.outputs[pane].wake {
		poke(c)
	}
}
