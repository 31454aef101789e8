package protocol_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

func TestPartSaysHowAWritingWentOn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, before, now string
		newTurn           bool
		offset            int
		text              string
	}{
		{name: "the beginning", now: "one", text: "one"},
		{name: "more words", before: "one", now: "one two", offset: 3, text: " two"},
		{name: "characters, not bytes", before: "日本", now: "日本語", offset: 2, text: "語"},
		{name: "written anew", before: "one two", now: "one 2 three", offset: 4, text: "2 three"},
		{name: "a character that differs in its last byte", before: "日語", now: "日誟x", offset: 1, text: "誟x"},
		{name: "shorter", before: "one two", now: "one", offset: 3},
		{name: "another turn", before: "one", now: "one", newTurn: true, text: "one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			before := protocol.Writing{Turn: "a", Text: tc.before}
			now := protocol.Writing{Turn: "a", Agent: "boss", Task: "t", Text: tc.now, Exact: true}
			if tc.newTurn {
				now.Turn = "b"
			}
			want := protocol.Part{TaskID: "t", Agent: "boss", Offset: tc.offset, Text: tc.text, Exact: true}
			if diff := cmp.Diff(want, now.Since(before)); diff != "" {
				t.Errorf("part (-want +got):\n%s", diff)
			}
		})
	}
}
