package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// The tasks of busyCompany.
const (
	idDone  = "aaaaaaaa-0000-4000-8000-000000000000"
	idStuck = "bbbbbbbb-0000-4000-8000-000000000000"
)

// busyCompany is a hub with something in every view.
func busyCompany(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, replyWith("GRAND BOSS OK"))
	now := time.Now()
	r.hub.PutTask(protocol.Task{ID: idDone, Root: idDone, From: "user", Agent: "grand_boss", State: protocol.TaskCompleted, Text: "first\nsecond", Progress: 100, Created: now.Add(-time.Minute), Updated: now, Result: "RESULT"})
	r.hub.PutTask(protocol.Task{ID: idStuck, Root: idStuck, From: "user", Agent: "grand_boss", State: protocol.TaskNeedsHuman, Reason: "no way on", Text: "stuck", Created: now, Updated: now})
	r.hub.Change(func(o *protocol.Overview) {
		o.Inbox = []protocol.InboxItem{
			{ID: idStuck, Kind: "needs_human", Agent: "grand_boss", Task: idStuck, Text: "no way on", Since: now},
			{ID: "testing_specialist", Kind: "dialog", Agent: "testing_specialist", Text: "Trust this folder?", Screen: "1. Yes\n2. No", Since: now},
		}
		o.Hub.Problems = []string{"journal: no space left"}
	})
	return r
}

func TestVerbs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		args      []string
		code      int
		out, text string
	}{
		{"help", []string{"--help"}, 0, "orchestrator-cc send grand_boss", ""},
		{"nothing typed", nil, 0, "Start and end:", ""},
		{"version", []string{"version"}, 0, "orchestrator-cc ", ""},
		{"version as a flag", []string{"--version"}, 0, "orchestrator-cc ", ""},
		{"the engines", []string{"up", "--help"}, 0, "auto, builtin, chat", ""},
		{"investigate nowhere", []string{"investigate", "what", "/nowhere/at/all"}, 1, "", "hint:  name a folder that is there"},
		{"completion", []string{"completion", "bash"}, 0, "orchestrator-cc", ""},
		{"unknown verb", []string{"stauts"}, 2, "", "error: there is no verb \"orchestrator-cc stauts\"\nhint:  did you mean: orchestrator-cc status, stats\n"},
		{"unknown verb like no other", []string{"xyzzy"}, 2, "", "hint:  see: orchestrator-cc --help"},
		{"unknown verb below another", []string{"code", "gerp"}, 2, "", "hint:  did you mean: orchestrator-cc code grep"},
		{"unknown verb for keys", []string{"keys", "dance"}, 2, "", "hint:  see: orchestrator-cc keys --help"},
		{"verb with others below it", []string{"code"}, 0, "signatures", ""},
		{"too few arguments below another", []string{"code", "grep"}, 2, "", "type: orchestrator-cc code grep PATTERN"},
		{"unknown flag", []string{"status", "--jsn"}, 2, "", "hint:  see: orchestrator-cc status --help"},
		{"too few arguments", []string{"show"}, 2, "", "type: orchestrator-cc show TASK"},
		{"too many arguments", []string{"show", "a", "b"}, 2, "", "type: orchestrator-cc show TASK"},
		{"status", []string{"status"}, 0, "waits for you: 2", ""},
		{"status names problems", []string{"status"}, 0, "problem: journal: no space left", ""},
		{"status for programs", []string{"status", "--json"}, 0, `"agents": [`, ""},
		{"status both ways", []string{"status", "--json", "--watch"}, 2, "", "exclude each other"},
		{"tasks", []string{"tasks"}, 0, "bbbbbbbb  needs_human", ""},
		{"tasks, one", []string{"tasks", "-n", "1"}, 0, "bbbbbbbb", "1 more"},
		{"tasks, less than none", []string{"tasks", "-n", "-1"}, 2, "", "-n is -1"},
		{"tasks for programs", []string{"tasks", "--json"}, 0, `"tasks": [`, ""},
		{"show by prefix", []string{"show", "aaaa"}, 0, "answer:\nRESULT", ""},
		{"show for programs", []string{"show", "aaaa", "--json"}, 0, `"id": "` + idDone + `"`, ""},
		{"show nothing", []string{"show", "zzzz"}, 1, "", "there is no task zzzz"},
		{"inbox", []string{"inbox"}, 0, "orchestrator-cc answer bbbbbbbb TEXT", ""},
		{"inbox, a dialog", []string{"inbox"}, 0, "orchestrator-cc attach testing_specialist", ""},
		{"inbox for programs", []string{"inbox", "--json"}, 0, `"kind": "dialog"`, ""},
		{"answer", []string{"answer", "bbbb", "try", "again"}, 0, "answered bbbb", "orchestrator-cc show bbbb"},
		{"answer a dialog", []string{"answer", "testing", "yes"}, 1, "", "orchestrator-cc attach testing_specialist"},
		{"answer nothing", []string{"answer", "bbbb", " "}, 2, "", "the text is empty"},
		{"cancel", []string{"cancel", "bbbb"}, 0, "is being cancelled", ""},
		{"retry", []string{"retry", "bbbb", "--text", "x"}, 0, "is tried again", ""},
		{"pause", []string{"pause", "grand_boss"}, 0, "grand_boss is paused", "orchestrator-cc resume grand_boss"},
		{"resume", []string{"resume", "grand_boss"}, 0, "grand_boss goes on", ""},
		{"pause nobody", []string{"pause", "grandboss"}, 2, "", "did you mean grand_boss?"},
		{"stats", []string{"stats"}, 0, "messages sent", ""},
		{"stats for programs", []string{"stats", "--json"}, 0, `"messages_sent": 0`, ""},
		{"completion of agents", []string{"__complete", "send", ""}, 0, "grand_boss\tidle", ""},
		{"completion of tasks", []string{"__complete", "show", ""}, 0, "aaaaaaaa\tfirst", ""},
		{"completion of what can be retried", []string{"__complete", "retry", ""}, 0, "bbbbbbbb\tstuck\n:4", ""},
		{"completion of what can be cancelled", []string{"__complete", "cancel", ""}, 0, "bbbbbbbb\tstuck\n:4", ""},
		{"completion of engines", []string{"__complete", "up", "--engine", ""}, 0, "auto\nbuiltin\nchat\n", ""},
		{"completion of engines to serve", []string{"__complete", "serve", "--engine", ""}, 0, "auto\nbuiltin\nchat\n", ""},
		{"completion of scopes", []string{"__complete", "keys", "add", "x", "--scope", ""}, 0, "read\nsubmit\napprove\nadmin\n:4", ""},
		{"a key for no unit of time", []string{"keys", "add", "x", "--scope", "read", "--expires", "5"}, 2, "", "such as 5d for days"},
		{"a key for days", []string{"keys", "add", "x", "--scope", "read", "--expires", "5d"}, 0, "occ_", ""},
		{"a key for no time", []string{"keys", "add", "x", "--scope", "read", "--expires", "0s"}, 2, "", "above 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantRun(t, busyCompany(t), tt.args, tt.code, tt.out, tt.text)
		})
	}
}

func TestOrdersReachTheHub(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string // the control message's text
		weak protocol.Priority
	}{
		{"cancel", []string{"cancel", "bbbb"}, `cancel {"task":"` + idStuck + `"}`, protocol.Critical},
		{"retry", []string{"retry", "bbbb"}, `retry {"task":"` + idStuck + `"}`, protocol.Normal},
		{"retry with words", []string{"retry", "bbbb", "--text", "look again"}, `retry {"task":"` + idStuck + `","text":"look again"}`, protocol.Normal},
		{"answer", []string{"answer", "bbbb", "look again"}, `retry {"task":"` + idStuck + `","text":"look again"}`, protocol.Normal},
		{"pause", []string{"pause", "testing_specialist"}, `pause {}`, protocol.Normal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := busyCompany(t)
			r.run(t, tt.args...)
			entry, err := r.hub.Follow(0, "").Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			m := entry.Message.Message
			if m.Text() != tt.want || m.Priority() != tt.weak || m.From() != protocol.User {
				t.Errorf("got %q with priority %s from %s, want %q with %s from the user", m.Text(), m.Priority(), m.From(), tt.want, tt.weak)
			}
		})
	}
}

func TestWithoutHub(t *testing.T) {
	t.Parallel()
	for _, verb := range [][]string{{"status"}, {"send", "grand_boss", "x"}, {"tasks"}, {"show", "x"}, {"inbox"}, {"stats"}, {"cancel", "x"}, {"attach"}, {"log"}, {"pause", "x"}} {
		t.Run(verb[0], func(t *testing.T) {
			t.Parallel()
			wantRun(t, quietRig(tempPlace(t)), verb, exitNoHub, "", "orchestrator-cc up")
		})
	}
	t.Run("down", func(t *testing.T) {
		t.Parallel()
		wantRun(t, quietRig(tempPlace(t)), []string{"down"}, 0, "nothing is running", "")
	})
	t.Run("hub that died", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		r.stop()
		wantRun(t, r, []string{"status"}, exitNoHub, "", "does not answer")
	})
}

func TestEmptyViews(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	wantRun(t, r, []string{"tasks"}, 0, "no tasks yet", "orchestrator-cc send")
	wantRun(t, r, []string{"inbox"}, 0, "nothing waits for you", "")
}

// TestWatchIntoAPipe writes the status again only when it says something new.
func TestWatchIntoAPipe(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ended := make(chan int, 1)
	ctx, cancel := withDeadline(t)
	go func() { ended <- run(ctx, r.app, []string{"status", "--watch"}) }()
	eventually(t, func() bool { return strings.Count(r.out.String(), "AGENT") == 1 })
	r.hub.Change(func(o *protocol.Overview) { o.Agents[0].State = protocol.Busy })
	eventually(t, func() bool { return strings.Count(r.out.String(), "AGENT") == 2 })
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("got exit %d, want 0", code)
	}
	if got := r.out.String(); !strings.Contains(got, "busy") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q, want the change, and no cursor movement", got)
	}
}

// TestViewsEndWithTheirReader notices on an idle company, where nothing is
// written, that nobody reads any more.
func TestViewsEndWithTheirReader(t *testing.T) {
	t.Parallel()
	for _, view := range [][]string{{"status", "--watch"}, {"log", "-f"}} {
		t.Run(view[0], func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			write(t, r, "logs/messages.jsonl", journalText)
			r.hub.Change(func(o *protocol.Overview) { o.Hub.Journal = filepath.Join(r.dir, "logs", "messages.jsonl") })
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			r.app.out.w = writer
			ended := make(chan int, 1)
			ctx, cancel := withDeadline(t)
			defer cancel()
			go func() { ended <- run(ctx, r.app, view) }()
			if _, err := reader.Read(make([]byte, 1<<16)); err != nil {
				t.Fatal(err)
			}
			select {
			case code := <-ended:
				t.Fatalf("got exit %d while somebody reads, want it to go on", code)
			case <-time.After(2 * watchTick):
			}
			reader.Close()
			if code := <-ended; code != 0 || ctx.Err() != nil {
				t.Errorf("got exit %d, %v, want 0 before the deadline", code, ctx.Err())
			}
		})
	}
}

func TestWatchOnATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.app.out.terminal = true
	r.app.out.width = func() int { return 80 }
	r.app.out.height = func() int { return 4 }
	ended := make(chan int, 1)
	ctx, cancel := withDeadline(t)
	go func() { ended <- run(ctx, r.app, []string{"status", "--watch"}) }()
	eventually(t, func() bool { return strings.Contains(r.out.String(), "\x1b[3A\x1b[J") })
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("got exit %d, want 0", code)
	}
}

func TestDownAsksTheHub(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	go func() {
		<-r.hub.Stopped()
		r.stop()
	}()
	wantRun(t, r, []string{"down"}, 0, "is down", "")
	wantRun(t, r, []string{"down"}, 0, "nothing is running", "")
}

func TestPaneProvesItsAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(h *apitest.Hub, in protocol.Accepted) {
		if in.Message.Header.Type == protocol.Request {
			h.Reply(in.Message.ID(), "from "+in.Message.From())
		}
	})
	r.getenv = environment(envSecret, "secret-of-middle_manager", envDir, r.dir)
	r.dir = t.TempDir()
	wantRun(t, r, []string{"send", "testing_specialist", "x"}, 0, "from middle_manager", "")
	wantRun(t, r, []string{"send", "--from", "middle_manager", "testing_specialist", "x"}, 0, "from middle_manager", "")
	wantRun(t, r, []string{"send", "--from", "grand_boss", "testing_specialist", "x"}, exitDenied, "", "the sender is middle_manager")
	wantRun(t, r, []string{"send", "grand_boss", "x"}, exitDenied, "", "may not send a request to grand_boss")
	wantRun(t, r, []string{"down"}, exitDenied, "", "may not end the session")
}
