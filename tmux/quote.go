package tmux

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// quote writes one argument for tmux's own command parser. Whatever could mean something to it becomes an octal
// escape, so the result also survives being quoted again inside a hook.
func quote(arg string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(arg); i++ {
		c := arg[i]
		switch {
		case c >= 0x80, c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte(" _-./:=@,+%&|<>?*()", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// command is one tmux command with its arguments quoted.
func command(args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

// sequence joins commands so that an error in one skips the rest.
func sequence(commands ...string) string { return strings.Join(commands, " ; ") }

// literal protects text that tmux would expand as a format, such as a folder's path.
func literal(text string) string { return strings.ReplaceAll(text, "#", "##") }

// shown makes text fit for a border or the status line: one line, and no style of its own.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.ReplaceAll(text, "#[", "##[")
}

var (
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	colourForm = regexp.MustCompile(`^(#[0-9a-fA-F]{6}|[a-z]+[0-9]{0,3})?$`)
)

// checkLine refuses what cannot be kept in an option and read back as it was.
func checkLine(what, text string) error {
	const limit = 4096 // far above what a note needs, far below the 16 KB a command may have
	if len(text) > limit {
		return fmt.Errorf("%s: %d bytes, at most %d fit", what, len(text), limit)
	}
	if strings.ContainsFunc(text, unicode.IsControl) || strings.ToValidUTF8(text, "") != text {
		return fmt.Errorf("%s %q: must be one line of plain UTF-8 text", what, text)
	}
	return nil
}
