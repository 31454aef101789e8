package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator-cc/api"
	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// compare is for up while a hub runs: what is asked for is checked as for a
// start, and where the hub was started otherwise, a note says how to have it.
func (a *app) compare(ctx context.Context, hub *link, o upOptions) error {
	if _, err := portAddress(o.port); err != nil {
		return err
	}
	asked := cmp.Or(a.fromHere(o.config), hub.card.Config)
	cfg, err := loadConfig(hub.place, asked, o.engine, hub.card.Auto)
	if err != nil && (o.config != "" || o.engine != "") {
		return badConfig(err)
	}
	running, err := hub.Overview(ctx)
	if errors.Is(err, api.ErrUnreachable) {
		return nil // Whoever waits for the agents sees to it.
	}
	if err != nil {
		return err
	}
	var other []string
	if engines, same := enginesOf(running.Agents, cfg.Agents); o.engine != "" && !same {
		other = append(other, "engine "+engines)
	}
	if now := hub.configFile(); o.config != "" && !sameFile(asked, now) {
		other = append(other, "configuration "+cmp.Or(now, "built in"))
	}
	if o.port != "" && !hub.serves(o.port) {
		other = append(other, cmp.Or(hub.card.URL, "no HTTP"))
	}
	if len(other) > 0 {
		a.err.printf("%s already running with %s; for another: orchestrator-cc down, then: %s\n", a.err.paint(yellow, "note:"), strings.Join(other, ", "), o.typed())
	}
	return nil
}

// enginesOf names the engines that run, and tells whether every agent has the
// one it is to have.
func enginesOf(running []protocol.AgentStatus, wanted []config.Agent) (names string, same bool) {
	var engines []string
	same = true
	for _, s := range running {
		if !slices.Contains(engines, s.Engine) {
			engines = append(engines, s.Engine)
		}
		i := slices.IndexFunc(wanted, func(w config.Agent) bool { return w.Name == s.Name })
		same = same && (i < 0 || wanted[i].Engine == s.Engine)
	}
	return strings.Join(engines, " and "), same
}

// configFile is the file the hub was started with; "" for the built-in one.
func (l *link) configFile() string {
	own := filepath.Join(l.place.root, "config", "cc-cluster.yaml")
	if _, err := os.Stat(own); l.card.Config == "" && err == nil {
		return own
	}
	return l.card.Config
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// serves tells whether the hub serves HTTP on a port; 0 is any.
func (l *link) serves(port string) bool {
	u, err := url.Parse(l.card.URL)
	return err == nil && l.card.URL != "" && (port == "0" || u.Port() == port)
}

// typed is the command line that asks for the same.
func (o upOptions) typed() string {
	line := "orchestrator-cc up"
	for _, flag := range [][2]string{{"engine", o.engine}, {"config", o.config}, {"port", o.port}} {
		if flag[1] != "" {
			line += fmt.Sprintf(" --%s %s", flag[0], flag[1])
		}
	}
	return line
}

// fromHere makes a path that was typed absolute; none stays none.
func (a *app) fromHere(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.dir, path)
}

// badConfig adds to mistakes in a configuration where to mend them.
func badConfig(err error) error {
	if cure := configCure(err); cure != "" {
		return withHint(err, "%s, then: orchestrator-cc up", cure)
	}
	return err
}
