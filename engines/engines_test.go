// Package engines runs the real agent programs in real tmux, each with a home
// of its own, against a scripted model on loopback. scripts/engines.sh installs
// the programs; without them nothing here runs but what needs none.
package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/e2e/hometest"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// programsVariable names the folder that holds the programs' commands.
const programsVariable = "ORCHESTRATOR_CC_ENGINES"

// patience bounds one command: the programs are heavy and the machine may be
// small.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { os.Exit(hometest.Run(m)) }

// company is a project with agents of one engine, in a home of its own.
type company struct {
	t       testing.TB
	program program
	model   *modeltest.Server
	place   *hometest.Home
	dir     string // home and project lie below it
	project string
	env     []string
}

// specialist is the agent of a company of one, and its marker.
const (
	specialist = "testing_specialist"
	marker     = "TESTING OK"
)

// newCompany writes a project, and starts nothing. agents is the YAML of the
// agents; without it the five defaults are there.
func newCompany(t testing.TB, p program, script modeltest.Script, agents string) *company {
	t.Helper()
	base := t.TempDir
	if programs := os.Getenv(programsVariable); programs != "" {
		base = func() string { return homesOf(programs) }
	}
	return newCompanyIn(t, p, script, agents, base())
}

// newCompanyIn does so in a folder, or in a short one of its own.
func newCompanyIn(t testing.TB, p program, script modeltest.Script, agents, base string) *company {
	t.Helper()
	programs := os.Getenv(programsVariable)
	if p.installed && programs == "" {
		t.Skipf("%s is not set; run: make test-engines", programsVariable)
	}
	if test, _, _ := strings.Cut(t.Name(), "/"); testing.Short() && p.slow && !slices.Contains(core(), test) {
		t.Skip("left out of the short run; run: make test-engines ALL=1")
	}
	c := &company{t: t, program: p, model: modeltest.New(t, script)}
	c.settle(base)
	t.Cleanup(c.close)
	c.env = c.environment(programs)
	env := p.prepare(c)
	c.write("project/config/cc-cluster.yaml", yamlOf(p, env, agents))
	return c
}

// core are the tests that a short run has for every program. For one that is
// slow to start it leaves out the others.
func core() []string {
	return []string{"TestWholeCompany", "TestExchanges", "TestManyExchanges", "TestApproval", "TestCancel", "TestCrashAndResume", "TestModelErrors"}
}

func (c *company) environment(programs string) []string {
	return append(append(os.Environ(), c.place.Env()...),
		"XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "XDG_STATE_HOME=",
		"PATH="+filepath.Dir(hometest.Binary())+":"+programs+":"+os.Getenv("PATH"))
}

// settle makes the company's home. Some programs refuse hooks below a folder
// that others may write to, as /tmp is; without a base the company lies there.
func (c *company) settle(base string) {
	c.t.Helper()
	var err error
	if base != "" {
		err = os.MkdirAll(base, 0o700)
	}
	root := ""
	if err == nil && base != "" {
		root, err = os.MkdirTemp(base, "")
	}
	if err == nil {
		c.place, err = hometest.New(root, "")
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.dir, c.project = c.place.Root, c.place.Project
}

// homesOf is where the companies of installed programs live.
func homesOf(programs string) string { return filepath.Join(filepath.Dir(programs), "homes") }

func (c *company) home() string { return filepath.Join(c.dir, "home") }

func (c *company) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// copy puts a folder that lies beside the programs into the company's.
func (c *company) copy(name, from string) {
	c.t.Helper()
	if _, err := os.Stat(filepath.Join(c.dir, name, ".complete")); err == nil {
		return // it is there already
	}
	library := filepath.Join(filepath.Dir(os.Getenv(programsVariable)), from)
	if err := os.CopyFS(filepath.Join(c.dir, name), os.DirFS(library)); err != nil {
		c.t.Fatal(err)
	}
}

func yamlOf(p program, env map[string]string, agents string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster: {name: test, session_name: test}\nengine: %s\nlimits: {timeout: 120s}\nengines:\n  %s:\n%s    env:\n", p.name, p.name, p.settings)
	for k, v := range env {
		fmt.Fprintf(&b, "      %s: %q\n", k, v)
	}
	b.WriteString(agents)
	return b.String()
}

// one is the YAML of a company of one.
func one() string {
	return fmt.Sprintf("agents:\n  - {name: %s, role: specialist_testing, marker: %q, pane_index: 0}\n", specialist, marker)
}

func (c *company) close() {
	if c.t.Failed() {
		c.confess()
	}
	told, err := c.place.Close()
	if len(told) > 0 {
		c.t.Logf("had to be ended after their terminal: %v", told)
	}
	if err != nil {
		c.t.Error(err)
	}
}

// confess shows what a failed test's panes and books say.
func (c *company) confess() {
	c.t.Logf("status:\n%s", c.try("status"))
	c.t.Logf("screen:\n%s", c.screen(0))
	for _, pattern := range []string{"diary.log", "run/*.spool", "run/*/hooks.log", "run/*/memory.json"} {
		files, _ := filepath.Glob(filepath.Join(c.project, ".orchestrator-cc", pattern))
		for _, f := range files {
			data, _ := os.ReadFile(f)
			c.t.Logf("%s:\n%s", f, data[max(0, len(data)-4000):])
		}
	}
	for _, call := range c.model.Calls() {
		c.t.Logf("model was asked: %s %s, %d tools, prompt %.200q, result %.200q", call.Format, call.Model, len(call.Tools), call.Prompt(), call.Result())
	}
}

func (c *company) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := c.place.Command(ctx, args...)
	cmd.Env = c.env
	return cmd
}

// result is what one command did.
type result struct {
	out, err string
	code     int
	took     time.Duration
}

// call runs the binary, with an input where that is not "".
func (c *company) call(input string, args ...string) result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := c.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Stdin = &out, &errs, strings.NewReader(input)
	began := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%v: %v", args, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
}

// must runs the binary and wants it to succeed.
func (c *company) must(args ...string) string {
	c.t.Helper()
	r := c.call("", args...)
	if r.code != 0 {
		c.t.Fatalf("orchestrator-cc %s: got exit %d, want 0\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

func (c *company) try(args ...string) string {
	r := c.call("", args...)
	return r.out + r.err
}

// up starts the company.
func (c *company) up() {
	c.t.Helper()
	began := time.Now()
	c.must("up")
	c.t.Logf("ready after %s", time.Since(began).Round(100*time.Millisecond))
}

// send gives an agent a prompt and wants its answer.
func (c *company) send(agent, body string) string {
	c.t.Helper()
	r := c.call(body, "send", agent, "-", "--timeout", "3m")
	if r.code != 0 {
		c.t.Fatalf("send %s: got exit %d, want 0\n%s", agent, r.code, r.err)
	}
	return strings.TrimSuffix(r.out, "\n")
}

// status is what the hub says of an agent.
func (c *company) status(agent string) protocol.AgentStatus {
	c.t.Helper()
	var o protocol.Overview
	if err := json.Unmarshal([]byte(c.must("status", "--json")), &o); err != nil {
		c.t.Fatal(err)
	}
	for _, a := range o.Agents {
		if a.Name == agent {
			return a
		}
	}
	c.t.Fatalf("got no agent %s in the status", agent)
	return protocol.AgentStatus{}
}

// wait waits for a condition.
func (c *company) wait(what string, ok func() bool) {
	c.t.Helper()
	end := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(end) {
			c.t.Fatalf("got no %s within %s", what, patience)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *company) tmux(args ...string) string {
	sockets := c.place.Sockets()
	if len(sockets) == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", sockets[0]}, args...)...).CombinedOutput()
	return string(out)
}

// screen is what an agent's pane shows.
func (c *company) screen(pane int) string {
	return c.tmux("capture-pane", "-p", "-t", fmt.Sprintf("=test:0.%d", pane))
}
