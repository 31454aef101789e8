package protocol

import (
	"regexp"
	"slices"
	"strings"
)

// Result is what became of one delegation, as its delegator is told.
type Result struct {
	From   string
	Status Status
	Text   string
}

var resultLine = regexp.MustCompile(`^Result of (\S+) \((success|partial|failed)\):$`)

// String is the result as it is typed into the delegator's pane.
func (r Result) String() string {
	return "Result of " + r.From + " (" + string(r.Status) + "):\n" + r.Text
}

// ParseResults reads the results in a prompt; a prompt that does not begin
// with one holds none. Only results of the named delegates count, so that a
// text which quotes a result is not taken apart.
func ParseResults(body string, from ...string) (results []Result) {
	for _, line := range strings.SplitAfter(body, "\n") {
		m := resultLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m != nil && slices.Contains(from, m[1]):
			results = append(results, Result{From: m[1], Status: Status(m[2])})
		case len(results) == 0:
			return nil
		default:
			results[len(results)-1].Text += line
		}
	}
	for i := range results {
		results[i].Text = strings.Trim(results[i].Text, "\n")
	}
	return results
}
