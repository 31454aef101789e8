package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator-cc/protocol"
)

const journalText = `{"timestamp":"2026-02-01T10:30:00.123456Z","id":"m1","from":"user","to":"grand_boss","type":"task","content":"count <all>","seq":1,"task_id":"t1","message_type":"request","direction":"sent"}
{"timestamp":"2026-02-01T10:30:01.123456Z","id":"m2","from":"grand_boss","to":"user","type":"result","content":"3","seq":2,"task_id":"t1","message_type":"response","direction":"received","status":"success","latency_ms":1000,"evidence":"channel"}
{"timestamp":"2026-02-01T10:30:02.123456Z","id":"m3","from":"user","to":"testing_specialist","type":"info","content":"news","seq":3,"message_type":"event","direction":"sent"}
{"timestamp":"2026-02-01T10:30:03.123456Z","id":"m4","from":"hub","to":"user","type":"error","content":"silent\nfor 30s","seq":4,"task_id":"t2","message_type":"error","direction":"received","status":"failed","latency_ms":7100,"error":"E_TIMEOUT"}
`

func TestLog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want []string
		not  string
	}{
		{"all", nil, []string{"user → grand_boss  task  count <all>", "(1.0s, channel) 3", "news"}, "{"},
		{"an error", nil, []string{"(7.1s, E_TIMEOUT) silent …\n"}, ", )"},
		{"one agent", []string{"--agent", "testing_specialist"}, []string{"news"}, "count"},
		{"one task", []string{"--task", "t1"}, []string{"count", "channel"}, "news"},
		{"the last one", []string{"-n", "1"}, []string{"silent"}, "news"},
		{"the last of an agent", []string{"-n", "2", "--agent", "user"}, []string{"news", "silent"}, "channel"},
		{"more than there are", []string{"-n", "100"}, []string{"count", "silent"}, "{"},
		{"for programs", []string{"--json"}, []string{`"content":"count <all>"`}, "→"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			write(t, r, "logs/messages.jsonl", journalText)
			r.hub.Change(func(o *protocol.Overview) { o.Hub.Journal = filepath.Join(r.dir, "logs", "messages.jsonl") })
			if code := r.run(t, append([]string{"log"}, tt.args...)...); code != 0 {
				t.Fatalf("got exit %d, want 0 (%s)", code, r.err)
			}
			for _, want := range tt.want {
				if !strings.Contains(r.out.String(), want) {
					t.Errorf("got %q, want %q in it", r.out, want)
				}
			}
			if strings.Contains(r.out.String(), tt.not) {
				t.Errorf("got %q, want no %q in it", r.out, tt.not)
			}
		})
	}
}

// TestLogFilters refuses what stands for nothing and tells of what has not
// happened yet.
func TestLogFilters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nobody", []string{"--agent", "zorro"}, exitUsage, "the agents are grand_boss"},
		{"nearly somebody", []string{"--agent", "grandboss"}, exitUsage, "did you mean grand_boss?"},
		{"followed", []string{"-f", "--agent", "zorro"}, exitUsage, "the agents are grand_boss"},
		{"not an agent, but in the journal", []string{"--agent", "hub"}, 0, ""},
		{"silent so far", []string{"--agent", "middle_manager"}, 0, "no hops yet"},
		{"fewer than none", []string{"-n", "-1"}, exitUsage, "-n is -1"},
		{"no such task", []string{"--task", "zzz"}, exitFailed, `there is no task "zzz"`},
		{"not yet in the journal", []string{"--task", "aaaa"}, 0, "no hops yet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			write(t, r, "logs/messages.jsonl", journalText)
			r.hub.PutTask(protocol.Task{ID: idDone})
			r.hub.Change(func(o *protocol.Overview) { o.Hub.Journal = filepath.Join(r.dir, "logs", "messages.jsonl") })
			wantRun(t, r, append([]string{"log"}, tt.args...), tt.code, "", tt.want)
			r.stop()
			if tt.args[1] != "aaaa" {
				wantRun(t, r.again(), append([]string{"log"}, tt.args...), tt.code, "", tt.want)
			}
		})
	}
}

func TestLogWithoutHub(t *testing.T) {
	t.Parallel()
	r := quietRig(tempPlace(t))
	write(t, r, "logs/messages.jsonl", journalText)
	wantRun(t, r, []string{"log"}, 0, "news", "")
}

func TestLogFollows(t *testing.T) {
	t.Parallel()
	r := quietRig(tempPlace(t))
	write(t, r, "logs/messages.jsonl", journalText)
	ctx, cancel := withDeadline(t)
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, r.app, []string{"log", "-f", "-n", "2"}) }()
	eventually(t, func() bool { return strings.Contains(r.out.String(), "news") })
	f, err := os.OpenFile(filepath.Join(r.dir, "logs", "messages.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fresh := strings.NewReplacer(`"news"`, `"fresh"`, `"seq":3`, `"seq":5`).Replace(strings.Split(journalText, "\n")[2])
	if _, err := f.WriteString(fresh + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return strings.Contains(r.out.String(), "fresh") })
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("got exit %d, want 0", code)
	}
}
