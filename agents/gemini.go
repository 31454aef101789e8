package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orchestrator-cc/protocol"
)

// gemini is Gemini CLI. Its hooks and its brief come with a file of defaults
// below every settings file of the user's; lists of hooks add up.
//
//	SessionStart -> ready, and the brief     BeforeAgent -> accepted
//	BeforeTool -> a person decides           Notification -> its own dialog comes
//	AfterTool -> progress                    AfterAgent -> the answer, or why there is none, is on file
//
// What BeforeTool refuses the model is told of, and does not happen. What it
// lets pass Gemini still asks about by its own rules and the user's, so that
// nothing runs for a hook that failed; see permit for what was allowed.
//
// AfterAgent has the answer too, but with blanks between its pieces, with what
// was said before a tool was used, and after a loop that of an earlier turn.
// The file of the conversation has it as the model gave it.
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
		seconds := hookSeconds
		if event == "BeforeTool" {
			seconds = permissionSeconds
		}
		hooks[event] = []matcher{{[]command{{"command", "orchestrator-cc", p.hookCommand(event), seconds * 1000}}}}
	}
	defaults := filepath.Join(p.Folder, "defaults.json")
	server := map[string]any{"command": p.Self, "args": []string{"mcp"}, "trust": true, "env": paneEnvironment(func(name string) string { return "$" + name })}
	if err := writeJSON(defaults, map[string]any{
		"hooks": hooks, "hooksConfig": map[string]any{"enabled": true, "notifications": false}, "mcpServers": map[string]any{mcpName: server},
		"general": map[string]any{"enableAutoUpdate": false},
	}); err != nil {
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
		Session    string       `json:"session_id"`
		Transcript string       `json:"transcript_path"`
		Source     string       `json:"source"`
		Prompt     string       `json:"prompt"`
		Dir        string       `json:"cwd"`
		Kind       string       `json:"notification_type"`
		Dialog     geminiDialog `json:"details"`
		toolCall
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Word{}, err
	}
	if in.Session != "" && in.Transcript != "" {
		m.Session, m.Transcript = in.Session, in.Transcript
	}
	switch event {
	case "SessionStart":
		// A conversation that is taken up is loaded meanwhile, and one that was
		// cleared begins, without what is added to it now: the brief then goes
		// with the first prompt.
		m.Resuming, m.Unbriefed = false, in.Source == "resume" || in.Source == "clear"
		w := Word{Reports: []protocol.Report{{Event: protocol.ReportReady}}}
		if !m.Unbriefed {
			w.Output = p.context(event)
		}
		return w, nil
	case "BeforeAgent":
		w := Word{Reports: m.begin(in.Prompt, "")}
		if m.Unbriefed {
			w.Output, m.Unbriefed = p.context(event), false
		}
		return w, p.forgetPermits()
	case "BeforeTool":
		if !geminiAsks(p.Command, protocol.ToolUse{Tool: in.Tool, Args: in.Input, Dir: in.Dir}) {
			return Word{Reports: m.alive()}, nil
		}
		refuse := func(why string) []byte { return mustJSON(map[string]any{"decision": "deny", "reason": why}) }
		return Word{Reports: m.alive(), Ask: &Question{Tool: in.Tool, Input: in.Input, Again: true, Deny: refuse(denied), Over: refuse(taskOver)}}, nil
	case "Notification":
		if in.Kind != "ToolPermission" {
			return Word{Reports: m.alive()}, nil
		}
		id, err := p.claim(func(allowed permit) bool { return in.Dialog.about(allowed, in.Dir) })
		return Word{Reports: []protocol.Report{{Event: protocol.ReportAsking, Req: m.Req, Text: id}}}, err
	case "AfterTool":
		_, err := p.claim(func(allowed permit) bool { return allowed.Tool == in.Tool && sameJSON(allowed.Input, in.Input) })
		return Word{Reports: append([]protocol.Report{{Event: protocol.ReportDecided, Req: m.Req}}, m.read(in.source())...)}, err
	case "AfterAgent":
		// The hook also speaks when somebody interrupts the turn.
		asked := protocol.Prompt{Req: m.Req}
		if m.Typed {
			asked = protocol.ParsePrompt(in.Prompt)
		}
		answer, trouble, err := geminiAnswer(m.Transcript, asked)
		switch {
		case err == nil && trouble != "" && !newMarker(p.Marker, true).in(answer):
			return Word{Reports: m.fail("the model gave no answer: " + trouble)}, nil
		case err != nil || answer == "":
			return Word{Reports: m.fail("its turn ended without an answer")}, err
		}
		return m.stop(p, answer), nil
	}
	return Word{Reports: m.alive()}, nil
}

// context gives the brief to the conversation in answer to a hook.
func (p Program) context(event string) []byte {
	if p.Brief == "" {
		return nil
	}
	return mustJSON(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": p.Brief}})
}

// geminiMessage is a line of the conversation's file, or a part of one that
// begins the list of messages anew.
type geminiMessage struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"` // a text, or parts with texts
	Set     struct {
		Messages []geminiMessage `json:"messages"`
	} `json:"$set"`
}

// geminiAnswer is what the model said last to a prompt, "" where it has not
// answered, and what the program says went wrong after that, a quota for one. A
// message that changes is written again. A prompt of ours is known by its id, a
// person's by its text.
func geminiAnswer(transcript string, want protocol.Prompt) (answer, trouble string, err error) {
	data, err := os.ReadFile(transcript)
	if err != nil {
		return "", "", fmt.Errorf("read the conversation: %w", err)
	}
	asked := false
	hear := func(m geminiMessage) {
		text := m.text()
		said := protocol.ParsePrompt(text)
		switch {
		case m.Type == "user" && (said.Req != "" || said == want):
			asked, answer, trouble = said.Req == want.Req, "", ""
		case m.Type == "gemini" && asked:
			answer, trouble = text, ""
		case m.Type == "error" && asked:
			trouble = text
		}
	}
	for line := range bytes.Lines(data) {
		var m geminiMessage
		if json.Unmarshal(line, &m) != nil {
			continue // the last line may still be being written
		}
		if m.Set.Messages != nil {
			asked, answer, trouble = false, "", ""
		}
		for _, old := range m.Set.Messages {
			hear(old)
		}
		hear(m)
	}
	return answer, trouble, nil
}

func (m geminiMessage) text() (text string) {
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}
