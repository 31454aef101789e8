package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
	"orchestrator-cc/tmux"
)

// How often a starting hub and its agents are looked at, how long nothing is
// said into a pipe, and how often an agent may die before it is given up.
const (
	startTick    = 25 * time.Millisecond
	sessionTicks = 40 // of these between two looks at the session itself
	quietStart   = 3 * time.Second
	hopelessness = 3
)

// hubEnded is how a hub's diary words that it gave up, with the reason beside it.
const hubEnded = "hub ended"

// diaryEnd is where the diary ends now; what a hub says later stands behind it.
func diaryEnd(p place) int64 {
	info, err := os.Stat(p.diary())
	if err != nil {
		return 0
	}
	return info.Size()
}

// lastWords are why hubs ended since the diary had the given length, of those
// that ended after the given moment.
func lastWords(p place, from int64, since time.Time) []string {
	f, err := os.Open(p.diary())
	if err != nil {
		return nil
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil
	}
	var words []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var entry struct {
			Message, Error string
			Time           time.Time
		}
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Message == hubEnded && entry.Time.After(since) {
			words = append(words, entry.Error)
		}
	}
	return words
}

// errSessionGone says that the session died, and its hub with it, during a start.
var errSessionGone = errors.New("the tmux session died while it was starting")

// awaitHub waits until the hub answers. A hub that ended twice with a reason
// will end again, and one whose session is gone never comes, so there is no use
// in waiting on for either.
func (a *app) awaitHub(ctx context.Context, p place, server *tmux.Server, said int64) (*link, error) {
	tick := time.NewTicker(startTick)
	defer tick.Stop()
	for n := 1; ; n++ {
		hub, err := a.living(ctx, p)
		if hub != nil {
			return hub, nil
		}
		if ctx.Err() == nil && err != nil {
			return nil, err
		}
		words := lastWords(p, said, time.Time{})
		if len(words) >= 2 {
			return nil, fmt.Errorf("the hub does not start: %s", words[len(words)-1])
		}
		if n%sessionTicks == 0 {
			if there, err := server.Exists(ctx); err == nil && !there {
				return nil, errSessionGone
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			why := "it said nothing; its diary is " + p.diary()
			if len(words) > 0 {
				why = words[0]
			}
			return nil, fmt.Errorf("the hub does not answer after %s: %s", upPatience, why)
		}
	}
}

// ready waits until every agent can take work, and shows how far each one is.
// How long a program may take to start is its engine's matter: the hub calls
// one that takes longer degraded.
func (a *app) ready(ctx context.Context, hub *link) (protocol.Overview, error) {
	show := &readiness{v: a.err, started: a.now(), said: map[string]protocol.AgentState{}}
	tick := time.NewTicker(startTick)
	defer tick.Stop()
	var last protocol.Overview
	for n := 1; ; n++ {
		overview, err := hub.Overview(ctx)
		switch {
		case err == nil:
			last = overview
			show.draw(overview, a.now())
			if pending := notReady(overview); len(pending) == 0 && len(overview.Agents) > 0 {
				show.erase()
				return overview, nil
			} else if lost := hopeless(pending); lost != "" {
				show.erase()
				a.showScreens(overview, protocol.InboxDead)
				return overview, withHint(errors.New(lost), "see its pane: orchestrator-cc attach; end everything: orchestrator-cc down")
			} else if drifted(pending) {
				show.erase()
				a.showScreens(overview, protocol.InboxDegraded)
				return overview, withHint(fmt.Errorf("not ready: %s", names(pending)),
					"compare versions with: orchestrator-cc doctor; describe the new screen under engines: in the configuration, or install the tested version")
			}
		case ctx.Err() == nil && !errors.Is(err, api.ErrUnreachable):
			return overview, err
		case n%sessionTicks == 0:
			if there, err := cardServer(hub.place, hub.card).Exists(ctx); err == nil && !there {
				return overview, errSessionGone
			}
		}
		if took := a.now().Sub(show.started); took > upPatience && !starting(overview) {
			return last, withHint(fmt.Errorf("not ready after %s: %s", took.Round(time.Second), names(notReady(last))),
				"it goes on starting; see orchestrator-cc status, or end it with: orchestrator-cc down")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return last, ctx.Err()
		}
	}
}

// starting says that at least one agent is expected to become ready by itself.
func starting(o protocol.Overview) bool {
	return slices.ContainsFunc(o.Agents, func(s protocol.AgentStatus) bool { return s.State == protocol.Starting })
}

// notReady lists the agents that cannot take work yet. One that waits for a
// person counts as ready: the start has done all it could.
func notReady(o protocol.Overview) []protocol.AgentStatus {
	var out []protocol.AgentStatus
	for _, s := range o.Agents {
		if s.State == protocol.Starting || s.State == protocol.Degraded || s.State == protocol.Dead {
			out = append(out, s)
		}
	}
	return out
}

func hopeless(pending []protocol.AgentStatus) string {
	for _, s := range pending {
		if s.State == protocol.Dead && s.Restarts >= hopelessness {
			return fmt.Sprintf("%s died %s: %s", s.Name, times(s.Restarts), oneLine(s.Reason))
		}
	}
	return ""
}

// drifted says that all that is missing are programs which are not what their
// engines describe: waiting on changes nothing.
func drifted(pending []protocol.AgentStatus) bool {
	for _, s := range pending {
		if s.State != protocol.Degraded || s.Drift == "" {
			return false
		}
	}
	return true
}

// showScreens shows what the programs show that are in the inbox for a reason.
func (a *app) showScreens(o protocol.Overview, kind string) {
	for _, item := range o.Inbox {
		if item.Kind == kind && item.Screen != "" {
			a.err.printf("%s shows:\n", item.Agent)
			for line := range strings.Lines(strings.TrimSpace(harmless(item.Screen))) {
				a.err.printf("  | %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
}

func names(agents []protocol.AgentStatus) string {
	if len(agents) == 0 {
		return "the hub does not answer"
	}
	var out []string
	for _, s := range agents {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s is %s %s", s.Name, s.State, oneLine(s.Reason))))
	}
	return strings.Join(out, ", ")
}

// readiness shows a starting company: redrawn in place on a terminal; into a
// pipe a line for each change, and only when it takes long.
type readiness struct {
	v       voice
	started time.Time
	said    map[string]protocol.AgentState
	lines   int
	last    string
}

func (r *readiness) draw(o protocol.Overview, now time.Time) {
	if !r.v.terminal {
		if now.Sub(r.started) < quietStart {
			return
		}
		for _, s := range o.Agents {
			if r.said[s.Name] != s.State {
				r.said[s.Name] = s.State
				r.v.printf("%s\n", strings.TrimRight(fmt.Sprintf("%s: %s %s", s.Name, s.State, oneLine(s.Reason)), " "))
			}
		}
		return
	}
	var b strings.Builder
	for _, s := range o.Agents {
		b.WriteString(fit(r.v, strings.TrimRight(fmt.Sprintf("  %-30s %s %s", s.Name, s.State, oneLine(s.Reason)), " ")) + "\n")
	}
	if text := b.String(); text != r.last {
		r.erase()
		r.v.printf("%s", text)
		r.last, r.lines = text, len(o.Agents)
	}
}

// erase removes what was drawn, so that the table stands in its place.
func (r *readiness) erase() {
	if r.lines > 0 {
		r.v.printf("\x1b[%dA\x1b[J", r.lines)
		r.lines = 0
	}
}

func readyTable(v voice, o protocol.Overview) string {
	var rows [][]string
	for _, s := range o.Agents {
		rows = append(rows, []string{s.Name, string(s.Role), s.Engine, s.Pane, v.paint(agentTone(s.State), string(s.State)), oneLine(s.Reason)})
	}
	return v.table([]string{"AGENT", "ROLE", "ENGINE", "PANE", "STATE", "NOTE"}, rows)
}

// waysIn tells what to type next, with both ways into the session.
func waysIn(hub protocol.Health, agents []protocol.AgentStatus) string {
	tmuxWay := fmt.Sprintf("tmux -L %s attach", hub.Socket)
	if hub.Socket == config.SocketDefault {
		tmuxWay = fmt.Sprintf("tmux attach -t %s", hub.Session)
	}
	first, answer := "grand_boss", ""
	if len(agents) > 0 {
		first = agents[0].Name
	}
	if slices.ContainsFunc(agents, func(a protocol.AgentStatus) bool { return a.State == protocol.Waiting }) {
		answer = "answer      orchestrator-cc inbox    (what waits for you, and how to answer it)\n"
	}
	return answer + fmt.Sprintf(`give work   orchestrator-cc send %s "your task"
watch       orchestrator-cc attach   (or: %s; leave with Ctrl-b d)
look        orchestrator-cc status
end         orchestrator-cc down
`, first, tmuxWay)
}
