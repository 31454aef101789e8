package agents

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator-cc/protocol"
)

// geminiAsks says that Gemini CLI asks a person about a tool call where nobody
// has told it otherwise. A hook is not told what its rules will say, so that a
// call which the user's own rules let pass is asked for in the inbox all the
// same; one that they hold up and this does not is a dialog in the pane.
func geminiAsks(command []string, use protocol.ToolUse) bool {
	mode := geminiMode(command)
	edits := slices.Contains([]string{"write_file", "replace", "web_fetch"}, use.Tool)
	switch {
	case mode == "yolo", mode == "auto_edit" && edits:
		return false
	case use.Tool == "run_shell_command":
		return use.Warning().Level != protocol.LevelInfo
	case edits, use.Tool == "activate_skill":
		return true
	}
	return strings.HasPrefix(use.Tool, "mcp_") && !strings.HasPrefix(use.Tool, "mcp_"+mcpName+"_")
}

// geminiMode is the approval mode that the command line asks for, "" for none.
func geminiMode(command []string) string {
	for i, word := range command {
		switch {
		case word == "--yolo" || word == "-y":
			return "yolo"
		case word == "--approval-mode" && i+1 < len(command):
			return command[i+1]
		case strings.HasPrefix(word, "--approval-mode="):
			return strings.TrimPrefix(word, "--approval-mode=")
		}
	}
	return ""
}

// geminiDialog is what Gemini CLI tells of a dialog before it shows it.
type geminiDialog struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Command string `json:"command"`
	File    string `json:"filePath"`
	Prompt  string `json:"prompt"`
	Server  string `json:"serverName"`
	Tool    string `json:"toolName"`
}

// about says that the dialog asks about a call. Of an MCP tool's call it tells
// only the tool; two at once that are not both allowed are left to a person.
func (d geminiDialog) about(call permit, dir string) bool {
	var in struct {
		Command, Prompt, URL, Name string
		File                       string `json:"file_path"`
	}
	if json.Unmarshal(call.Input, &in) != nil {
		return false
	}
	switch d.Type {
	case "exec":
		return call.Tool == "run_shell_command" && in.Command == d.Command
	case "edit":
		if !filepath.IsAbs(in.File) {
			in.File = filepath.Join(dir, in.File)
		}
		return (call.Tool == "write_file" || call.Tool == "replace") && filepath.Clean(in.File) == d.File
	case "mcp":
		return call.Tool == "mcp_"+d.Server+"_"+d.Tool
	case "info":
		return call.Tool == "web_fetch" && (in.URL != "" && d.Prompt == "Fetch "+in.URL || in.URL == "" && d.Prompt == in.Prompt) ||
			call.Tool == "activate_skill" && d.Title == "Activate Skill: "+in.Name
	}
	return false
}
