package logs

import (
	"strings"
	"testing"
	"time"
)

func TestPretty(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 1, 10, 30, 0, 123456000, time.Local)
	line := Line{Timestamp: at.Format(time.RFC3339Nano), From: "grand_boss", To: "middle_manager", Type: "task", Content: "\nFix the parser\nand more"}
	with := func(change func(*Line)) Line {
		l := line
		change(&l)
		return l
	}
	for _, c := range []struct {
		name  string
		line  Line
		width int
		color bool
		want  string
	}{
		{"whole", line, 0, false, "10:30:00.123  grand_boss → middle_manager  task  Fix the parser …"},
		{"fits", line, 200, false, "10:30:00.123  grand_boss → middle_manager  task  Fix the parser …"},
		{"cut", line, 56, false, "10:30:00.123  grand_boss → middle_manager  task  Fix th…"},
		{"narrow", line, 10, true, "10:30:00.…"},
		{"wide characters", with(func(l *Line) { l.Content = "日本語の文章" }), 54, false, "10:30:00.123  grand_boss → middle_manager  task  日本…"},
		{"colour", with(func(l *Line) { l.Content = "x" }), 80, true, "\x1b[2m10:30:00.123\x1b[0m  grand_boss → middle_manager  \x1b[1m\x1b[34mtask\x1b[0m  x"},
		{"error", with(func(l *Line) { l.Type, l.Error, l.Content = "error", "E_TIMEOUT", "late" }), 0, false, "10:30:00.123  grand_boss → middle_manager  error  [E_TIMEOUT]  late"},
		{"escape sequences", with(func(l *Line) { l.Content = "\x1b[31mred\x07\ttab\u202e" }), 0, false, "10:30:00.123  grand_boss → middle_manager  task  [31mred tab"},
		{"empty", with(func(l *Line) { l.Content = " \n " }), 0, false, "10:30:00.123  grand_boss → middle_manager  task"},
		{"no time", with(func(l *Line) { l.Timestamp, l.Content = "then", "x" }), 0, false, "then  grand_boss → middle_manager  task  x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Pretty(c.line, c.width, c.color); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPrettyNeverExceedsItsWidth(t *testing.T) {
	t.Parallel()
	l := Line{Timestamp: "t", From: "a", To: "b", Type: "info", Content: "aあe\u0301ｱ한😀" + strings.Repeat("字a", 40)}
	for width := 1; width < 120; width++ {
		used := 0
		for _, r := range Pretty(l, width, false) {
			used += columns(r)
		}
		if used > width {
			t.Errorf("width %d: got %d columns", width, used)
		}
	}
}
