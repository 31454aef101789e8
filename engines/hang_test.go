package engines

import (
	"strings"
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
