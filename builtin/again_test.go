package builtin

import (
	"strings"
	"testing"
)

func TestSecondQuestionUsesTheEarlierReport(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for range 2 {
		answer, err := o.ask("grand_boss", "where is the retry policy implemented?")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(answer, "no outcome came back") {
			t.Errorf("an outcome was lost:\n%s", answer)
		}
	}
}
