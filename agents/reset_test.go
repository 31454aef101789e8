package agents

import (
	"testing"
	"time"
)

func TestResetOf(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", 2*60*60)
	now := time.Date(2026, 10, 7, 14, 20, 0, 0, zone) // a Wednesday
	at := func(month time.Month, day, hour, minute, second int) time.Time {
		return time.Date(2026, month, day, hour, minute, second, 0, zone)
	}
	none := time.Time{}
	for _, tt := range []struct {
		text string
		want time.Time
	}{
		{"You've hit your session limit · resets 3pm", at(10, 7, 15, 0, 0)},
		{"You've hit your session limit · resets 3:30pm (Nowhere/City)", at(10, 7, 15, 30, 0)},
		{"You've hit your weekly limit · resets Oct 9 at 5pm", at(10, 9, 17, 0, 0)},
		{"You've hit your weekly limit · resets Oct 9, 5:05pm", at(10, 9, 17, 5, 0)},
		{"resets 12am", at(10, 8, 0, 0, 0)},
		{"resets 12pm", at(10, 8, 12, 0, 0)},
		{"5-hour limit reached ∙ resets 2pm", at(10, 8, 14, 0, 0)},
		{"resets 2:20pm", at(10, 7, 14, 21, 0)}, // some second of this minute
		{"resets 2:18pm", at(10, 7, 14, 21, 0)}, // it is over, or a clock is wrong
		{"resets Oct 7 at 2:20pm", at(10, 7, 14, 21, 0)},
		{"resets 2:10pm", at(10, 8, 14, 10, 0)},
		{"resets 3pm (UTC)", time.Date(2026, 10, 7, 15, 0, 0, 0, time.UTC)},
		{"resets 1pm (UTC)", time.Date(2026, 10, 7, 13, 0, 0, 0, time.UTC)},
		{"resets Jan 2, 2027, 9am", none},
		{"resets Nov 1, 9am", at(11, 1, 9, 0, 0)},
		{"Claude AI usage limit reached|1791394800", time.Unix(1791394800, 0)},
		{"limit reached|1791394800000", time.Unix(1791394800, 0)},
		{"You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.", at(10, 9, 17, 25, 0)},
		{"try again in 2h 15m", at(10, 7, 16, 35, 0)},
		{"Please try again in 11.054s.", at(10, 7, 14, 20, 11).Add(54 * time.Millisecond)},
		{"Your quota will reset after 13h28m5s.", at(10, 8, 3, 48, 5)},
		{"Please retry in 33.5s.", at(10, 7, 14, 20, 33).Add(500 * time.Millisecond)},
		{"Please retry in 250ms.", at(10, 7, 14, 20, 0).Add(250 * time.Millisecond)},
		{"Try again in less than a minute.", none},
		{"Try again at 4:12 PM.", at(10, 7, 16, 12, 0)},
		{"Try again at Oct 12th, 2026 9:03 AM.", at(10, 12, 9, 3, 0)},
		{"available again at 18:05", at(10, 7, 18, 5, 0)},
		{"retry-after: 30", at(10, 7, 14, 20, 30)},
		{`"retry-after":"3600"`, at(10, 7, 15, 20, 0)},
		{"Access resets at 2026-10-08T00:00:00Z", time.Date(2026, 10, 8, 0, 0, 0, 0, time.UTC)},
		{"until 2026-10-08 06:30 UTC", time.Date(2026, 10, 8, 6, 30, 0, 0, time.UTC)},
		{"until 2026-10-08T06:30:00.5+09:00", time.Date(2026, 10, 7, 21, 30, 0, 5e8, time.UTC)},
		{"Rate limited. Try later.", none},
		{"429 Too Many Requests", none},
		{"in 3 files", none},
		{"resets 99:99", none},
		{"resets in 400 days", none},
		{"", none},
	} {
		if got := resetOf(tt.text, now); !got.Equal(tt.want) {
			t.Errorf("resetOf(%q): got %s, want %s", tt.text, got, tt.want)
		}
	}
}
