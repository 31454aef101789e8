package protocol

import (
	"strings"
	"unicode/utf8"
)

// Writing is as much as an agent has written of an answer that is not complete.
// It is shown to whoever looks on and kept nowhere: the answer itself comes as
// a message.
type Writing struct {
	Agent string
	Task  string // the root of the task it is written for
	Turn  string // tells one turn of the agent from the next
	Text  string
	Exact bool // the program's own words, not read from its screen
}

// Part is how a writing went on: Text takes the place of everything from the
// character Offset on. Each turn begins at 0.
type Part struct {
	TaskID string `json:"taskId"`
	Agent  string `json:"agent"`
	Offset int    `json:"offset"` // in Unicode characters
	Text   string `json:"text"`
	Exact  bool   `json:"exact"` // false: as the program's screen renders it
}

// Since tells somebody who has an earlier state of the same turn, or nothing
// yet, how it went on.
func (w Writing) Since(before Writing) Part {
	p := Part{TaskID: w.Task, Agent: w.Agent, Text: w.Text, Exact: w.Exact}
	if before.Turn != w.Turn {
		return p
	}
	shared := before.Text
	if !strings.HasPrefix(w.Text, shared) {
		shared = w.Text[:sharedPrefix(before.Text, w.Text)]
	}
	p.Offset, p.Text = utf8.RuneCountInString(shared), w.Text[len(shared):]
	return p
}

// sharedPrefix is how many bytes two texts have in common at their beginning,
// up to the last whole character.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}
