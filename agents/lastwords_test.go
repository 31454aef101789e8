package agents_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/agents"
)

func TestLastWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		lines []string
		words []string
		gist  string
	}{
		{"nothing", []string{"", "Pane is dead (status 1, now)", ""}, nil, ""},
		{"one line", []string{"error: no model ", "", "Pane is dead (status 1, now)"}, []string{"error: no model"}, "error: no model"},
		{"the last block", []string{"Welcome", "╭──╮", "cannot connect", "  try later", "╰──╯", ""}, []string{"Welcome", "cannot connect", "  try later"}, "cannot connect try later"},
		{"blocks before it", []string{"one", "", "two", "", "three"}, []string{"one", "two", "three"}, "three"},
		{"a long trace", strings.Split("a b c d e f g", " "), []string{"c", "d", "e", "f", "g"}, "c d e f g"},
		{"a long line", []string{strings.Repeat("日", 300)}, []string{strings.Repeat("日", 300)}, strings.Repeat("日", 199) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			words, gist := agents.LastWords(agents.Screen{Lines: tt.lines})
			if diff := cmp.Diff(tt.words, words); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
			if gist != tt.gist {
				t.Errorf("got gist %q, want %q", gist, tt.gist)
			}
		})
	}
}
