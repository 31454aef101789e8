package agents

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"orchestrator-cc/protocol"
)

// codex is Codex. It tells of every turn that has ended, with the prompts and
// the exact answer, as the last argument of the command it is told to run. The
// setting goes on the command line, so the user's own file stays as it is and
// still applies. Where prompts and answer do not fit into one argument, it
// cannot tell, and the screen is read. Its hooks have no such bound, but it has
// a person review each one first, and that review is the person's.
type codex struct{}

func (codex) start(p Program, m memory) (args, env []string, err error) {
	notify := []string{p.Self, "hook", "--program", filepath.Join(p.Folder, programFile), "agent-turn-complete"}
	// A shared background server would outlive the pane and call us from an
	// environment of its own.
	args = []string{"--no-daemon", "-c", "notify=" + string(mustJSON(notify))}
	if p.Brief != "" {
		// TOML's strings have JSON's escapes.
		args = append(args, "-c", "developer_instructions="+string(mustJSON(p.Brief)))
	}
	if m.resumable() && !slices.Contains(p.Command, "resume") {
		args = append(args, "resume", m.Session)
	}
	return args, nil, nil
}

func (codex) hear(p Program, m *memory, _ string, data []byte) (Word, error) {
	var in struct {
		Thread  string   `json:"thread-id"`
		Prompts []string `json:"input-messages"`
		Answer  string   `json:"last-assistant-message"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Word{}, err
	}
	var reports []protocol.Report
	for _, prompt := range in.Prompts {
		reports = append(reports, m.begin(prompt)...)
	}
	if len(reports) > 0 { // it also tells of side conversations, such as for a title
		m.Session, m.Told, m.Resuming = in.Thread, in.Thread != "", false
	}
	return Word{Reports: append(reports, m.answer(in.Answer)...)}, nil
}
