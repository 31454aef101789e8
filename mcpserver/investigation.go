package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The arguments of the five commands, with the names that the commands have for
// them in messages, so that they are handed on as they are.
type (
	part struct {
		Under    string `json:"under,omitempty" jsonschema:"only below this folder or file"`
		Language string `json:"language,omitempty" jsonschema:"only this language, such as go or python"`
		NoTests  bool   `json:"no_tests,omitempty" jsonschema:"leave tests out"`
	}
	page struct {
		Skip   int    `json:"skip,omitempty" jsonschema:"leave out the first entries: asks for more"`
		Limits limits `json:"limits,omitzero" jsonschema:"how much to show"`
	}
	limits struct {
		Lines int `json:"lines,omitempty" jsonschema:"show at most this many entries (the default is 200)"`
		Bytes int `json:"bytes,omitempty" jsonschema:"show at most this much text (the default is 24576)"`
	}
	treeInput struct {
		Under string `json:"under,omitempty" jsonschema:"only below this folder"`
		Depth int    `json:"depth,omitempty" jsonschema:"levels of folders (the default is 3)"`
		page
	}
	findInput struct {
		Name string `json:"name" jsonschema:"a part of the path, or a pattern such as *.go"`
		part
		page
	}
	grepInput struct {
		Pattern    string `json:"pattern" jsonschema:"a regular expression"`
		Literal    bool   `json:"literal,omitempty" jsonschema:"the pattern is plain text"`
		IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"small and capital letters are alike"`
		Context    int    `json:"context,omitempty" jsonschema:"lines shown before and after each hit, at most 10"`
		Name       string `json:"name,omitempty" jsonschema:"only files of this name, or pattern such as *.go"`
		part
		page
	}
	signatureInput struct {
		Pattern    string `json:"pattern,omitempty" jsonschema:"a regular expression for the name or the signature; without it: all"`
		IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"small and capital letters are alike"`
		part
		page
	}
	staticInput struct {
		Targets []string `json:"targets,omitempty" jsonschema:"names (Retry, Policy.Retry), places (a/b.go:12) or files (a/b.go)"`
		part
		page
	}
)

func (s *Server) addInvestigation() {
	addCommand[treeInput](s, "tree", "Folders of the project", "The folders, with what lies below each.")
	addCommand[findInput](s, "find", "Find files", "Files of the project by name.")
	addCommand[grepInput](s, "grep", "Search text", "Lines that match a regular expression, as path:line:text.")
	addCommand[signatureInput](s, "signature_search", "Search declarations", "Functions, methods, classes and types, with their signatures.")
	addCommand[staticInput](s, "static_analysis", "Analyse code", "What a declaration depends on, what depends on it, its size and its tests.")
}

// addCommand offers one of the five commands as a tool of its name.
func addCommand[In any](s *Server, name, title, description string) {
	add(s, mcp.Tool{Name: name, Title: title, Description: description, Annotations: reads()},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (reply, error) {
			args, err := json.Marshal(in)
			if err != nil {
				return reply{}, fmt.Errorf("encode the arguments of %s: %w", name, err)
			}
			text, err := s.o.Investigator.Investigate(ctx, name, args)
			if err == nil && text == "" {
				text = "nothing found"
			}
			return reply{text: text}, err
		})
}
