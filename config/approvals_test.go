package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// An agent's own rules come before those of all agents; what it does not say is
// as for all.
func TestApprovals(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("c.yaml", []byte(`
approvals: {default: deny, timeout: 2m, rules: [{tool: "*", decide: key}]}
agents:
- {name: a, role: grand_boss, marker: A OK, command: [x]}
- {name: b, role: middle_manager, marker: B OK, command: [x], approvals: allow}
- name: c
  role: specialist_c
  marker: C OK
  command: [x]
  approvals: {timeout: 3s, rules: [{tool: Bash, match: 'git *', decide: allow}]}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	all := protocol.PolicyRule{Tool: "*", Decide: protocol.DecideKey}
	want := map[string]protocol.Policy{
		"a": {Default: protocol.DecideDeny, Timeout: 2 * time.Minute, Rules: []protocol.PolicyRule{all}},
		"b": {Default: protocol.DecideAllow, Timeout: 2 * time.Minute, Rules: []protocol.PolicyRule{all}},
		"c": {Default: protocol.DecideDeny, Timeout: 3 * time.Second, Rules: []protocol.PolicyRule{{Tool: "Bash", Match: "git *", Decide: protocol.DecideAllow}, all}},
	}
	for _, a := range cfg.Agents {
		if diff := cmp.Diff(want[a.Name], a.Approvals); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a.Name, diff)
		}
	}
}
