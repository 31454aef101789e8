package agents

import (
	"testing"
	"time"

	"orchestrator-cc/config"
)

// The rows with which the programs say that they wait by themselves, as they
// draw them, and rows that say no such thing.
func TestWordsOfOwnWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 7, 14, 20, 0, 0, time.UTC)
	for _, tt := range []struct {
		engine string
		rows   []string
		why    string
		wait   time.Duration // 0: it does not say
	}{
		{"claude", []string{"✻ API error · Retrying in 15s · attempt 2/10", "", "❯ "}, "API error", 15 * time.Second},
		{"claude", []string{"● I was retrying in 15s steps."}, "", 0},
		{"codex", []string{"◦ Reconnecting... 1/5 (1s • esc to interrupt)", "  └ Exceeded retry limit, last status: 429 Too Many Requests", "", "› Ask Codex to do anything"},
			"Exceeded retry limit, last status: 429 Too Many Requests", 0},
		{"codex", []string{"• Working (0s • esc to interrupt)"}, "", 0},
		{"gemini", []string{" ⠇ This is taking a bit longer, we're still on it. (esc to cancel, 21s)"}, "This is taking a bit longer, we're still on it", 0},
		{"gemini", []string{" ⠇ Thinking... (esc to cancel, 2s)"}, "", 0},
		{"opencode", []string{"   ⬝■■■■■■⬝ Rate limit reached [retrying in 18s attempt #1]        esc interrupt    • OpenCode 1.18.33"}, "retrying", 18 * time.Second},
		{"opencode", []string{"   ⬝⬝⬝⬝⬝⬝⬝⬝ Rate limit reached. Please slow down. [retrying in 9m 57s attempt #"}, "retrying", 9*time.Minute + 57*time.Second}, // 79 columns
		{"opencode", []string{"   ⬝⬝⬝⬝⬝⬝⬝This request would exceed your account's rate limit. Please try again", "          retrying in 59m 52s attempt #1]"}, "retrying", 59*time.Minute + 52*time.Second},
		{"opencode", []string{"   ⬝■■■■■■⬝  esc interrupt"}, "", 0},
	} {
		e, err := EngineOf(config.Default().Engines[tt.engine])
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.waits(tt.rows, now)
		until := time.Time{}
		if tt.wait > 0 {
			until = now.Add(tt.wait)
		}
		if ok != (tt.why != "") || got.text != tt.why || !got.until.Equal(until) {
			t.Errorf("%s %q: got %q until %s (%t), want %q until %s", tt.engine, tt.rows, got.text, got.until, ok, tt.why, until)
		}
	}
}
