package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadMentions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		want         []mention
		rest         string
	}{
		{"none", "all done\nGO OK", nil, "all done"},
		{"colon", "@coder: write it", []mention{{"coder", "write it"}}, ""},
		{"no colon", "@coder write it", []mention{{"coder", "write it"}}, ""},
		{"wide colon", "@coder：書いて", []mention{{"coder", "書いて"}}, ""},
		{"no space before Japanese", "@coderに頼む", []mention{{"coder", "に頼む"}}, ""},
		{"text on the next lines", "@coder\nwrite it\n\nwell", []mention{{"coder", "write it\n\nwell"}}, ""},
		{"two, with words before", "a plan\n@a: one\nmore\n@b: two", []mention{{"a", "one\nmore"}, {"b", "two"}}, "a plan"},
		{"ends at the marker line", "@a: one\nGO OK\nover", []mention{{"a", "one"}}, "over"},
		{"decorated marker line", "@a: one\n**GO OK**", []mention{{"a", "one"}}, ""},
		{"marker first", "GO OK\n@a: one", []mention{{"a", "one"}}, ""},
		{"marker behind the text", "@a: one GO OK", []mention{{"a", "one"}}, ""},
		{"marker as part of a sentence", "@a: print GO OK twice", []mention{{"a", "print GO OK twice"}}, ""},
		{"in the middle of a line", "ask @a: one", nil, "ask @a: one"},
		{"three spaces", "   @a: one", []mention{{"a", "one"}}, ""},
		{"four spaces are code", "    @a: one", nil, "@a: one"},
		{"in a fence", "```\n@a: one\n```\ntext", nil, "```\n@a: one\n```\ntext"},
		{"fence inside a mention", "@a: run\n```sh\n@b: no\nGO OK\n```\nthen stop", []mention{{"a", "run\n```sh\n@b: no\nGO OK\n```\nthen stop"}}, ""},
		{"tilde fence with ticks in it", "~~~\n```\n@a: one\n~~~\n@b: two", []mention{{"b", "two"}}, "~~~\n```\n@a: one\n~~~"},
		{"shorter fence does not close", "````\n```\n@a: one\n````\n@b: two", []mention{{"b", "two"}}, "````\n```\n@a: one\n````"},
		{"open fence reaches to the end", "```\n@a: one", nil, "```\n@a: one"},
		{"inline code is no fence", "```x``` y\n@a: one", []mention{{"a", "one"}}, "```x``` y"},
		{"scoped package", "@types/node is needed", nil, "@types/node is needed"},
		{"address", "@a.example", nil, "@a.example"},
		{"sign alone", "@ a", nil, "@ a"},
		{"name alone", "@a", []mention{{"a", ""}}, ""},
		{"windows line ends", "@a: one\r\n@b\r\ntwo\r\nGO OK\r\n", []mention{{"a", "one"}, {"b", "two"}}, ""},
		{"same agent twice", "@a: one\n@a: two", []mention{{"a", "one"}, {"a", "two"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, rest := readMentions(tt.answer, "GO OK")
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(mention{})); diff != "" {
				t.Errorf("mentions (-want +got):\n%s", diff)
			}
			if rest != tt.rest {
				t.Errorf("rest: got %q, want %q", rest, tt.rest)
			}
		})
	}
}

func TestWithoutMarker(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"last line", "done\nGO OK", "done"},
		{"first line", "GO OK\ndone", "done"},
		{"end of a line", "done. GO OK", "done."},
		{"inside a sentence", "GO OK is my marker", "GO OK is my marker"},
		{"in a fence", "```\nGO OK\n```", "```\nGO OK\n```"},
		{"nothing else", "GO OK", ""},
		{"none", " done ", "done"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := withoutMarker(tt.text, "GO OK"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzReadMentions(f *testing.F) {
	f.Add("a\n@b: c\n```\n@d\n```\nGO OK")
	f.Fuzz(func(t *testing.T, answer string) {
		mentions, _ := readMentions(answer, "GO OK")
		for _, m := range mentions {
			if m.name == "" {
				t.Errorf("got a mention without a name in %q, want none", answer)
			}
		}
	})
}
