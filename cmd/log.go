package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/logs"
)

type logOptions struct {
	follow      bool
	agent, task string
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
	f.BoolVar(&o.json, "json", false, "the journal's own lines")
	return c
}

func runLog(ctx context.Context, a *app, o logOptions) error {
	path, err := a.journal(ctx)
	if err != nil {
		return err
	}
	show := func(l logs.Line) error {
		if !strings.HasPrefix(l.TaskID, o.task) && !strings.HasPrefix(l.ID, o.task) {
			return nil
		}
		if !o.json {
			a.out.printf("%s\n", hopLine(a.out, l))
			return nil
		}
		e := json.NewEncoder(a.out.w)
		e.SetEscapeHTML(false)
		return e.Encode(l)
	}
	filter := logs.Filter{Agent: o.agent}
	if o.follow {
		return logs.Follow(ctx, path, show, logs.FollowOptions{Filter: filter})
	}
	for l, err := range logs.Read(path, filter) {
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		if err := show(l); err != nil {
			return err
		}
	}
	return nil
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
	cfg, err := loadConfig(p, card.Config, "")
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
	text := oneLine(l.Content)
	if l.LatencyMS != nil {
		text = fmt.Sprintf("(%s, %s) %s", span(time.Duration(*l.LatencyMS)*time.Millisecond), l.Evidence, text)
	}
	head := fmt.Sprintf("%s  %s → %s  ", when, l.From, l.To)
	line := v.paint(faint, when) + head[len(when):] + v.paint(kind, l.Type) + "  "
	if edge := v.width(); edge > 0 {
		text = shorten(text, max(edge-len([]rune(head))-len(l.Type)-2, 10))
	}
	return line + text
}
