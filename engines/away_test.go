package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// hubPID is the hub's process as its card names it, 0 while it has none.
func (c *company) hubPID() int {
	data, err := os.ReadFile(filepath.Join(c.project, ".orchestrator-cc", "hub.json"))
	var card struct{ PID int }
	if err != nil || json.Unmarshal(data, &card) != nil {
		return 0
	}
	return card.PID
}

// An answer that a program gives while there is no hub is on its spool, and is
// the answer once there is one again: typed once, asked once, counted once.
func TestHubDiesInATurn(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			c := newCompany(t, p, model.script, one())
			c.up()
			asked, told := make(chan struct{}), make(chan struct{})
			model.on("留守", func(call modeltest.Call, prompt protocol.Prompt) modeltest.Turn {
				close(asked) // a second call would be a second prompt
				<-told
				return modeltest.Turn{Text: "留守でした。\n" + protocol.Token(markerIn(call), prompt.Req)}
			})
			done := c.background(specialist, "留守番をしてください。")
			select {
			case <-asked:
			case <-time.After(patience):
				t.Fatal("got no prompt at the model")
			}
			pid := c.hubPID()
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatalf("kill the hub %d: %v", pid, err)
			}
			close(told)
			r := c.finish(done)
			if want := "留守でした。\n" + marker + "\n"; r.code != 0 || r.out != want {
				t.Fatalf("got exit %d and %q, want %q\n%s", r.code, r.out, want, r.err)
			}
			if got := len(received(c.model)); got != 1 || c.hubPID() == pid {
				t.Errorf("got %d prompts at the model and the hub %d, want one prompt and another hub than %d", got, c.hubPID(), pid)
			}
		})
	}
}
