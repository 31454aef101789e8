package engines

import (
	"strings"
	"syscall"
	"testing"

	"orchestrator-cc/protocol"
)

// hanging is a program that draws nothing at some of its starts.
func hanging(starts string) program {
	return program{
		name: "hanging", settings: "    command: [sh, hanging.sh]\n    ready: ['I read lines']\n    start: 6s\n",
		prepare: func(c *company) map[string]string {
			c.write("project/hanging.sh", `echo . >> starts.txt
if [ "$(wc -l < starts.txt)" -le `+starts+` ]; then exec sleep 1000; fi
echo "I read lines."
while IFS= read -r line; do
  echo 'Done.'; echo '`+marker+`'
  echo "I read lines."
done
`)
			return map[string]string{"NOTHING": "more"}
		},
	}
}

// A program that hangs at its start, with nothing on its screen, is started
// again, once, and that is said.
func TestHangAtTheStart(t *testing.T) {
	t.Parallel()
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		c := newCompany(t, hanging("1"), nil, one())
		c.up()
		if got := c.send(specialist, "働いて。"); !strings.Contains(got, "Done.") {
			t.Errorf("got %q, want the answer", got)
		}
		if s := c.status(specialist); s.Restarts != 1 {
			t.Errorf("got %d restarts, want 1 that is counted", s.Restarts)
		}
	})
	t.Run("ever", func(t *testing.T) {
		t.Parallel()
		c := newCompany(t, hanging("9"), nil, one())
		c.call("", "up")
		s := c.status(specialist)
		if s.State != protocol.Degraded || s.Restarts != 1 || !strings.Contains(s.Reason, "drew nothing") || !strings.Contains(s.Reason, "not ready") {
			t.Errorf("got %s (%s) after %d restarts, want it degraded after one, and both said", s.State, s.Reason, s.Restarts)
		}
	})
}

// A real program that stops between its first word and its first screen, as
// OpenCode does at times, is ended and comes up the second time.
func TestHangAfterTheFirstWord(t *testing.T) {
	t.Parallel()
	p := opencode()
	t.Run(p.name, func(t *testing.T) {
		t.Parallel()
		var model play
		p.settings = "    start: 60s\n" // of which it has a quarter to draw
		c := newCompany(t, p, model.script, one())
		up := make(chan result, 1)
		go func() { up <- c.call("", "up") }()
		c.wait("first word", func() bool { return strings.Contains(c.spool(), `"ready"`) })
		processes := c.processes(specialist)
		for _, pid := range processes[:len(processes)-1] { // tmux would wake the wrapper, and all with it
			syscall.Kill(pid, syscall.SIGSTOP) // a hook of it may be gone by now
		}
		if got := strings.TrimSpace(c.screen(0)); got != "" {
			t.Fatalf("got a screen before the program was stopped, want it empty\n%s", got)
		}
		if r := c.finish(up); r.code != 0 {
			t.Fatalf("up: got exit %d, want 0\n%s%s", r.code, r.out, r.err)
		}
		model.say("二度目", "動きます。")
		if got, want := c.send(specialist, "二度目はどうですか。"), "動きます。\n"+marker; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if s := c.status(specialist); s.Restarts != 1 {
			t.Errorf("got %d restarts, want 1", s.Restarts)
		}
	})
}
