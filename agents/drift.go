package agents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// A program of a newer version may look or behave otherwise than its engine
// describes. That is said, with the screen, instead of left to time out:
//
//	its screen rests, and nothing on it is what ready looks like -> degraded, nothing is typed
//	it is ready, but its hooks have never been called            -> it goes on by its screen, flagged

const (
	// restShare is the part of a program's time to start after which a screen
	// that rests, with something on it, is all that will come.
	restShare = 4
	// A screen that is not understood need not rest so long to be called that:
	// the program is looked at on, and a mistake corrects itself. It is surer
	// still once the program has said that it has begun.
	mostRest    = 15 * time.Second
	greetedRest = 8 * time.Second
)

// drift says why a program that ought to have started is not what its engine
// describes, "" while it may still be starting.
func (a *Agent) drift(now time.Time) string {
	if state := a.Status().State; state != protocol.Starting && state != protocol.Degraded {
		return ""
	}
	e, took, still := a.opts.Engine, now.Sub(a.eye.began), a.eye.stillFor(now)
	most := mostRest
	if a.eye.greeted > 0 {
		most = greetedRest
	}
	rests := min(took, still) > min(e.Start/restShare, most) && strings.TrimSpace(a.eye.rows) != ""
	switch {
	case rests && len(e.Ready) > 0 && !slices.ContainsFunc(strings.Split(a.eye.rows, "\n"), func(row string) bool { return matches(e.Ready, row) }):
		return fmt.Sprintf("its screen rests, and no row of it matches the engine's ready pattern %s; it may be another version: orchestrator-cc attach %s", readyPatterns(e), a.opts.Name)
	case took > e.Start:
		why := fmt.Sprintf("not ready %s after its start; look at the pane: orchestrator-cc attach %s", e.Start, a.opts.Name)
		if a.hung != "" {
			why = a.hung + ": " + why
		}
		return why
	}
	return ""
}

// blankShare is the part of a program's time to start after which it ought to
// have drawn something, and spokenShare the part of it after its first word on
// its channel.
const (
	blankShare  = 2
	spokenShare = 4
)

// blank says that a program seems to hang at its start: nothing at all stands on
// its screen. OpenCode does at times where several begin at once: its plugin is
// called, and the part of it that draws never asks for anything. It is started
// again for it, once.
func (a *Agent) blank(now time.Time) bool {
	e := a.opts.Engine
	if a.hung != "" || len(e.Ready) == 0 || a.Status().State != protocol.Starting || strings.TrimSpace(a.eye.rows) != "" {
		return false
	}
	return now.Sub(a.eye.began) > e.Start/blankShare || a.eye.spoke && now.Sub(a.eye.spokeAt) > e.Start/spokenShare
}

// muteHooks flags a program that is ready and ought to have said so.
const muteHooks = "its hooks are not called, so it is read by its screen; it may be another version"

// flagged is what is not as the engine describes although the program works. One
// that does not say it has started is known by its first turn.
func (a *Agent) flagged(o observation) string {
	e := a.opts.Engine
	if o == ready && !a.eye.spoke && (e.Greets || e.Accepts && a.eye.answered) {
		return muteHooks
	}
	return ""
}

// mute says that a program which takes input, and would have said that it has
// started, is not going to say so. Once it has not, it is not waited for again.
func (a *Agent) mute(now time.Time) bool {
	e, took := a.opts.Engine, now.Sub(a.eye.began)
	a.eye.unsaid = a.eye.unsaid || took >= e.Start || min(took, a.eye.stillFor(now)) >= e.Start/restShare
	return a.eye.unsaid
}

func readyPatterns(e Engine) string {
	var out []string
	for _, p := range e.Ready {
		out = append(out, "'"+p.String()+"'")
	}
	return strings.Join(out, " or ")
}
