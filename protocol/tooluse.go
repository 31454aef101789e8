package protocol

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
)

// ToolUse is a tool and what it is to be used for. Dir is where the agents
// work, absolute; "" where that is not known.
type ToolUse struct {
	Tool string
	Args json.RawMessage
	Dir  string
}

// What a tool call is about.
const (
	aboutCommand = "command"
	aboutPath    = "path"
	aboutURL     = "url"
	aboutArgs    = "arguments"
)

// Subject is what a tool call is about, and as text: the command of a shell
// tool, the path of a file tool (whole and cleaned), the address of a tool that
// fetches, else the arguments as compact JSON. Patterns are tried on it.
func (u ToolUse) Subject() (about, text string) {
	var args map[string]any
	if json.Unmarshal(u.Args, &args) == nil {
		for _, key := range []string{"command", "cmd", "script"} {
			if text, ok := commandText(args[key]); ok && !strings.HasPrefix(text, "*** Begin Patch") {
				return aboutCommand, text
			}
		}
		for _, key := range []string{"file_path", "filePath", "filepath", "notebook_path", "absolute_path", "path", "dir_path"} {
			if text, ok := args[key].(string); ok && text != "" {
				return aboutPath, u.absolute(text)
			}
		}
		if text, ok := args["url"].(string); ok && text != "" {
			return aboutURL, text
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, u.Args) != nil {
		return aboutArgs, string(u.Args)
	}
	return aboutArgs, b.String()
}

// Mention is what a person who reads about the call surely sees of it: the first
// line of its command, the name of its file, its address; "" where only the tool
// is known.
func (u ToolUse) Mention() string {
	switch about, text := u.Subject(); about {
	case aboutCommand:
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return first
	case aboutPath:
		return path.Base(text)
	case aboutURL:
		return text
	}
	return ""
}

// commandText is a command that is given as text or as its words.
func commandText(value any) (string, bool) {
	if text, ok := value.(string); ok {
		return text, text != ""
	}
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return "", false
	}
	words := make([]string, len(list))
	for i, item := range list {
		if words[i], ok = item.(string); !ok {
			return "", false
		}
	}
	if len(words) == 3 && slices.Contains(shells(), path.Base(words[0])) && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2], true
	}
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n;&|<>()$`\\\"'*?[]#~{}!") || w == "" {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " "), true
}

func (u ToolUse) absolute(file string) string {
	if !path.IsAbs(file) && u.Dir != "" && !strings.HasPrefix(file, "~") {
		file = path.Join(u.Dir, file)
	}
	return path.Clean(file)
}

// inside is a path as seen from the agents' folder, where it lies below it.
func (u ToolUse) inside(file string) (string, bool) {
	if u.Dir == "" {
		return "", false
	}
	file = u.absolute(file)
	if file == path.Clean(u.Dir) {
		return ".", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(path.Clean(u.Dir), "/")+"/")
}

// Kind is what a person allows who allows "this kind": the tool, and the same
// program with the same subcommand, files of the same folder, or the same host.
// A command that is not one plain command, that runs whatever it is told, or
// that is dangerous, is a kind by itself.
func (u ToolUse) Kind() string {
	about, text := u.Subject()
	switch about {
	case aboutCommand:
		return u.Tool + " " + u.commandKind(text)
	case aboutPath:
		folder := path.Dir(text)
		if inside, ok := u.inside(folder); ok {
			folder = inside
		}
		return u.Tool + " in " + folder
	case aboutURL:
		if at, err := url.Parse(text); err == nil && at.Host != "" {
			return u.Tool + " from " + at.Host
		}
		return u.Tool + " " + text
	}
	return u.Tool
}

func (u ToolUse) commandKind(text string) string {
	words, simple := simpleShell(text)
	if !simple || u.Warning().Level == LevelCritical || slices.Contains(free(), path.Base(words[0])) {
		return strings.TrimSpace(text)
	}
	kind := words[:1]
	for len(kind) < len(words) && len(kind) < depth(words) {
		next := words[len(kind)]
		if strings.HasPrefix(next, "-") {
			return strings.TrimSpace(text) // a flag before the subcommand may change everything
		}
		kind = words[:len(kind)+1]
	}
	return strings.Join(kind, " ")
}

// depth is how many words say what a program does.
func depth(words []string) int {
	two := []string{
		"git", "go", "npm", "pnpm", "yarn", "bun", "cargo", "docker", "podman", "kubectl", "helm", "pip", "pip3", "uv", "gh", "systemctl",
		"apt", "apt-get", "brew", "make", "terraform", "aws", "gcloud", "dotnet", "mvn", "gradle", "bundle", "rails", "poetry", "rustup",
	}
	switch {
	case !slices.Contains(two, words[0]):
		return 1
	case len(words) > 1 && slices.Contains([]string{"run", "compose", "stash", "remote", "tool"}, words[1]):
		return 3
	}
	return 2
}

func shells() []string { return []string{"sh", "bash", "zsh", "dash", "ksh", "fish"} }

// free are programs that run whatever their arguments say.
func free() []string {
	return append(append(starters(), shells()...), "eval", "source", ".", "python", "python3", "node", "perl", "ruby", "php", "awk", "sed", "find", "ssh", "npx", "bunx", "uvx", "osascript", "tmux")
}
