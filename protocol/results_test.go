package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseResults(t *testing.T) {
	t.Parallel()
	a := Result{From: "a", Status: Success, Text: "one\n\ntwo"}
	b := Result{From: "b", Status: Failed, Text: "no luck"}
	for _, tc := range []struct {
		name, body string
		want       []Result
	}{
		{"two results", a.String() + "\n\n" + b.String(), []Result{a, b}},
		{"a question", "where is it?", nil},
		{"a question that quotes a result", "what is this?\n" + a.String(), nil},
		{"a result that quotes a stranger's", a.String() + "\nResult of c (success):\nx",
			[]Result{{From: "a", Status: Success, Text: "one\n\ntwo\nResult of c (success):\nx"}}},
		{"of nobody we asked", "Result of c (success):\nx", nil},
		{"nothing", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, ParseResults(tc.body, "a", "b")); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}
