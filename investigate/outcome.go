package investigate

import (
	"cmp"
	"fmt"
	"time"
)

// Outcome is what became of one command: exactly one of the results, or an
// error. It is small enough for a prompt; what was cut is named in Digest.
type Outcome struct {
	Step       string           `json:"step,omitempty"` // the Step it answers
	Command    Command          `json:"command"`
	Error      string           `json:"error,omitempty"`
	Estimate   Estimate         `json:"estimate,omitzero"`
	Digest     *Digest          `json:"digest,omitempty"`
	Tree       *TreeResult      `json:"tree,omitempty"`
	Find       *FindResult      `json:"find,omitempty"`
	Grep       *GrepResult      `json:"grep,omitempty"`
	Signatures *SignatureResult `json:"signatures,omitempty"`
	Static     *StaticResult    `json:"static,omitempty"`
	Elapsed    time.Duration    `json:"elapsed,omitempty"`
	Attempts   int              `json:"attempts,omitempty"` // more than one after retries
}

// Estimate is how much a command is expected to return, before it runs.
type Estimate struct {
	Lines int `json:"lines"`
	Bytes int `json:"bytes"`
}

// Digest says what of a result is shown, where the rest is, and how to ask for it.
type Digest struct {
	Shown int    `json:"shown"`
	Total int    `json:"total"`
	Spill string `json:"spill,omitempty"` // file with the lines that were cut, and those that were not
	More  string `json:"more,omitempty"`  // the command that returns what follows
}

// Failed tells whether the command ended with an error.
func (o Outcome) Failed() bool { return o.Error != "" }

// Total is how many entries the result has, shown or not.
func (o Outcome) Total() int {
	switch {
	case o.Tree != nil:
		return o.Tree.Total
	case o.Find != nil:
		return o.Find.Total
	case o.Grep != nil:
		return o.Grep.Total
	case o.Signatures != nil:
		return o.Signatures.Total
	case o.Static != nil:
		return o.Static.Total
	}
	return 0
}

// Problems lists what the command could not read.
func (o Outcome) Problems() []Problem {
	switch {
	case o.Tree != nil:
		return o.Tree.Problems
	case o.Grep != nil:
		return o.Grep.Problems
	case o.Signatures != nil:
		return o.Signatures.Problems
	case o.Static != nil:
		return o.Static.Problems
	}
	return nil
}

// Partial says why the result is incomplete, or is empty.
func (o Outcome) Partial() string {
	switch {
	case o.Grep != nil:
		return o.Grep.Partial
	case o.Signatures != nil:
		return o.Signatures.Partial
	case o.Static != nil:
		return o.Static.Partial
	}
	return ""
}

// Summary is one line for people.
func (o Outcome) Summary() string {
	if o.Failed() {
		return o.Command.Name + ": " + o.Error
	}
	return o.Command.Name + ": " + o.summary(englishLabels())
}

// summary says what came back, in the language of a report.
func (o Outcome) summary(l labels) string {
	var s string
	switch {
	case o.Failed():
		return o.Error
	case o.Tree != nil:
		s = fmt.Sprintf(l.Sums.Tree, l.Files.say(o.Tree.Files), l.Folders.say(o.Tree.Total))
	case o.Find != nil:
		s = l.Files.say(o.Find.Total)
	case o.Grep != nil:
		s = fmt.Sprintf(l.Sums.Grep, l.Lines.say(o.Grep.Total), l.Files.say(o.Grep.Files), o.Grep.Searched)
	case o.Signatures != nil:
		s = l.Decls.say(o.Signatures.Total)
	case o.Static != nil && o.Static.Survey != nil:
		s = fmt.Sprintf(l.Sums.Survey, l.Decls.say(o.Static.Survey.Decls))
	case o.Static != nil:
		s = fmt.Sprintf(l.Sums.Static, l.Decls.say(len(o.Static.Subjects)))
	}
	if o.Digest != nil {
		s += "; " + fmt.Sprintf(l.Cut, o.Digest.Shown, o.Digest.Total)
	}
	if p := o.Partial(); p != "" {
		s += "; " + cmp.Or(l.Sums.Partial, p)
	}
	return s
}
