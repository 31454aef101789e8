package cmd

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with testdata/<name>.txt; escape sequences are made
// visible there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\x1b", "<ESC>")
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// company is an overview with every kind of line in it.
func company(now time.Time) protocol.Overview {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	return protocol.Overview{
		Agents: []protocol.AgentStatus{
			{Name: "grand_boss", Role: protocol.GrandBoss, Engine: "builtin", State: protocol.Busy, Task: idDone, Queue: 2, Since: ago(75 * time.Second), Pane: "%1"},
			{Name: "調査担当", Role: protocol.SpecialistResearch, Engine: "own", State: protocol.Waiting, Reason: "このフォルダを信頼しますか？\nsecond line", Since: ago(3 * time.Hour), Pane: "%2"},
			{Name: "testing_specialist", Role: protocol.SpecialistTesting, Engine: "builtin", State: protocol.Dead, Reason: "exit 1 \x1b[31m", Restarts: 2, Pane: "%3"},
		},
		Tasks: []protocol.Task{
			{ID: idDone, State: protocol.TaskInProgress, Progress: 40, Agent: "grand_boss", Created: ago(12 * time.Second), Text: "count the files\nplease"},
			{ID: idStuck, State: protocol.TaskFailed, Agent: "grand_boss", Created: ago(100 * time.Hour), Text: "テストを書く", Reason: "no answer"},
		},
		Inbox: []protocol.InboxItem{{ID: "調査担当", Kind: "dialog", Agent: "調査担当", Text: "このフォルダを信頼しますか？"}},
		Hub:   protocol.Health{Session: "orchestrator-cc", Socket: "orchestrator-cc", Problems: []string{"journal: disk full"}},
	}
}

func plainVoice(width int) voice { return voice{width: func() int { return width }} }

func TestGoldenViews(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 1, 10, 30, 0, 0, time.Local)
	coloured := plainVoice(100)
	coloured.colour = true
	narrow := plainVoice(60)
	narrow.colour = true
	latency := int64(60222)
	line := logs.Line{Timestamp: "nonsense", From: "middle_manager", To: "grand_boss", Type: "result", Content: "\n\nMIDDLE MANAGER OK\nmore", LatencyMS: &latency, Evidence: "channel"}
	o := company(now)
	tests := []struct{ name, got string }{
		{"status", overviewText(plainVoice(0), o, now)},
		{"status-narrow", overviewText(plainVoice(60), o, now)},
		{"status-coloured", overviewText(coloured, o, now)},
		{"status-coloured-narrow", overviewText(narrow, o, now)},
		{"up", readyTable(plainVoice(0), o) + "\n" + waysIn(o.Hub, o.Agents)},
		{"up-own-server", waysIn(protocol.Health{Session: "s", Socket: "default"}, nil)},
		{"show", taskTree(plainVoice(0), family(now))},
		{"inbox", inboxItem(plainVoice(0), protocol.InboxItem{ID: idDone, Kind: "needs_human", Agent: "grand_boss", Task: idDone, Text: "no answer\nafter 3 tries", Since: now.Add(-time.Minute)}, now)},
		{"inbox-panes", inboxPanes(now)},
		{"hop", hopLine(plainVoice(0), line) + "\n" + hopLine(plainVoice(60), line) + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { golden(t, tt.name, tt.got) })
	}
}

// inboxPanes is what the inbox says of panes that wait for a person.
func inboxPanes(now time.Time) string {
	var b strings.Builder
	for _, item := range []protocol.InboxItem{
		{Text: "a dialog waits for an answer: Trust this folder?", Dialog: "5d41402a", Screen: "Tips:\n1. Ask\n2. Read\n3. Write\n\nTrust this folder?\n❯ 1. Yes\n  2. No"},
		{Text: "a dialog waits for an answer: May I read?", Dialog: "5d41402a", Screen: "May I read? (y/n)"},
		{Text: "a dialog waits for an answer: Press a key", Dialog: "5d41402a", Screen: "Press a key"},
		{Text: "somebody's text stands in the composer; finish or clear it in its pane", Screen: "❯ half"},
	} {
		item.ID, item.Kind, item.Agent, item.Since = "grand_boss", protocol.InboxDialog, "grand_boss", now
		b.WriteString(inboxItem(plainVoice(0), item, now))
	}
	return b.String()
}

// family is a task with two generations below it.
func family(now time.Time) protocol.Task {
	at := func(d time.Duration) time.Time { return now.Add(d) }
	leaf := protocol.Task{ID: "c", From: "middle_manager", Agent: "coding_writing_specialist", State: protocol.TaskFailed, Code: protocol.CodeTimeout, Reason: "silent for 30s",
		Text: "write it", Created: now, Updated: at(31 * time.Second),
		Attempts: []protocol.Attempt{{Number: 1, Req: "k3v9", Steps: []protocol.Mark{
			{Step: protocol.Claimed, Time: at(time.Second)}, {Step: protocol.Undone, Time: at(31 * time.Second), Code: protocol.CodeTimeout, Reason: "silent", Truncated: true}}}}}
	other := protocol.Task{ID: "d", From: "middle_manager", Agent: "testing_specialist", State: protocol.TaskCompleted, Text: "test it", Created: now, Updated: at(2 * time.Second)}
	middle := protocol.Task{ID: "b", From: "grand_boss", Agent: "middle_manager", State: protocol.TaskInProgress, Text: "plan it\nwell", Created: now, Updated: at(40 * time.Second), Children: []protocol.Task{leaf, other}}
	return protocol.Task{ID: idDone, From: "user", Agent: "grand_boss", State: protocol.TaskCompleted, Progress: 100, Text: "do it", Created: now, Updated: at(90 * time.Second),
		Result: "done\n```outcome\n{\"a\":\n1}\n```\nGRAND BOSS OK\n", Children: []protocol.Task{middle},
		Attempts: []protocol.Attempt{
			{Number: 1, Req: "a1", Steps: []protocol.Mark{{Step: protocol.Taken, Time: at(300 * time.Millisecond), Evidence: "channel"}}},
			{Number: 1, Req: "a2", Steps: []protocol.Mark{{Step: protocol.Undone, Time: at(time.Second), Code: protocol.CodeAgentDied}}},
			{Number: 2, Req: "a3", Steps: []protocol.Mark{{Step: protocol.Answered, Time: at(2 * time.Second), Evidence: "channel"}}}}}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"}, {0, "0.0s"}, {420 * time.Millisecond, "0.4s"}, {12 * time.Second, "12s"},
		{185 * time.Second, "3m05s"}, {130 * time.Minute, "2h10m"}, {100 * time.Hour, "4d"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if got := span(tt.d); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "abc", 3, "abc"},
		{"cut", "abcdef", 4, "abc…"},
		{"wide", "日本語です", 6, "日本…"},
		{"empty", "", 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := shorten(tt.text, tt.width); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestColourIsAskedFor(t *testing.T) {
	t.Parallel()
	if got := plainVoice(0).paint(red, "x"); got != "x" {
		t.Errorf("got %q, want no colour", got)
	}
	if u := newUI(environment("NO_COLOR", "1", "TERM", "xterm")); u.out.colour || u.err.colour {
		t.Error("got colour, want NO_COLOR obeyed")
	}
}
