package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// agent is what the hub says of one agent now.
func (c *company) agent(ctx context.Context, name string) protocol.AgentStatus {
	o, err := c.client().Overview(ctx)
	if err != nil {
		return protocol.AgentStatus{}
	}
	for _, a := range o.Agents {
		if a.Name == name {
			return a
		}
	}
	return protocol.AgentStatus{}
}

// limited waits until a task has been tried so often and its agent stands at a
// wall.
func (c *company) limited(id string, attempts int) protocol.AgentStatus {
	c.t.Helper()
	var at protocol.AgentStatus
	until(c.t, patience, func(ctx context.Context) (bool, string) {
		task, err := c.client().Task(ctx, id)
		at = c.agent(ctx, task.Agent)
		return err == nil && len(task.Attempts) == attempts && at.State == protocol.Limited, fmt.Sprintf("agent is %s (%s), task has %d attempts, %v", at.State, at.Reason, len(task.Attempts), err)
	})
	return at
}

// TestWall lets an agent run into a rate limit: its work waits for the end of
// it, says so everywhere, and then goes on by itself.
func TestWall(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	const who = "testing_specialist"
	ends := time.Now().Add(10 * time.Second).UTC()
	first := c.ask(c.client(), who, "/wall "+ends.Format(time.RFC3339Nano)+"\n/say over")
	second := c.ask(c.client(), who, "/say behind it")
	if at := c.limited(first, 1); !at.Until.Equal(ends) || at.Queue != 2 {
		t.Errorf("got a wall until %s and a queue of %d, want %s and 2", at.Until, at.Queue, ends)
	}
	for _, verb := range []string{"status", "inbox"} {
		if out := c.run(verb); !strings.Contains(out, "limited") || !strings.Contains(out, "goes on at "+ends.Local().Format(time.TimeOnly)) {
			t.Errorf("%s: got %q, want the wall with its end", verb, out)
		}
	}
	for _, id := range []string{first, second} {
		until(t, patience, func(ctx context.Context) (bool, string) {
			task, err := c.client().Task(ctx, id)
			return err == nil && task.State == protocol.TaskCompleted, fmt.Sprintf("task is %s, %v", task.State, err)
		})
	}
	task, err := c.client().Task(t.Context(), first)
	if err != nil || len(task.Attempts) != 2 || task.Attempts[1].Steps[0].Time.Before(ends) {
		t.Errorf("got %+v (%v), want a second attempt and none before %s", task.Attempts, err, ends)
	}
}

// TestWallOutlivesTheHub restarts the hub while an agent waits for a wall, and
// then lets a person try.
func TestWallOutlivesTheHub(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	ends := time.Now().Add(time.Hour).UTC()
	id := c.ask(c.client(), "testing_specialist", "/wall "+ends.Format(time.RFC3339Nano))
	c.limited(id, 1)
	before, _ := c.card()
	kill(before.PID)
	until(t, patience, func(context.Context) (bool, string) {
		card, ok := c.card()
		return ok && card.PID != before.PID, "there is no new hub"
	})
	c.run("up", "--engine", "builtin")
	if at := c.limited(id, 1); !at.Until.Equal(ends) {
		t.Errorf("got a wall until %s after the restart, want %s", at.Until, ends)
	}
	c.run("resume", "testing_specialist")
	if at := c.limited(id, 2); !at.Until.Equal(ends) {
		t.Errorf("got a wall until %s after another try, want %s", at.Until, ends)
	}
}

// TestOwnWait has a program say that it waits for a limit by itself: the agent
// is limited while its turn goes on, and a person may have it tried at once.
func TestOwnWait(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	const who = "testing_specialist"
	spool := filepath.Join(c.project, stateFolder, "run", who+".spool")
	id := c.ask(c.client(), who, "/think 5m")
	until(t, patience, func(context.Context) (bool, string) { return atWork(spool), spool + " tells of no work" })
	task, err := c.client().Task(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(time.Hour).UTC()
	told := protocol.Report{Event: protocol.ReportWaits, Req: task.Attempts[0].Req, Text: "slow down", Until: ends}
	f, err := os.OpenFile(spool, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Write(told.Line()); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	if at := c.limited(id, 1); !at.Until.Equal(ends) {
		t.Errorf("got a wait until %s, want %s", at.Until, ends)
	}
	for _, verb := range []string{"status", "inbox"} {
		if out := c.run(verb); !strings.Contains(out, "slow down; it waits by itself, and goes on at ") {
			t.Errorf("%s: got %q, want the wait with its end", verb, out)
		}
	}
	c.run("resume", who)
	until(t, patience, func(ctx context.Context) (bool, string) {
		task, err := c.client().Task(ctx, id)
		at := c.agent(ctx, who)
		return err == nil && len(task.Attempts) == 2 && at.State == protocol.Busy, fmt.Sprintf("agent is %s (%s), task has %d attempts, %v", at.State, at.Reason, len(task.Attempts), err)
	})
	c.run("cancel", id)
}
