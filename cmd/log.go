package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/config"
	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
)

type logOptions struct {
	follow      bool
	agent, task string
	last        int // 0: all
	json        bool
}

func newLogCommand(a *app) *cobra.Command {
	var o logOptions
	c := &cobra.Command{
		Use:     "log",
		Short:   "Every hop, from the journal",
		Example: "  orchestrator-cc log -f --agent middle_manager",
		GroupID: groupSee,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runLog(c.Context(), a, o) },
	}
	f := c.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on as hops happen, until Ctrl-C")
	f.StringVar(&o.agent, "agent", "", "only what this agent sends or gets")
	f.StringVar(&o.task, "task", "", "only this task, by id or the beginning of it")
	f.IntVarP(&o.last, "number", "n", 0, "only the last so many hops; 0 shows all")
	f.BoolVar(&o.json, "json", false, "the journal's own lines")
	return c
}

func runLog(ctx context.Context, a *app, o logOptions) error {
	if o.last < 0 {
		return usagef("-n is %d; use a number from 0, which shows all", o.last)
	}
	shown := false
	show := func(l logs.Line) error {
		shown = true
		if !o.json {
			a.out.printf("%s\n", hopLine(a.out, l))
			return nil
		}
		e := json.NewEncoder(a.out.w)
		e.SetEscapeHTML(false)
		return e.Encode(l)
	}
	read := a.logHere
	if a.getenv(envURL) != "" {
		read = a.logThere
	}
	if o.follow {
		reading, stop := a.out.whileRead(ctx)
		defer stop()
		ctx = reading
	}
	err := read(ctx, o, show)
	if err == nil && !shown && !o.follow {
		a.err.printf("no hops yet\n")
	}
	return err
}

// logHere reads the journal of the project here, which needs no hub.
func (a *app) logHere(ctx context.Context, o logOptions, show func(logs.Line) error) error {
	path, err := a.journal(ctx)
	if err != nil {
		return err
	}
	if err := a.checkFilters(ctx, path, o); err != nil {
		return err
	}
	lines := logs.Read(path, logs.Filter{})
	if o.follow {
		lines = readable(lines)
	}
	last, err := o.past(lines, show)
	if err != nil || !o.follow {
		return err
	}
	return logs.Follow(ctx, path, o.only(show), logs.FollowOptions{Filter: logs.Filter{After: last}})
}

// readable leaves out what cannot be read: whoever follows wants what comes.
func readable(lines iter.Seq2[logs.Line, error]) iter.Seq2[logs.Line, error] {
	return func(yield func(logs.Line, error) bool) {
		for l, err := range lines {
			if err == nil && !yield(l, nil) {
				return
			}
		}
	}
}

// past shows what stands in the journal, and tells where that ends.
func (o logOptions) past(lines iter.Seq2[logs.Line, error], show func(logs.Line) error) (last uint64, err error) {
	var kept []logs.Line
	for l, err := range lines {
		if err != nil {
			return 0, fmt.Errorf("read the journal: %w", err)
		}
		last = l.Seq
		switch {
		case !o.about(l):
		case o.last == 0:
			if err := show(l); err != nil {
				return 0, err
			}
		case len(kept) < o.last:
			kept = append(kept, l)
		default:
			kept = append(kept[1:], l)
		}
	}
	for _, l := range kept {
		if err := show(l); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// only shows the lines that were asked for.
func (o logOptions) only(show func(logs.Line) error) func(logs.Line) error {
	return func(l logs.Line) error {
		if !o.about(l) {
			return nil
		}
		return show(l)
	}
}

// logThere reads the journal of a hub elsewhere, as far as the key may.
func (a *app) logThere(ctx context.Context, o logOptions, show func(logs.Line) error) error {
	return a.withHub(ctx, func(hub *link) error {
		if err := hub.checkNames(ctx, o); err != nil {
			return err
		}
		last, err := o.past(hub.WholeJournal(ctx), show)
		if err != nil || !o.follow {
			return err
		}
		for e, err := range hub.Watch(ctx, "", last) {
			if ctx.Err() != nil {
				return nil // Ctrl-C is how this ends.
			}
			if err != nil {
				return err
			}
			if l, ok := logs.LineOf(e); ok {
				if err := o.only(show)(l); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// checkNames refuses names that the hub does not know.
func (l *link) checkNames(ctx context.Context, o logOptions) error {
	if o.agent != "" && !slices.Contains([]string{protocol.User, protocol.Hub, protocol.All}, o.agent) {
		overview, err := l.Overview(ctx)
		if err != nil {
			return err
		}
		if names := agentNames(overview); !slices.Contains(names, o.agent) {
			return unknownAgent(o.agent, names)
		}
	}
	if o.task == "" {
		return nil
	}
	_, err := l.Task(ctx, o.task)
	return err
}

// about tells whether a line is of the agent and the task that were asked for.
func (o logOptions) about(l logs.Line) bool {
	return logs.Filter{Agent: o.agent}.Match(l) && o.aboutTask(l)
}

func (o logOptions) aboutTask(l logs.Line) bool {
	return strings.HasPrefix(l.TaskID, o.task) || strings.HasPrefix(l.ID, o.task)
}

// checkFilters refuses names that stand for nothing. What the journal has is
// good, even where nobody else knows it any more.
func (a *app) checkFilters(ctx context.Context, path string, o logOptions) error {
	agent, task := slices.Contains([]string{"", protocol.User, protocol.Hub, protocol.All}, o.agent), o.task == ""
	for l, err := range logs.Read(path, logs.Filter{}) {
		if err != nil {
			continue // Showing the journal complains of it.
		}
		agent = agent || l.From == o.agent || l.To == o.agent
		task = task || o.aboutTask(l)
		if agent && task {
			return nil
		}
	}
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return err
	}
	hub, err := a.living(ctx, p)
	if err != nil {
		return err
	}
	if hub != nil {
		defer hub.Close()
	}
	if !agent {
		if names := a.knownNames(ctx, p, hub); !slices.Contains(names, o.agent) {
			return unknownAgent(o.agent, names)
		}
	}
	if !task && !hub.knowsTask(ctx, o.task) {
		return protocol.Faultf(protocol.CodeNotFound, "there is no task %q in the journal", o.task).Cure("every hop is shown by: orchestrator-cc log")
	}
	return nil
}

// knownNames are the agents, as the hub says or, without one, the
// configuration.
func (a *app) knownNames(ctx context.Context, p place, hub *link) []string {
	if hub != nil {
		if overview, err := hub.Overview(ctx); err == nil {
			return agentNames(overview)
		}
	}
	card, _, _ := p.readHubCard() // Without a card there is the project's own file.
	cfg, err := loadConfig(p, card.Config, "", card.Auto)
	if err != nil {
		cfg = config.Default()
	}
	var names []string
	for _, agent := range cfg.Agents {
		names = append(names, agent.Name)
	}
	return names
}

// knowsTask asks about a task that is newer than its line in the journal.
func (l *link) knowsTask(ctx context.Context, id string) bool {
	if l == nil {
		return false
	}
	_, err := l.Task(ctx, id)
	return err == nil
}

// journal finds the journal: the hub knows it, and without a hub the
// configuration does. What was said can be read when nobody speaks any more.
func (a *app) journal(ctx context.Context) (string, error) {
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return "", err
	}
	card, found, err := p.readHubCard()
	if err != nil {
		return "", err
	}
	if found {
		client := api.NewClient(card.Socket, a.getenv(envSecret))
		defer client.Close()
		if pulse, err := client.Health(ctx); err == nil && pulse.Hub.Journal != "" {
			return pulse.Hub.Journal, nil
		}
	}
	cfg, err := loadConfig(p, card.Config, "", card.Auto)
	if err != nil {
		return "", err
	}
	path := journalPath(cfg)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", withHint(fmt.Errorf("%w, and there is no journal at %s", errNoHub, path), "start one with: orchestrator-cc up")
	}
	return path, nil
}

// hopLine is a hop for people: when, who, to whom, what kind, and its first line.
func hopLine(v voice, l logs.Line) string {
	when := l.Timestamp
	if t, err := time.Parse(time.RFC3339Nano, l.Timestamp); err == nil {
		when = t.Local().Format("15:04:05.000")
	}
	kind := plain
	switch l.Type {
	case "task":
		kind = blue
	case "result":
		kind = green
	case "error":
		kind = red
	}
	text := gist(l.Content)
	if facts := closingFacts(l); len(facts) > 0 {
		text = fmt.Sprintf("(%s) %s", strings.Join(facts, ", "), text)
	}
	head := fmt.Sprintf("%s  %s → %s  ", when, l.From, l.To)
	line := v.paint(faint, when) + head[len(when):] + v.paint(kind, l.Type) + "  "
	if edge := v.width(); edge > 0 {
		text = shorten(text, max(edge-len([]rune(head))-len(l.Type)-2, 10))
	}
	return line + text
}

// closingFacts are how a request ended: after what time, seen by whom, or with
// which error.
func closingFacts(l logs.Line) []string {
	var facts []string
	if l.LatencyMS != nil {
		facts = append(facts, span(time.Duration(*l.LatencyMS)*time.Millisecond))
	}
	for _, fact := range []string{l.Evidence, l.Error} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	return facts
}
