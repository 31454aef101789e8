package agents

import (
	"regexp"
	"testing"
	"time"
)

// A program hangs at its start when nothing stands on its screen for long, and
// for less long once it has spoken on its channel; it is said once.
func TestBlankScreenAtTheStart(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	ready := []*regexp.Regexp{regexp.MustCompile("^>")}
	for _, tt := range []struct {
		name  string
		eye   eye
		ready []*regexp.Regexp
		hung  string
		want  bool
	}{
		{"early", eye{began: ago(29 * time.Second)}, ready, "", false},
		{"late", eye{began: ago(31 * time.Second)}, ready, "", true},
		{"soon after its first word", eye{began: ago(29 * time.Second), spoke: true, spokeAt: ago(14 * time.Second)}, ready, "", false},
		{"long after its first word", eye{began: ago(29 * time.Second), spoke: true, spokeAt: ago(16 * time.Second)}, ready, "", true},
		{"something drawn", eye{began: ago(time.Hour), rows: "\n loading"}, ready, "", false},
		{"nothing to draw", eye{began: ago(time.Hour)}, nil, "", false},
		{"started again", eye{began: ago(time.Hour)}, ready, "it drew nothing", false},
	} {
		a := New(nil, Options{Engine: Engine{Ready: tt.ready, Start: time.Minute}})
		a.eye, a.hung = tt.eye, tt.hung
		if got := a.blank(now); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
