package cmd

import (
	"strings"
	"testing"
)

// TestUpWhileAHubRuns refuses what a start would refuse, and tells of what a
// running hub cannot change.
func TestUpWhileAHubRuns(t *testing.T) {
	t.Parallel()
	const own = "engines:\n  own: {command: [cat]}\n"
	tests := []struct {
		name string
		args []string
		code int
		want string // "" = no note
	}{
		{"nothing asked", nil, 0, ""},
		{"the same engine", []string{"--engine", "builtin"}, 0, ""},
		{"the same configuration", []string{"--config", "config/cc-cluster.yaml"}, 0, ""},
		{"another engine", []string{"--engine", "own"}, 0, "already running with engine builtin; for another: orchestrator-cc down, then: orchestrator-cc up --engine own\n"},
		{"another configuration", []string{"--config", "other.yaml"}, 0, "orchestrator-cc up --config other.yaml\n"},
		{"HTTP", []string{"--port", "8000"}, 0, "already running with no HTTP; for another: orchestrator-cc down, then: orchestrator-cc up --port 8000\n"},
		{"unknown engine", []string{"--engine", "steam"}, exitFailed, `engine "steam" is unknown`},
		{"no such configuration", []string{"--config", "no.yaml"}, exitFailed, "no.yaml"},
		{"bad port", []string{"--port", "http"}, exitUsage, `--port is "http"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			write(t, r, "config/cc-cluster.yaml", own)
			write(t, r, "other.yaml", own)
			wantRun(t, r, append([]string{"up"}, tt.args...), tt.code, "", tt.want)
			if got := r.err.String(); tt.want == "" && strings.Contains(got, "note:") {
				t.Errorf("got %q, want no note", got)
			}
		})
	}
}
