package ledger

import (
	"time"

	"orchestrator-cc/protocol"
)

// wall is a quota or a rate limit that an agent ran into. Nothing is delivered
// to the agent until it is over: the next prompt would only hit it again.
type wall struct {
	Until  int64  `json:"until,omitempty"`
	Since  int64  `json:"since,omitempty"`
	Hits   int    `json:"hits,omitempty"` // in a row, without an answer between them
	Reason string `json:"reason,omitempty"`
}

// A wall whose end nobody tells is tried again after a while, later each time.
const (
	firstWall = time.Minute
	mostWall  = 30 * time.Minute
)

// hit holds the agent's deliveries until the wall is over. A moment that the
// program names is believed the first time; where the wall still stands then,
// the waits grow as if none had been named. One that has passed holds nothing:
// a person wants it tried now.
func (s *seat) hit(e protocol.Entry, step *protocol.Step) {
	now := nanos(e.Time)
	if !step.Until.IsZero() && nanos(step.Until) <= now {
		return
	}
	w := wall{Since: now, Hits: s.wall.Hits + 1, Reason: step.Reason}
	doubts := w.Hits
	if !step.Until.IsZero() {
		w.Until = nanos(step.Until)
		doubts--
	}
	if doubts > 0 {
		w.Until = max(w.Until, now+int64(min(firstWall<<min(doubts-1, 8), mostWall)))
	}
	s.wall = w
}

// Wall is what holds an agent's deliveries at a moment.
type Wall struct {
	Until, Since time.Time
	Reason       string
}

// Wall says which quota or rate limit an agent waits for, and until when.
func (l *Ledger) Wall(agent string, now time.Time) (Wall, bool) {
	s := l.seats[agent]
	if s == nil || s.wall.Until <= nanos(now) {
		return Wall{}, false
	}
	return Wall{moment(s.wall.Until), moment(s.wall.Since), s.wall.Reason}, true
}
