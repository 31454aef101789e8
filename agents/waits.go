package agents

import (
	"strings"
	"time"
)

// Waits is what a program at work waits for by itself: it goes on without us,
// and its turn with it.
type Waits struct {
	Why   string    // "" while it does not wait
	Until time.Time // zero: it does not say
	Since time.Time
}

const (
	// brief is a wait that is no news: programs try again after a hiccup too.
	brief = 10 * time.Second
	// rounding is how far two tellings of the same moment may be apart:
	// countdowns are told in whole seconds.
	rounding = 2 * time.Second
)

// waits finds what the program says it waits for, in the rows that may show it.
func (e Engine) waits(rows []string, now time.Time) (wall, bool) {
	return findWords(e.Waits, rows, now)
}

// awaits notes whether the program waits by itself: it said so on its channel,
// else it shows so. A wait whose end is known is not the turn's fault, so its
// time does not count. What is returned is why.
func (t *turn) awaits(s Screen, v view, now time.Time) string {
	w, ok := t.stated, t.stated.until.After(now)
	if !ok && v.busy {
		w, ok = t.opts.Engine.waits(t.lowRows(s), now)
	}
	if !ok {
		t.waits, t.excused = Waits{}, time.Time{}
		t.hold(Waits{})
		return t.delay(now)
	}
	if t.waits.Since.IsZero() {
		t.waits = Waits{Until: w.until, Since: now}
	}
	if t.waits.Why = w.text; w.until.Sub(t.waits.Until).Abs() > rounding {
		t.waits.Until = w.until
	}
	if w.until.IsZero() {
		t.excused = time.Time{}
	} else {
		if t.life = now; !t.excused.IsZero() {
			t.began = t.began.Add(now.Sub(t.excused))
		}
		t.excused = now
	}
	if t.waits.Until.Sub(t.waits.Since) > brief || now.Sub(t.waits.Since) > brief {
		t.hold(t.waits)
	}
	return w.text
}

// lowRows are the rows in which a program at work tells about itself, without
// those that echo the prompt.
func (t *turn) lowRows(s Screen) []string {
	last := lastText(s.Visible)
	from, to := t.ours.rows(s.Visible)
	var rows []string
	for i := max(0, last-busyRows+1); i <= last; i++ {
		if i < from || i >= to {
			rows = append(rows, strings.TrimRight(s.Visible[i], " "))
		}
	}
	return rows
}

// hold notes what the program waits for and tells whoever listens.
func (a *Agent) hold(w Waits) {
	a.mu.Lock()
	was := a.status.Waits
	a.status.Waits = w
	now := a.status
	a.mu.Unlock()
	if was != w {
		a.opts.OnChange(now)
	}
}
