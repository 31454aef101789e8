package e2e

import (
	"fmt"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// TestLongQueue lets ten thousand messages wait for one agent. The others do
// not notice, a restarted hub knows them all, and one task too many is refused.
func TestLongQueue(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.run("pause", "testing_specialist")
	const clients, each = 50, 200
	began := time.Now()
	if got := len(submitMany(c, clients, each)); got != clients*each {
		t.Fatalf("got %d messages accepted, want %d", got, clients*each)
	}
	t.Logf("accepted %d messages in %s", clients*each, time.Since(began).Round(time.Millisecond))
	c.run("send", "coding_writing_specialist", "/say unharmed")

	card, _ := c.card()
	kill(card.PID)
	c.run("up", "--engine", "builtin") // waits for the hub, which has much to read
	c.run("send", "coding_writing_specialist", "/say still unharmed")
	o, err := c.client().Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range o.Agents {
		if a.Name == "testing_specialist" && a.Queue != clients*each {
			t.Errorf("got a queue of %d after the restart, want %d", a.Queue, clients*each)
		}
	}

	client := c.client()
	for i := range 100 {
		c.ask(client, "testing_specialist", fmt.Sprintf("/say %d", i))
	}
	m := protocol.New(protocol.FromUser(), protocol.Identifier{AgentID: "testing_specialist"}, protocol.TaskRequest("/say one too many"))
	if _, err := client.Post(t.Context(), m, false); protocol.CodeOf(err) != protocol.CodeLimit {
		t.Errorf("got %v, want %s", err, protocol.CodeLimit)
	}
}

// TestRefusals posts messages that cannot be right: each is refused with its
// own code, and none is in the journal.
func TestRefusals(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	client := c.client()
	for _, tc := range []struct {
		name  string
		spoil func(*protocol.Message)
		want  protocol.Code
	}{
		{"wrong version", func(m *protocol.Message) { m.Header.Version = "2.0" }, protocol.CodeVersion},
		{"no uuid", func(m *protocol.Message) { m.Header.MessageID = "one" }, protocol.CodeInvalid},
		{"unknown agent", func(m *protocol.Message) { m.Header.To.AgentID = "nobody" }, protocol.CodeUnknownAgent},
		{"another sender", func(m *protocol.Message) { m.Header.From.AgentID = "grand_boss" }, protocol.CodeImpostor},
		{"unknown priority", func(m *protocol.Message) { m.Metadata = &protocol.Metadata{Priority: "urgent"} }, protocol.CodeInvalid},
		{"negative ttl", func(m *protocol.Message) { ttl := -1.0; m.Metadata = &protocol.Metadata{TTLSeconds: &ttl} }, protocol.CodeInvalid},
		{"nothing said", func(m *protocol.Message) { m.Payload = protocol.TaskRequest("") }, protocol.CodeInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := protocol.New(protocol.FromUser(), protocol.Identifier{AgentID: "testing_specialist"}, protocol.TaskRequest("/say "+tc.name))
			tc.spoil(&m)
			if _, err := client.Post(t.Context(), m, false); err == nil || protocol.CodeOf(err) != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	c.run("send", "testing_specialist", "/say fine")
	if got := len(c.journal()); got > 4 {
		t.Errorf("got %d journal lines, want those of one task only", got)
	}
}
