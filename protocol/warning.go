package protocol

import (
	"path"
	"slices"
	"strings"
)

// The levels of a warning.
const (
	LevelCritical = "CRITICAL" // cannot be undone, leaves the project, or takes more rights
	LevelWarn     = "WARN"
	LevelInfo     = "INFO" // only looks
)

// Warning says how dangerous a tool call is, as far as its text tells. It is a
// help for the person who decides, no protection.
func (u ToolUse) Warning() Warning {
	about, text := u.Subject()
	switch about {
	case aboutCommand:
		return u.commandWarning(text)
	case aboutPath:
		if readsOnly(u.Tool) {
			return Warning{LevelInfo, "only reads"}
		}
		if _, inside := u.inside(text); !inside && u.Dir != "" {
			return Warning{LevelCritical, "changes a file outside the project"}
		}
		return Warning{LevelWarn, "changes a file"}
	}
	if readsOnly(u.Tool) {
		return Warning{LevelInfo, "only reads"}
	}
	return Warning{LevelWarn, "uses " + u.Tool}
}

// readsOnly knows tools that only look by their names.
func readsOnly(tool string) bool {
	name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(tool))
	return slices.Contains([]string{
		"read", "glob", "grep", "ls", "list", "readfile", "readmanyfiles", "listdirectory", "searchfilecontent", "grepsearch", "notebookread",
		"viewimage", "codesearch", "lsp",
	}, name)
}

func (u ToolUse) commandWarning(text string) Warning {
	parts, plain := readShell(text)
	looks := plain && len(parts) > 0
	for _, p := range parts {
		if why := u.danger(p); why != "" {
			return Warning{LevelCritical, why}
		}
		looks = looks && !slices.ContainsFunc(p.outputs, func(file string) bool { return !nowhere(file) }) && onlyLooks(p)
	}
	switch {
	case looks:
		return Warning{LevelInfo, "only looks"}
	case !plain:
		return Warning{LevelWarn, "runs a command that is put together while it runs"}
	}
	return Warning{LevelWarn, "runs a command"}
}

// danger words why one command of a shell text needs a second look.
func (u ToolUse) danger(p shellPart) string {
	for _, file := range p.outputs {
		if _, inside := u.inside(file); !inside && u.Dir != "" && !nowhere(file) {
			return "writes outside the project"
		}
	}
	name, args := p.program()
	for assigns(name) && len(args) > 0 {
		name, args = path.Base(args[0]), args[1:]
	}
	has := func(short byte, long ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.IndexByte(a, short) > 0 ||
				slices.ContainsFunc(long, func(l string) bool { return a == l || strings.HasPrefix(a, l+"=") })
		})
	}
	sub := ""
	if i := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
		sub = args[i]
	}
	switch {
	case slices.Contains([]string{"sudo", "doas", "su", "pkexec"}, name):
		return "runs with other rights"
	case slices.Contains(starters(), name):
		if i := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") && !assigns(a) }); i >= 0 {
			return u.danger(shellPart{words: args[i:], piped: p.piped})
		}
	case slices.Contains(shells(), name) && p.piped, p.piped && (name == "python" || name == "python3" || name == "node" || name == "perl"):
		return "runs what another command prints"
	case slices.Contains(shells(), name):
		return u.nested(args)
	case name == "rm" && (has('r', "--recursive") || has('R') || has('f', "--force")):
		return "deletes without asking"
	case name == "find" && (slices.Contains(args, "-delete") || slices.Contains(args, "-exec") || slices.Contains(args, "-execdir")):
		return "deletes or runs something for each file"
	case name == "git" && sub == "push" && (has('f', "--force", "--force-with-lease", "--mirror", "--delete") || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "+") })):
		return "overwrites what others have"
	case name == "git" && (sub == "reset" && slices.Contains(args, "--hard") || sub == "clean" && has('f', "--force")):
		return "throws changes away"
	case slices.Contains([]string{"dd", "mkfs", "fdisk", "parted", "shred", "wipefs", "shutdown", "reboot", "halt", "poweroff", "killall", "pkill"}, name), strings.HasPrefix(name, "mkfs."):
		return "touches the machine itself"
	case (name == "chmod" || name == "chown" || name == "chgrp") && (has('R', "--recursive") || slices.Contains(args, "777")):
		return "changes rights widely"
	case slices.Contains([]string{"cp", "mv", "tee", "ln", "install", "rsync", "touch", "mkdir", "truncate"}, name):
		return u.leaves(args)
	}
	return ""
}

// nowhere knows the files that keep nothing.
func nowhere(file string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}, file)
}

// nested looks at the text that a shell is given to run.
func (u ToolUse) nested(args []string) string {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			if w := u.commandWarning(args[i+1]); w.Level == LevelCritical {
				return w.Message
			}
		}
	}
	return ""
}

// leaves says that a command which writes files names one outside the project.
// The last one is what is written; tee and touch write all of them.
func (u ToolUse) leaves(args []string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "-") || u.Dir == "" || !strings.HasPrefix(a, "/") && !strings.HasPrefix(a, "~") && !strings.HasPrefix(a, "..") {
			continue
		}
		if _, inside := u.inside(a); !inside && !nowhere(a) {
			return "writes outside the project"
		}
	}
	return ""
}

// onlyLooks knows commands that change nothing.
func onlyLooks(p shellPart) bool {
	name, args := p.program()
	if name == "" || name != p.words[0] {
		return false // nothing, or somebody's own program of that name
	}
	if name == "git" && len(args) > 0 {
		return slices.Contains([]string{"status", "log", "diff", "show", "blame", "rev-parse", "ls-files", "describe", "shortlog"}, args[0]) &&
			!slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--output") || a == "--ext-diff" })
	}
	return slices.Contains([]string{
		"ls", "cat", "head", "tail", "grep", "rg", "egrep", "fgrep", "pwd", "wc", "which", "echo", "printf", "stat", "file", "du", "df", "date", "whoami",
		"id", "uname", "tree", "sort", "uniq", "cut", "nl", "basename", "dirname", "realpath", "readlink", "cmp", "diff", "true", "false", "test", "ps",
	}, name) && !(name == "sort" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-o") || strings.HasPrefix(a, "--output") }))
}
