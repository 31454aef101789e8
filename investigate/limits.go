package investigate

import (
	"context"
	"time"
)

// Limits bounds what one command may return and how long it may run.
// A zero field means the default of that field.
type Limits struct {
	Lines int           `json:"lines,omitempty"` // entries of the result: files, hits, declarations
	Bytes int           `json:"bytes,omitempty"` // of the result when written as text
	Time  time.Duration `json:"time,omitempty"`
	Spill string        `json:"-"` // folder for what is cut from a result; empty: nothing is kept
}

// The defaults fit a result into one prompt of an agent: a screenful per
// specialist is read, a thousand lines are not.
const (
	defaultLines = 200
	defaultBytes = 24 << 10
	defaultTime  = 30 * time.Second
)

// maxLines bounds every result, also the part that is spilled to a file, so
// that a pattern which hits everywhere cannot fill the memory.
const maxLines = 50_000

func (l Limits) orDefault() Limits {
	if l.Lines <= 0 {
		l.Lines = defaultLines
	}
	l.Lines = min(l.Lines, maxLines)
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	if l.Time <= 0 {
		l.Time = defaultTime
	}
	return l
}

// or takes each field that is zero from other.
func (l Limits) or(other Limits) Limits {
	if l.Lines <= 0 {
		l.Lines = other.Lines
	}
	if l.Bytes <= 0 {
		l.Bytes = other.Bytes
	}
	if l.Time <= 0 {
		l.Time = other.Time
	}
	if l.Spill == "" {
		l.Spill = other.Spill
	}
	return l
}

func (l Limits) context(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.Time)
}
