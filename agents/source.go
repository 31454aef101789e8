package agents

import (
	"encoding/json"
	"slices"

	"orchestrator-cc/protocol"
)

// readers are the tools by which the programs read one file.
func readers() []string { return []string{"Read", "NotebookRead", "read_file", "read"} }

// source is the file that a finished tool call has read, and "" for any other.
func (t toolCall) source() string {
	var in struct {
		File     string `json:"file_path"`
		Absolute string `json:"absolute_path"`
		Notebook string `json:"notebook_path"`
		Camel    string `json:"filePath"`
	}
	if !slices.Contains(readers(), t.Tool) || json.Unmarshal(t.Input, &in) != nil {
		return ""
	}
	return in.File + in.Absolute + in.Notebook + in.Camel // a tool has one of them
}

// read tells that the turn goes on and, where a file was read, which one.
func (m memory) read(path string) []protocol.Report {
	reports := m.alive()
	if m.Req != "" && path != "" {
		reports = append(reports, protocol.Report{Event: protocol.ReportSource, Req: m.Req, Text: path})
	}
	return reports
}
