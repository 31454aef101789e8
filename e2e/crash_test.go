package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

// TestCrashes kills the hub, agents and the tmux server at random while tasks
// run, then counts: nothing accepted is lost, no attempt is typed twice, no
// journal line is lost, doubled or torn. ORCHESTRATOR_CC_KILLS and
// ORCHESTRATOR_CC_TASKS make it longer, ORCHESTRATOR_CC_SEED repeats a run.
func TestCrashes(t *testing.T) {
	t.Parallel()
	kills, tasks := setting("KILLS", 20), setting("TASKS", 40)
	seed := uint64(setting("SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("seed %d: %d kills over %d tasks", seed, kills, tasks)
	c := newCompany(t)
	random := rand.New(rand.NewPCG(seed, 1))

	done := make(chan struct{})
	go func() {
		defer close(done)
		for range kills {
			c.killSomething(random)
		}
	}()
	ids := c.submitTasks(rand.New(rand.NewPCG(seed, 2)), tasks)
	<-done
	c.run("up", "--engine", "builtin")
	c.awaitAll(ids)
	c.count(ids)
}

func setting(name string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv("ORCHESTRATOR_CC_" + name)); err == nil && n > 0 {
		return n
	}
	return fallback
}

// killSomething waits a random moment, then kills one process of the company,
// found by the pid it gave itself.
func (c *company) killSomething(random *rand.Rand) {
	time.Sleep(time.Duration(50+random.IntN(450)) * time.Millisecond)
	switch dice := random.IntN(10); {
	case dice < 5:
		if card, ok := c.card(); ok {
			kill(card.PID)
		}
	case dice < 9:
		out, err := c.tmux("list-panes", "-s", "-F", "#{pane_pid}")
		if pids := fields(out); err == nil && len(pids) > 0 {
			kill(pids[random.IntN(len(pids))])
		}
	default:
		kill(c.serverPID())
	}
}

func kill(pid int) {
	if pid > 1 {
		syscall.Kill(pid, syscall.SIGKILL) // one that is gone already is as dead
	}
}

func fields(out string) (pids []int) {
	var pid int
	for n := 0; ; {
		k, err := fmt.Sscanf(out[n:], "%d", &pid)
		if k != 1 || err != nil {
			return pids
		}
		pids = append(pids, pid)
		n += len(strconv.Itoa(pid)) + 1
		if n >= len(out) {
			return pids
		}
	}
}

// submitTasks sends requests under ids of its own, again and again until each
// is accepted, as a careful client would.
func (c *company) submitTasks(random *rand.Rand, n int) (ids []string) {
	c.t.Helper()
	agents := []protocol.Identifier{
		protocol.Party("grand_boss", protocol.GrandBoss),
		protocol.Party("middle_manager", protocol.MiddleManager),
		protocol.Party("coding_writing_specialist", protocol.SpecialistCoding),
		protocol.Party("research_analysis_specialist", protocol.SpecialistResearch),
		protocol.Party("testing_specialist", protocol.SpecialistTesting),
	}
	for i := range n {
		text := fmt.Sprintf("/think %dms\n/say answer %d", random.IntN(150), i)
		to := agents[random.IntN(len(agents))]
		if i%4 == 0 {
			to = agents[0]
			text = fmt.Sprintf("/delegate middle_manager\n  /delegate testing_specialist\n    /say answer %d\n  /delegate coding_writing_specialist\n    /say more", i)
		}
		m := protocol.New(protocol.FromUser(), to, protocol.TaskRequest(text))
		m.Header.MessageID = protocol.NewID()
		until(c.t, time.Minute, func(ctx context.Context) (bool, string) { return c.post(ctx, m) })
		ids = append(ids, m.ID())
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
	}
	return ids
}

// post tries once. Where hub and tmux died together nobody is left to bring
// them back but a person, who types `up`.
func (c *company) post(ctx context.Context, m protocol.Message) (bool, string) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	card, ok := c.card()
	if ok {
		client := api.NewClient(card.Socket, "")
		defer client.Close()
		_, err := client.Post(ctx, m, false)
		if err == nil || protocol.CodeOf(err) == protocol.CodeDuplicate {
			return true, ""
		}
	}
	out, err := c.command("up", "--engine", "builtin").CombinedOutput()
	return false, fmt.Sprintf("not accepted; up: %v\n%s", err, out)
}

// awaitAll waits until every task is over. What a person has to decide is
// decided: the undecidable is retried, as a person who looked would.
func (c *company) awaitAll(ids []string) {
	c.t.Helper()
	client := c.client()
	undecided := 0
	for _, id := range ids {
		until(c.t, 2*time.Minute, func(ctx context.Context) (bool, string) {
			task, err := client.Task(ctx, id)
			if err != nil {
				return false, err.Error()
			}
			if task.State == protocol.TaskNeedsHuman {
				undecided++
				client.ControlTask(ctx, id, protocol.Retry, "")
			}
			return task.State == protocol.TaskCompleted, fmt.Sprintf("task %s is %s: %s", id, task.State, task.Reason)
		})
	}
	c.t.Logf("%d times a person had to decide", undecided)
}

func (c *company) count(ids []string) {
	c.t.Helper()
	results, seen := map[string]int{}, map[string]bool{}
	doubled, last := 0, uint64(0)
	for _, l := range c.journal() {
		if seen[l.ID] || l.Seq <= last {
			doubled++
		}
		seen[l.ID], last = true, l.Seq
		if l.Type == "result" && l.To == protocol.User {
			results[l.CorrelationID]++
		}
	}
	lost := 0
	for _, id := range ids {
		if results[id] != 1 {
			lost++
			c.t.Logf("task %s has %d results in the journal", id, results[id])
		}
	}
	twice := 0
	for req, n := range attemptsTaken(c.project) {
		if n > 1 {
			twice++
			c.t.Logf("attempt %s was taken %d times", req, n)
		}
	}
	c.t.Logf("lost %d, typed twice %d, doubled lines %d", lost, twice, doubled)
	if diary, err := os.ReadFile(filepath.Join(c.project, stateFolder, "diary.log")); err != nil || bytes.Contains(diary, []byte("owed again")) {
		c.t.Errorf("got a clerk that goes in circles, or no diary (%v)", err)
	}
	if lost+twice+doubled != 0 {
		c.t.Errorf("got lost %d, typed twice %d, doubled lines %d, want 0 of each", lost, twice, doubled)
	}
}
