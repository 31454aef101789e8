package agents

import (
	"regexp"
	"strings"
	"time"
)

// obstacle is a person's business that no key of ours may touch, and what is
// said of it; unclear where there is none. A dialog may be about a limit, which
// is then said with it.
func (e Engine) obstacle(s Screen, v view) (observation, string) {
	switch {
	case v.dialog && v.signIn != "":
		return occupied, v.signIn
	case v.dialog:
		const waits = "a dialog waits for an answer"
		if w, ok := e.wall(strings.Split(excerpt(s), "\n"), time.Time{}); ok {
			return asking, waits + " at a limit: " + w.text
		}
		if asked := question(s.Visible, v.asks); asked != "" {
			return asking, waits + ": " + asked
		}
		return asking, waits
	case s.CopyMode && s.Clients > 0:
		return occupied, "somebody is scrolling in the pane"
	}
	return unclear, ""
}

// signIn words that a row tells of a program which nobody has signed in to; ""
// where it tells of nothing like it. The group "type" is what to type for it.
func (e Engine) signIn(row string) string {
	for _, p := range e.SignedOut {
		m := p.FindStringSubmatch(row)
		if m == nil {
			continue
		}
		if at := p.SubexpIndex("type"); at >= 0 && m[at] != "" {
			return "it is not signed in; type " + m[at] + " in its pane"
		}
		return "it is not signed in; do that in its pane"
	}
	return ""
}

// choice is a row that offers one of several answers.
var choice = regexp.MustCompile(`^[\s\x{a0}│┃>❯›●]*[1-9]\. `)

// mark ends a question, also where no blank follows it.
var mark = regexp.MustCompile(`\?(\s|$)|？`)

// question is what a dialog asks, known by one of its rows: up to the question
// mark, which may stand some rows below in a narrow pane, or else that row.
// Choices stand below what they are about.
func question(rows []string, row int) string {
	for row >= 0 && (choice.MatchString(rows[row]) || len(squeeze(rows[row])) == 0) {
		row--
	}
	if row < 0 {
		return ""
	}
	text := paragraph(rows, row)
	if end := mark.FindStringIndex(text); end != nil {
		text = text[:end[1]]
	} else {
		text = rows[row]
	}
	text, _, _ = strings.Cut(strings.Trim(text, gutter+"△"), "   ") // other things may stand beside it
	const most = 120                                                // characters
	if cut := []rune(text); len(cut) > most {
		text = string(cut[:most-1]) + "…"
	}
	return text
}
