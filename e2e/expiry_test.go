package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// TestExpiry gives a message less time to live than its agent is away: it is
// never delivered, and the journal says so.
func TestExpiry(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.run("pause", "testing_specialist")
	m := protocol.New(protocol.FromUser(), protocol.Identifier{AgentID: "testing_specialist"}, protocol.TaskRequest("/say too late"))
	ttl := 0.5
	m.Metadata = &protocol.Metadata{TTLSeconds: &ttl}
	client := c.client()
	r, err := client.Post(t.Context(), m, false)
	if err != nil {
		t.Fatal(err)
	}
	until(t, patience, func(ctx context.Context) (bool, string) {
		task, err := client.Task(ctx, r.MessageID)
		return err == nil && task.Code == protocol.CodeExpired, fmt.Sprintf("task is %s %s, %v", task.State, task.Code, err)
	})
	c.run("resume", "testing_specialist")
	c.run("send", "testing_specialist", "/say in time")
	told := false
	for _, l := range c.journal() {
		if l.From == "testing_specialist" && l.Type == "result" && l.CorrelationID == r.MessageID {
			t.Errorf("got a late answer %q, want none", l.Content)
		}
		told = told || l.Type == "error" && l.CorrelationID == r.MessageID
	}
	if !told {
		t.Error("the journal does not tell of the expiry")
	}
}

// TestHubIsBackSoon kills an idle hub and the tmux server under an idle hub,
// and logs how long each is away. The limits leave room for a loaded machine.
func TestHubIsBackSoon(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	before, _ := c.card()
	killed := time.Now()
	kill(before.PID)
	until(t, 5*time.Second, func(ctx context.Context) (bool, string) {
		card, ok := c.card()
		return ok && card.PID != before.PID && c.idle(ctx, 0), fmt.Sprintf("the hub is still %d", card.PID)
	})
	t.Logf("the hub was away for %s", time.Since(killed).Round(time.Millisecond))

	server := c.serverPID()
	killed = time.Now()
	kill(server)
	until(t, 10*time.Second, func(ctx context.Context) (bool, string) {
		now := c.serverPID()
		return now != 0 && now != server && c.idle(ctx, 1), fmt.Sprintf("the server is %d, was %d", now, server)
	})
	t.Logf("the tmux server with its agents was away for %s", time.Since(killed).Round(time.Millisecond))
}

// idle says that every agent can take work, after so many restarts.
func (c *company) idle(ctx context.Context, restarts int) bool {
	o, err := c.client().Overview(ctx)
	for _, a := range o.Agents {
		if a.State != protocol.Idle || a.Restarts != restarts {
			return false
		}
	}
	return err == nil && len(o.Agents) > 0
}
