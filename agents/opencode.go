package agents

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"orchestrator-cc/protocol"
)

// opencode is OpenCode. A plugin of ours listens to its events; plugin and
// brief come with a configuration in a variable, which adds to the user's own.
type opencode struct{}

//go:embed plugin/opencode.js
var opencodePlugin []byte

func (opencode) start(p Program, m memory) (args, env []string, err error) {
	plugin := filepath.Join(p.Folder, "orchestrator-cc.js")
	if err := os.WriteFile(plugin, opencodePlugin, 0o600); err != nil {
		return nil, nil, err
	}
	more := map[string]any{
		"plugin": []string{"file://" + plugin},
		"mcp": map[string]any{mcpName: map[string]any{
			"type": "local", "enabled": true, "command": []string{p.Self, "mcp"},
			"environment": paneEnvironment(func(name string) string { return "{env:" + name + "}" }),
		}},
	}
	if p.Brief != "" {
		brief := filepath.Join(p.Folder, "brief.md")
		if err := os.WriteFile(brief, []byte(p.Brief), 0o600); err != nil {
			return nil, nil, err
		}
		more["instructions"] = []string{brief}
	}
	env = []string{
		"OPENCODE_CONFIG_CONTENT=" + string(mustJSON(more)),
		"ORCHESTRATOR_CC_PLUGIN=" + string(mustJSON([]string{p.Self, filepath.Join(p.Folder, programFile)})),
	}
	if m.resumable() && !slices.Contains(p.Command, "--session") {
		return []string{"--session", m.Session}, env, nil
	}
	return nil, env, nil
}

// settled says that its library lies in the home, which it fetches before it
// loads a plugin, and its database, which it makes. Several that begin at once
// each fetch the one, and lay the same files anew under those who are done; over
// the other now and then one hangs for ever.
func (opencode) settled(getenv func(string) string) bool {
	there := func(variable, otherwise string, path ...string) bool {
		base := cmp.Or(getenv(variable), filepath.Join(getenv("HOME"), otherwise))
		_, err := os.Stat(filepath.Join(append([]string{base, "opencode"}, path...)...))
		return err == nil
	}
	return there("XDG_CONFIG_HOME", ".config", "node_modules", "@opencode-ai", "plugin") &&
		there("XDG_DATA_HOME", filepath.Join(".local", "share"), "opencode.db")
}

// bill tells what the turn's answers took, before it tells of its end.
func (m memory) bill(took []protocol.Usage) (reports []protocol.Report) {
	for _, u := range took {
		reports = append(reports, protocol.Report{Event: protocol.ReportUsage, Req: m.Req, Usage: &u, Time: u.At})
	}
	return reports
}

func (opencode) hear(p Program, m *memory, event string, data []byte) (Word, error) {
	var in struct {
		Session, Text, Permission string
		Args                      json.RawMessage
		toolCall
		Took []protocol.Usage
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Word{}, err
	}
	switch event {
	case "ready":
		return Word{Reports: []protocol.Report{{Event: protocol.ReportReady}}}, p.ready()
	case "prompt":
		m.Session, m.Told, m.Resuming = in.Session, true, false
		return Word{Reports: m.begin(in.Text, "")}, nil
	case "answer":
		bill := m.bill(in.Took) // while its request is known
		w := m.stop(p, in.Text)
		w.Reports = append(bill, w.Reports...)
		return w, nil
	case "permission":
		return Word{Reports: m.alive(), Ask: &Question{Tool: in.Permission, Input: in.Args, Allow: []byte("once"), Deny: []byte("reject"), Over: []byte("over")}}, nil
	case "failed":
		return Word{Reports: append(m.bill(in.Took), m.fail("the model gave no answer: "+in.Text)...)}, nil
	}
	return Word{Reports: append(m.bill(in.Took), m.read(in.source())...)}, nil
}
