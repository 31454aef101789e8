package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// The whole company: the boss delegates, the manager splits, two specialists
// work at the same time, the results come up, the user gets one answer.
func TestWholeCompany(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	root := o.ask(user, boss, "build it")
	b := o.take(boss)
	if b.Body != "build it" || b.From != user || b.Task != root || b.Type != protocol.Request || b.Attempt != 1 {
		t.Fatalf("got delivery %+v, want the user's request", b)
	}
	o.answer(b, "I will have it built.\n@middle_manager: build and test it\n"+bossDone)
	if _, ok := o.ready(boss); ok {
		t.Fatal("boss: got a delivery while its delegate works, want none")
	}
	m := o.take(manager)
	if m.Body != "build and test it" || m.From != boss || m.Root != root {
		t.Fatalf("got delivery %+v, want the boss's delegation without its marker", m)
	}
	o.answer(m, "@"+coder+" write it\nin Go\n\n@"+tester+": test it\nMIDDLE MANAGER OK")
	c, s := o.take(coder), o.take(tester)
	o.now = o.now.Add(2 * time.Second)
	o.answer(s, "tests pass\nTESTING OK")
	if _, ok := o.ready(manager); ok {
		t.Fatal("manager: got a delivery before the last result, want none")
	}
	o.answer(c, "written\nCODING OK")
	m = o.take(manager)
	want := "Result of " + coder + " (success):\nwritten\n\nResult of " + tester + " (success):\ntests pass"
	if diff := cmp.Diff(want, m.Body); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if m.Type != protocol.Response || len(m.Messages) != 2 {
		t.Errorf("got %+v, want one delivery of two results", m)
	}
	o.answer(m, "all done\nMIDDLE MANAGER OK")
	o.wantState(root, protocol.TaskInProgress)
	o.answer(o.take(boss), "Finished.\n"+bossDone)
	o.wantState(root, protocol.TaskCompleted)
	tree := o.task(root)
	if tree.Progress != 100 || tree.Result != "Finished.\n"+bossDone || len(tree.Children[0].Children) != 2 {
		t.Errorf("got tree %+v, want it complete with the marker kept", tree)
	}
	if last := o.entries[len(o.entries)-2].Message; last.Closing == nil || last.Closing.LatencyMS != 2000 || last.Closing.Evidence != "channel" {
		t.Errorf("got closing %+v, want success after 2000 ms by the channel", last.Closing)
	}
	for _, e := range o.entries {
		if e.Step != nil && e.Step.Task != root {
			t.Errorf("got step %s of task %q, want %q", e.Step.Name, e.Step.Task, root)
		}
	}
	if got := o.l.Metrics(); got.MessagesReceived != got.MessagesSent {
		t.Errorf("got %d of %d messages received, want all", got.MessagesReceived, got.MessagesSent)
	}
	o.wantSound()
}

// An answer proves that the prompt was taken, also where nobody saw that.
func TestAnswerCountsAsReceived(t *testing.T) {
	t.Parallel()
	o := newOffice(t, company())
	o.ask(user, coder, "x")
	o.answer(o.claim(coder), "done")
	if got := o.l.Metrics(); got.MessagesSent != 2 || got.MessagesReceived != 2 {
		t.Errorf("got %d of %d messages received, want 2 of 2", got.MessagesReceived, got.MessagesSent)
	}
	o.wantSound()
}
