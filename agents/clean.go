package agents

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator-cc/protocol"
)

// maxLine is what a terminal in line mode takes before the kernel cuts a line.
const maxLine = 4095

// tailBefore is how much of a body tells the end of its echo from another's.
const tailBefore = 24

var requestID = regexp.MustCompile(`^[a-z0-9]{4,12}$`)

// prompt is what is typed for one attempt, and how it looks on a screen.
type prompt struct {
	id      string
	tag     string // begins the echo
	lead    string // the sign the program puts before it, once that is known
	parts   [][]byte
	echo    []rune // all of it, squeezed
	closing []rune // its last line, squeezed
	tail    []rune // the closing line and a little before it: the end of this very echo
}

// newPrompt makes the prompt of a request, or says why the engine cannot take it.
func newPrompt(r Request, e Engine) (prompt, *protocol.Fault) {
	if !requestID.MatchString(r.ID) {
		return prompt{}, protocol.Invalid("id", "is %q; it must be 4 to 12 small letters and digits", r.ID)
	}
	body, fault := clean(r.Body)
	if fault != nil {
		return prompt{}, fault
	}
	p := prompt{id: r.ID, tag: protocol.Tag(r.ID, sender(r.From))}
	rest := "\n" + body + "\n\n" + protocol.ClosingLine()
	if !e.Multiline {
		rest = " " + oneLine(body) + " " + protocol.ClosingLine()
	}
	size := len(p.tag) + len(rest)
	switch {
	case size > e.MaxPrompt:
		return prompt{}, tooLarge(size, e.MaxPrompt, "engine "+e.Name+" takes")
	case !e.Multiline && size > maxLine:
		return prompt{}, tooLarge(size, maxLine, "a program that reads lines takes")
	}
	p.parts = [][]byte{[]byte(p.tag), []byte(rest)}
	if e.OnePaste {
		p.parts = [][]byte{[]byte(p.tag + rest)}
	}
	p.echo = squeeze(p.tag + rest)
	p.closing = squeeze(protocol.ClosingLine())
	p.tail = p.echo[max(0, len(p.echo)-len(p.closing)-tailBefore):]
	return p, nil
}

func tooLarge(size, limit int, who string) *protocol.Fault {
	return protocol.Faultf(protocol.CodeTooLarge, "prompt has %d bytes with its tag; %s %d", size, who, limit).
		Cure("send a shorter text, or put it into a file and name the file")
}

// clean makes a body safe to paste. Without control characters no sequence in
// it can end the paste early or press a key.
func clean(body string) (string, *protocol.Fault) {
	if !utf8.ValidString(body) {
		return "", protocol.Invalid("body", "is not valid UTF-8")
	}
	body = strings.ReplaceAll(body, "\r\n", "\n")
	body = strings.ReplaceAll(body, "\r", "\n")
	body = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, body)
	body = strings.TrimRight(body, "\n")
	if strings.TrimSpace(body) == "" {
		return "", protocol.Invalid("body", "is empty; say what the agent is to do")
	}
	return body, nil
}

// oneLine joins a body for a program that takes one line at a time, and to
// which a tab may be a key.
func oneLine(body string) string {
	lines := strings.FieldsFunc(body, func(r rune) bool { return r == '\n' })
	return strings.ReplaceAll(strings.Join(lines, " "), "\t", " ")
}

// sender keeps a tag one line of plain words.
func sender(from string) string {
	from = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, from)
	if from == "" {
		return protocol.User
	}
	return from
}

// rows finds the rows of a screen that echo the prompt: from its tag, or from
// the top where that has scrolled away, to its end.
func (p prompt) rows(visible []string) (from, to int) {
	if p.id == "" {
		return 0, 0
	}
	for i, row := range visible {
		if p.tagged(row) {
			from = i
		}
	}
	for to = from; to < len(visible); to++ {
		text := squeeze(strings.TrimLeft(visible[to], gutter))
		if len(text) == 0 {
			continue
		}
		if index(p.echo, text, 0) < 0 {
			return from, to
		}
		if string(p.echo[len(p.echo)-len(text):]) == string(text) {
			return from, to + 1
		}
	}
	return from, to
}

// tagged says that a line shows the prompt's tag, of which a narrow program may
// break off all but the id.
func (p prompt) tagged(line string) bool {
	_, rest, found := strings.Cut(line, "req-"+p.id)
	return found && (rest == "" || rest[0] == ' ')
}

// ends says that a line ends as the prompt does.
func (p prompt) ends(line string) bool {
	return strings.HasSuffix(string(squeeze(line)), string(p.closing))
}
