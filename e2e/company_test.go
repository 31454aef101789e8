package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/e2e/hometest"
	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
)

// stateFolder is where a project keeps what runs.
const stateFolder = ".orchestrator-cc"

// company is a running session in a home of its own.
type company struct {
	t       testing.TB
	home    *hometest.Home
	project string
}

// newCompany starts the five of the built-in engine.
func newCompany(t testing.TB) *company {
	t.Helper()
	c := newProject(t, "")
	c.run("up", "--engine", "builtin")
	return c
}

// newProject makes a home with a project in it, which has the given
// configuration, or none. Nothing runs there yet.
func newProject(t testing.TB, config string) *company {
	t.Helper()
	h, err := hometest.New("", "")
	if err != nil {
		t.Fatal(err)
	}
	c := &company{t: t, home: h, project: h.Project}
	if err := os.MkdirAll(filepath.Join(c.project, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.dumpDiary()
		}
		if told, err := h.Close(); err != nil || len(told) > 0 {
			t.Errorf("got %v still running after the end, and %v, want nothing", told, err)
		}
	})
	if config != "" {
		if err := os.WriteFile(filepath.Join(c.project, "config", "cc-cluster.yaml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *company) command(args ...string) *exec.Cmd {
	return c.home.Command(context.Background(), args...)
}

func (c *company) run(args ...string) string {
	c.t.Helper()
	cmd := c.command(args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		c.t.Fatalf("orchestrator-cc %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), diag.String())
	}
	return out.String()
}

// card is what the hub left for those who look for it.
type card struct {
	PID        int
	Socket     string
	TmuxSocket string `json:"tmux_socket"`
}

func readCard(project string) (c card, err error) {
	data, err := os.ReadFile(filepath.Join(project, stateFolder, "hub.json"))
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, err
}

func (c *company) card() (card, bool) {
	card, err := readCard(c.project)
	return card, err == nil
}

func (c *company) client() *api.Client {
	c.t.Helper()
	card, ok := c.card()
	if !ok {
		c.t.Fatal("the hub left no card")
	}
	client := api.NewClient(card.Socket, "")
	c.t.Cleanup(client.Close)
	return client
}

// tmux asks the session's server something.
func (c *company) tmux(args ...string) (string, error) {
	card, _ := c.card()
	cmd := exec.Command("tmux", append([]string{"-u", "-L", card.TmuxSocket}, args...)...)
	cmd.Env = append(os.Environ(), c.home.Env()...)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (c *company) serverPID() int {
	out, err := c.tmux("display-message", "-p", "#{pid}")
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(out)
	return pid
}

// journal reads every line, and fails on one that is torn.
func (c *company) journal() []logs.Line {
	c.t.Helper()
	lines, torn, err := readJournal(c.project)
	if err != nil {
		c.t.Fatal(err)
	}
	if torn > 0 {
		c.t.Errorf("got %d torn journal lines, want 0", torn)
	}
	return lines
}

func readJournal(project string) (lines []logs.Line, torn int, err error) {
	data, err := os.ReadFile(filepath.Join(project, "logs", "messages.jsonl"))
	if err != nil {
		return nil, 0, err
	}
	for raw := range bytes.Lines(data) {
		var l logs.Line
		if json.Unmarshal(raw, &l) != nil || !bytes.HasSuffix(raw, []byte("\n")) {
			torn++
			continue
		}
		lines = append(lines, l)
	}
	return lines, torn, nil
}

// attemptsTaken counts how often each attempt was taken by the programs in the
// panes, by their own reports.
func attemptsTaken(project string) map[string]int {
	count := map[string]int{}
	spools, _ := filepath.Glob(filepath.Join(project, stateFolder, "run", "*.spool"))
	for _, path := range spools {
		for _, r := range reports(path) {
			if r.Event == protocol.ReportAccepted {
				count[r.Req]++
			}
		}
	}
	return count
}

// reports is everything the program in a pane reported.
func reports(spool string) (all []protocol.Report) {
	data, _ := os.ReadFile(spool)
	for line := range bytes.Lines(data) {
		var r protocol.Report
		if json.Unmarshal(line, &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

func (c *company) dumpDiary() {
	data, _ := os.ReadFile(filepath.Join(c.project, stateFolder, "diary.log"))
	lines := slices.DeleteFunc(strings.Split(string(data), "\n"), func(l string) bool { return strings.Contains(l, `"message":"request"`) })
	out, err := c.command("status").CombinedOutput()
	c.t.Logf("the diary's end:\n%s\nstatus: %v\n%s", strings.Join(lines[max(0, len(lines)-60):], "\n"), err, out)
}

// until waits for a condition and fails with its last word.
func until(t testing.TB, limit time.Duration, condition func(context.Context) (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for {
		ok, word := condition(ctx)
		if ok {
			return
		}
		if ctx.Err() == nil {
			last = word // what it says once the time is up is only that
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", limit, last)
		}
	}
}
