package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"orchestrator-cc/agents"
	"orchestrator-cc/tmux"
)

// keeper looks after the session: it builds what is missing, restarts what
// died, and makes a new tmux server when the old one is gone.
type keeper struct {
	server  *tmux.Server
	spec    tmux.SessionSpec
	workers map[string]*worker
	log     zerolog.Logger

	lives map[string]*life
	stir  chan struct{} // somebody wants a program started again

	mu      sync.Mutex
	trouble error
	wanted  map[string]bool // the programs to be ended and started again
}

// life is how often an agent's program died lately.
type life struct {
	epoch   string    // of the pane as the agent knows it
	deaths  int       // in a row, each soon after the start
	started time.Time // of the program
	due     time.Time // when a dead one is started again
}

// death is how an agent's program ended.
type death struct {
	why   string // how, and the gist of its last words
	again string // when it is started again
	words string // the last lines on its screen
	times int    // in a row, each soon after the start
}

const (
	hapless      = 3 // deaths in a row after which a person is told
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 30 * time.Second
	healthyAfter = 60 * time.Second // a program that lived this long died afresh
	lookEvery    = 5 * time.Second  // with tmux's own notices; see blindEvery
	blindEvery   = 500 * time.Millisecond
)

func newKeeper(o Options, workers map[string]*worker) *keeper {
	spec := tmux.SessionSpec{Hub: o.HubPane, Layout: o.Config.Layout}
	for _, s := range o.Seats {
		spec.Agents = append(spec.Agents, s.Pane)
	}
	return &keeper{server: o.Server, spec: spec, workers: workers, log: o.Log, lives: map[string]*life{}, stir: make(chan struct{}, 1), wanted: map[string]bool{}}
}

func (k *keeper) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ignoreEnd(ctx, k.server.Run(ctx)) })
	group.Go(func() error {
		for ctx.Err() == nil {
			k.look(ctx)
			every := lookEvery
			if !k.server.Connected() {
				every = blindEvery
			}
			wake := time.Now().Add(every)
			if due := k.nextDue(); !due.IsZero() && due.Before(wake) {
				wake = due
			}
			sleep(ctx, wake, k.server.Changes(), k.stir)
		}
		return nil
	})
	return group.Wait()
}

// look compares the session with what it should be and mends the difference.
func (k *keeper) look(ctx context.Context) {
	panes, err := k.server.Panes(ctx)
	known := map[string]tmux.PaneInfo{}
	for _, p := range panes {
		known[p.Name] = p
	}
	hub, ok := known[tmux.HubPane]
	whole := err == nil && ok && !hub.Dead
	for _, spec := range k.spec.Agents {
		_, ok := known[spec.Name]
		seated := k.lives[spec.Name] != nil
		whole = whole && ok && seated
		if seated && !ok && (err == nil || errors.Is(err, tmux.ErrGone)) {
			k.workers[spec.Name].died(death{why: "its pane is gone; it gets a new one"})
		}
	}
	if !whole {
		k.build(ctx)
		return
	}
	k.note(nil)
	for _, spec := range k.spec.Agents {
		wanted := k.wants(spec.Name)
		if p := known[spec.Name]; p.Dead {
			k.revive(ctx, spec, p)
		} else if wanted {
			k.respawn(ctx, spec)
		} else if p.Epoch != k.lives[spec.Name].epoch {
			k.seat(p, false)
		} else {
			k.workers[spec.Name].found()
		}
	}
}

// build makes the session whole and seats everybody who has a new pane. A
// pane that outlived an earlier hub gets a new epoch, so that a paste which
// that hub still had on its way is refused.
func (k *keeper) build(ctx context.Context) {
	panes, err := k.server.Build(ctx, k.spec)
	if err != nil {
		if ctx.Err() == nil {
			k.note(fmt.Errorf("build the tmux session: %w", err))
		}
		return
	}
	for _, p := range panes {
		if k.workers[p.Name] == nil || p.Dead {
			continue
		}
		old := k.lives[p.Name]
		if old != nil && old.epoch == p.Epoch {
			k.workers[p.Name].found()
			continue
		}
		if renewed, err := k.server.Renew(ctx, p.Name); err == nil {
			k.seat(renewed, old == nil)
		}
	}
	k.note(nil)
}

func (k *keeper) seat(p tmux.PaneInfo, first bool) {
	l := k.lives[p.Name]
	if l == nil {
		l = &life{}
		k.lives[p.Name] = l
	}
	l.epoch, l.started, l.due = p.Epoch, time.Now(), time.Time{}
	w := k.workers[p.Name]
	w.place(k.server.Pane(p), p)
	k.log.Info().Str("agent", p.Name).Str("pane", p.ID).Bool("first", first).Msg("seated")
}

// revive starts a dead agent's program again, later each time it dies young.
func (k *keeper) revive(ctx context.Context, spec tmux.PaneSpec, p tmux.PaneInfo) {
	l, w := k.lives[spec.Name], k.workers[spec.Name]
	now := time.Now()
	if l.due.IsZero() {
		if now.Sub(l.started) > healthyAfter {
			l.deaths = 0
		}
		l.due = now.Add(min(firstBackoff<<min(l.deaths, 8), maxBackoff))
		l.deaths++
		d := k.examine(ctx, p)
		d.times = l.deaths
		d.again = fmt.Sprintf("; starts again in %s", time.Until(l.due).Round(100*time.Millisecond))
		w.died(d)
	}
	if now.Before(l.due) {
		return
	}
	k.respawn(ctx, spec)
}

// again asks for an agent's program to be ended, where it runs, and started
// again.
func (k *keeper) again(name string) {
	k.mu.Lock()
	k.wanted[name] = true
	k.mu.Unlock()
	notify(k.stir)
}

// wants says, once, that somebody has asked for that.
func (k *keeper) wants(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	wanted := k.wanted[name]
	delete(k.wanted, name)
	return wanted
}

func (k *keeper) respawn(ctx context.Context, spec tmux.PaneSpec) {
	fresh, err := k.server.Respawn(ctx, spec)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, tmux.ErrGone) {
			k.note(fmt.Errorf("restart %s: %w", spec.Name, err))
		}
		return
	}
	k.seat(fresh, false)
}

// examine finds out why a program ended: how, and what it said last, as long as
// its screen stands. One that was killed said nothing about it.
func (k *keeper) examine(ctx context.Context, p tmux.PaneInfo) death {
	d := death{why: deathText(p)}
	if p.ExitSignal != 0 {
		return d
	}
	screen, err := k.server.Pane(p).Capture(ctx, 1) // tmux moves the first row up to write that the pane is dead
	if err != nil {
		k.log.Warn().Str("agent", p.Name).Err(err).Msg("last words not read")
		return d
	}
	words, gist := agents.LastWords(agents.Screen(screen))
	d.words = strings.Join(words, "\n")
	if gist != "" {
		d.why += ": " + gist
	}
	return d
}

func deathText(p tmux.PaneInfo) string {
	if p.ExitSignal != 0 {
		return fmt.Sprintf("its program was killed by signal %d", p.ExitSignal)
	}
	return fmt.Sprintf("its program ended with status %d", p.ExitStatus)
}

func (k *keeper) nextDue() (due time.Time) {
	for _, l := range k.lives {
		if !l.due.IsZero() && (due.IsZero() || l.due.Before(due)) {
			due = l.due
		}
	}
	return due
}

func (k *keeper) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && (k.trouble == nil || k.trouble.Error() != err.Error()) {
		k.log.Error().Err(err).Msg("session not whole")
	}
	k.trouble = err
}

// problems are what the keeper could not mend, for status and doctor.
func (k *keeper) problems() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.trouble == nil {
		return nil
	}
	return []string{k.trouble.Error()}
}
