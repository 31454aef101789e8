package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// The answer to the user names what the turns and the delegates rest on.
func TestSourcesComeUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, boss, "look")
	o.append(o.l.Settle(o.take(boss), Answer{Text: "@middle_manager: look\n" + bossDone, Sources: []string{"README.md"}}, o.now)...)
	o.append(o.l.Settle(o.take(manager), Answer{Text: "seen\nMIDDLE MANAGER OK", Sources: []string{"a.go", "b.go"}}, o.now)...)
	o.append(o.l.Settle(o.take(boss), Answer{Text: "seen\n" + bossDone, Sources: []string{"c.go", "a.go"}}, o.now)...)
	var got []string
	for _, e := range o.entries {
		if m := e.Message; m != nil && m.Closing != nil && m.Message.To() == user {
			got = m.Message.Payload.(*protocol.ResponsePayload).Sources
		}
	}
	if diff := cmp.Diff([]string{"README.md", "a.go", "b.go", "c.go"}, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}
