package agents

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator-cc/protocol"
)

// gemini is Gemini CLI. Its hooks and its brief come with a file of defaults
// below every settings file of the user's; lists of hooks add up.
//
//	SessionStart -> ready, and the brief     BeforeAgent -> accepted
//	BeforeTool, AfterTool -> progress        AfterAgent -> the exact answer
type gemini struct{}

func (gemini) start(p Program, m memory) (args, env []string, err error) {
	type command struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // in milliseconds
	}
	type matcher struct {
		Hooks []command `json:"hooks"`
	}
	hooks := map[string][]matcher{}
	for _, event := range []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent", "SessionEnd"} {
		hooks[event] = []matcher{{[]command{{"command", "orchestrator-cc", p.hookCommand(event), hookSeconds * 1000}}}}
	}
	defaults := filepath.Join(p.Folder, "defaults.json")
	if err := writeJSON(defaults, map[string]any{"hooks": hooks, "hooksConfig": map[string]any{"enabled": true, "notifications": false}}); err != nil {
		return nil, nil, err
	}
	env = []string{"GEMINI_CLI_SYSTEM_DEFAULTS_PATH=" + defaults}
	if slices.Contains(p.Command, "--session-id") || slices.Contains(p.Command, "--resume") {
		return nil, env, nil // whoever configured it chose the conversation
	}
	if m.resumable() {
		return []string{"--resume", m.Session}, env, nil
	}
	return []string{"--session-id", m.Session}, env, nil
}

func (gemini) hear(p Program, m *memory, event string, data []byte) (Word, error) {
	var in struct {
		Session    string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Source     string `json:"source"`
		Prompt     string `json:"prompt"`
		Answer     string `json:"prompt_response"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Word{}, err
	}
	if in.Session != "" && in.Transcript != "" {
		m.Session, m.Transcript = in.Session, in.Transcript
	}
	switch event {
	case "SessionStart":
		m.Resuming = false
		w := Word{Reports: []protocol.Report{{Event: protocol.ReportReady}}}
		if p.Brief != "" && in.Source != "resume" { // a resumed conversation begins with it
			w.Output = mustJSON(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": p.Brief}})
		}
		return w, nil
	case "BeforeAgent":
		return Word{Reports: m.begin(in.Prompt)}, nil
	case "AfterAgent":
		// The hook also speaks when somebody interrupts the turn, and then an
		// answer cannot be asked for its marker.
		if !newMarker(p.Marker, true).in(in.Answer) {
			return Word{Reports: m.fail("its turn ended without the marker")}, nil
		}
		return Word{Reports: m.answer(uptoToken(in.Answer, protocol.Token(p.Marker, m.Req)))}, nil
	}
	return Word{Reports: m.alive()}, nil
}

// uptoToken cuts an answer behind its token. The program repeats parts of a
// long answer behind its end, and ends every one with a blank.
func uptoToken(text, token string) string {
	if at := strings.Index(text, token); at >= 0 {
		return text[:at+len(token)]
	}
	return text
}
