package builtin

import (
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// sheet holds what a brain has written of a reply and nobody was told yet.
type sheet struct {
	full chan struct{} // it is time to tell; holds at most one notice

	mu   sync.Mutex
	text []byte
	told int // bytes before it
}

// tellEvery bounds how often is told of a reply that is being written. One that
// is complete sooner is told once, as a whole.
const tellEvery = 100 * time.Millisecond

func newSheet() *sheet { return &sheet{full: make(chan struct{}, 1)} }

// write adds to the reply.
func (s *sheet) write(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.text) == 0 && text != "" {
		time.AfterFunc(tellEvery, func() {
			select {
			case s.full <- struct{}{}:
			default:
			}
		})
	}
	s.text = append(s.text, text...)
}

// part takes what was written since the last one.
func (s *sheet) part(req string) protocol.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := protocol.Report{Event: protocol.ReportPart, Req: req, Text: string(s.text), Offset: s.told}
	s.told, s.text = s.told+len(s.text), nil
	return r
}
