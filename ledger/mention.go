package ledger

import (
	"strings"
	"unicode/utf8"
)

// mention is a delegation as an agent wrote it.
type mention struct {
	name string
	text string
}

// readMentions takes an answer apart. A line that begins with @name outside a
// code fence starts a delegation; it runs to the next mention, the writer's
// marker line or the end. What belongs to none is returned as rest.
func readMentions(answer, marker string) (mentions []mention, rest string) {
	var own []string
	into := &own
	var texts []*[]string
	var fence fence
	for line := range strings.SplitSeq(answer, "\n") {
		if fence.holds(line) {
			*into = append(*into, line)
			continue
		}
		if isMarker(line, marker) {
			into = &own
			continue
		}
		if name, first, ok := mentionIn(line); ok {
			mentions = append(mentions, mention{name: name})
			into = &[]string{first}
			texts = append(texts, into)
			continue
		}
		*into = append(*into, line)
	}
	for i, lines := range texts {
		mentions[i].text = withoutMarker(strings.TrimSpace(strings.Join(*lines, "\n")), marker)
	}
	return mentions, strings.TrimSpace(strings.Join(own, "\n"))
}

// mentionIn reads "@name text", "@name: text" and the like. Up to three spaces
// may stand before it, as before any block of Markdown. A name that goes on
// with other signs, as in @types/node, is no mention.
func mentionIn(line string) (name, text string, ok bool) {
	line = strings.TrimRight(line, "\r")
	body := strings.TrimLeft(line, " ")
	if len(line)-len(body) > 3 || !strings.HasPrefix(body, "@") {
		return "", "", false
	}
	body = body[1:]
	end := strings.IndexFunc(body, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		return body, "", body != ""
	}
	sign, _ := utf8.DecodeRuneInString(body[end:])
	if end == 0 || sign < utf8.RuneSelf && !strings.ContainsRune(" \t:,", sign) {
		return "", "", false
	}
	return body[:end], strings.TrimLeft(body[end:], " \t:,：、，"), true
}

// isNameRune tells the letters of agent names. They are ASCII, so that a name
// ends where Japanese text goes on without a space.
func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// fence follows the code fences of Markdown from line to line. One that is
// never closed reaches to the end.
type fence struct {
	sign  byte
	width int
}

// holds says that the line is part of a fence, its first and last included.
func (f *fence) holds(line string) bool {
	body := strings.TrimLeft(line, " ")
	deep := len(line)-len(body) > 3
	width := 0
	for width < len(body) && (body[0] == '`' || body[0] == '~') && body[width] == body[0] {
		width++
	}
	if f.width == 0 {
		tickInInfo := width >= 3 && body[0] == '`' && strings.Contains(body[width:], "`")
		if deep || width < 3 || tickInInfo {
			return false
		}
		f.sign, f.width = body[0], width
		return true
	}
	if !deep && width >= f.width && body[0] == f.sign && strings.TrimSpace(body[width:]) == "" {
		f.width = 0
	}
	return true
}

// isMarker says that a line is the marker alone, however decorated.
func isMarker(line, marker string) bool {
	return marker != "" && strings.Trim(line, " \t\r*_`#>-.!") == strings.Trim(marker, " \t\r*_`#>-.!")
}

// withoutMarker removes the writer's marker from what is forwarded: lines that
// are nothing else, and the marker at the very end of the text.
func withoutMarker(text, marker string) string {
	if marker == "" || !strings.Contains(text, marker) {
		return strings.TrimSpace(text)
	}
	var kept []string
	var fence fence
	for line := range strings.SplitSeq(text, "\n") {
		if fence.holds(line) || !isMarker(line, marker) {
			kept = append(kept, line)
		}
	}
	out := strings.TrimSpace(strings.Join(kept, "\n"))
	return strings.TrimSpace(strings.TrimSuffix(out, marker))
}
