package cmd

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

func TestProgressShowsWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := voice{w: &out, terminal: true, width: func() int { return 60 }}
	p := newProgress(v, func() time.Time { return time.Time{} }, func(context.Context) string { return "" })
	p.entry(protocol.Entry{Step: &protocol.Step{Name: protocol.Taken, Agent: "grand_boss"}})
	p.part(protocol.Part{Agent: "grand_boss", Text: "一行目\n二\x1b[2J行"})
	p.part(protocol.Part{Agent: "grand_boss", Offset: 5, Text: "つ目"})
	frames := strings.Split(out.String(), "\r\x1b[K")
	if last := frames[len(frames)-1]; last != "grand_boss is at work … 0.0s │ 二つ目" {
		t.Errorf("got %q, want the last line of what is being written", last)
	}
	p.entry(protocol.Entry{Step: &protocol.Step{Name: protocol.Answered, Agent: "grand_boss"}})
	frames = strings.Split(out.String(), "\r\x1b[K")
	if last := frames[len(frames)-1]; strings.Contains(last, "二つ目") {
		t.Errorf("got %q after the end, want nothing of the answer", last)
	}
}

// Each message that moves the work is a line above the one that is redrawn:
// who asked whom, what an agent tells of it meanwhile, and how it ended.
func TestProgressShowsTheHops(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := voice{w: &out, terminal: true, width: func() int { return 60 }}
	p := newProgress(v, func() time.Time { return time.Time{} }, func(context.Context) string { return "" })
	boss, tester := protocol.Identifier{AgentID: "grand_boss"}, protocol.Identifier{AgentID: "testing_specialist"}
	for _, m := range []protocol.Accepted{
		{Message: protocol.New(boss, tester, protocol.TaskRequest("try it"))},
		{Message: protocol.New(tester, boss, protocol.Info("half of it\nis tried"))},
		{Message: protocol.New(tester, boss, protocol.Answer(protocol.Success, "it works")), Closing: &protocol.Closing{Status: protocol.Success, LatencyMS: 1500}},
	} {
		p.entry(protocol.Entry{Message: &m})
	}
	p.end()
	for _, want := range []string{
		"grand_boss → testing_specialist: try it\n",
		"testing_specialist: half of it …\n",
		"testing_specialist → grand_boss: success after 1.5s\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want %q in it", out.String(), want)
		}
	}
}
