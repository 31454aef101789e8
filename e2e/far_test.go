package e2e

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// far is a person at another machine: a folder without a project, and the
// address and a key in the environment.
type far struct {
	t    *testing.T
	w    *web
	dir  string
	vars []string
}

func (w *web) far(t *testing.T, key string, more ...string) far {
	return far{t, w, t.TempDir(), append([]string{"ORCHESTRATOR_CC_URL=" + w.url, "ORCHESTRATOR_CC_KEY=" + key}, more...)}
}

func (f far) command(args ...string) *exec.Cmd {
	cmd := f.w.command(args...)
	cmd.Dir, cmd.Env = f.dir, append(cmd.Env, f.vars...)
	return cmd
}

// run runs a verb and checks what it says on stdout or, where it fails, on
// stderr.
func (f far) run(code int, want string, args ...string) string {
	f.t.Helper()
	cmd := f.command(args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	_ = cmd.Run() // The exit code tells.
	said := out.String()
	if code != 0 {
		said = diag.String()
	}
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(said, want) {
		f.t.Errorf("%v: got exit %d, %q and %q, want %d with %q", args, got, out.String(), diag.String(), code, want)
	}
	return said
}

// TestFromAfar uses every verb that makes sense from another machine.
func TestFromAfar(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	admin := strings.TrimSpace(w.run("keys", "add", "admin", "--scope", "read", "--scope", "submit", "--scope", "approve", "--scope", "admin"))
	reader := strings.TrimSpace(w.run("keys", "add", "reader", "--scope", "read"))
	chief, guest := w.far(t, admin), w.far(t, reader)
	mine := w.far(t, w.key, "ORCHESTRATOR_CC_SESSION=mine")
	w.run("send", "grand_boss", "/say of the owner")
	mine.run(0, "of mine\nGRAND BOSS OK", "send", "grand_boss", "/say of mine")
	task := strings.Fields(mine.run(0, "of mine", "tasks"))
	mine.run(0, "grand_boss", "status")
	mine.run(0, `"agents"`, "status", "--json")
	mine.run(0, "/say of mine", "log")
	mine.run(0, "user → grand_boss", "log", "--agent", "grand_boss")
	mine.run(2, "did you mean grand_boss?", "log", "--agent", "grandboss")
	mine.run(0, "messages sent", "stats")
	mine.run(0, "nothing waits for you", "inbox")
	for _, said := range []string{mine.run(0, "", "log"), mine.run(0, "", "tasks"), mine.run(0, "", "log", "--json")} {
		if strings.Contains(said, "of the owner") {
			t.Errorf("got %q, want nothing of the owner's", said)
		}
	}
	chief.run(0, "of the owner", "log")
	chief.run(0, "of mine", "log", "--task", idIn(task))
	guest.run(3, "has not the scope submit", "send", "grand_boss", "/say no")
	guest.run(3, "has not the scope admin", "pause", "grand_boss")
	guest.run(3, "has not the scope admin", "down")
	chief.run(0, "is paused", "pause", "grand_boss")
	id := strings.TrimSpace(mine.run(0, "", "send", "--async", "grand_boss", "/shell echo from afar"))
	mine.run(0, "pending", "show", id)
	chief.run(0, "goes on", "resume", "grand_boss")
	mine.run(0, "approved shell:execute of grand_boss", "approve", w.question())
	w.finished(id)
	mine.run(0, "from afar", "show", id)
	mine.run(0, "by key tester", "log")
	id = strings.TrimSpace(mine.run(0, "", "send", "--async", "grand_boss", "/think 60s"))
	mine.run(0, "is being cancelled", "cancel", id)
	w.finished(id)
	mine.run(0, "is tried again", "retry", id)
	mine.run(0, "is being cancelled", "cancel", id)
	mine.run(2, "names one elsewhere", "attach")
	mine.run(2, "names one elsewhere", "keys", "list")
	chief.run(0, "is down", "down")
	mine.run(4, "check ORCHESTRATOR_CC_URL", "status")
}

func idIn(fields []string) string {
	for _, f := range fields {
		if len(f) == 8 && strings.Trim(f, "0123456789abcdef") == "" {
			return f
		}
	}
	return "no id"
}

// TestFollowFromAfar follows the journal while things happen, across the end
// of a hub.
func TestFollowFromAfar(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	mine := w.far(t, w.key, "ORCHESTRATOR_CC_SESSION=s1")
	w.finished(w.submit("s1", "/say before"))
	follow := mine.command("log", "-f")
	var out said
	follow.Stdout = &out
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = follow.Process.Kill()
		_ = follow.Wait()
	}()
	w.finished(w.submit("s1", "/say after"))
	w.finished(w.submit("another", "/say of another session"))
	w.finished(w.submit("s1", "/say last"))
	until(t, 30*time.Second, func(context.Context) (bool, string) {
		got := out.String()
		return strings.Contains(got, "task  /say before") && strings.Contains(got, "/say after") && strings.Contains(got, "/say last"), got
	})
	if strings.Contains(out.String(), "another session") {
		t.Errorf("got %s, want only the session's own", out.String())
	}
}
