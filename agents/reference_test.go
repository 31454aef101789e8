package agents_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/agents"
	"orchestrator-cc/agents/agentstest"
	"orchestrator-cc/protocol"
)

// reference is the plain method of the design documents: the screen is read
// every 500 ms, the marker anywhere on it ends the wait, and the answer is
// what stands before the first line with it, without prompt lines.
func reference(ctx context.Context, t terminal, marker string) (string, error) {
	const every = 500 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s, err := t.Capture(ctx, 100)
		if err != nil {
			return "", err
		}
		if strings.Contains(strings.Join(s.Lines, "\n"), marker) {
			return plainAnswer(s.Lines, marker), nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func plainAnswer(lines []string, marker string) string {
	var out []string
	for _, line := range lines {
		if strings.Contains(line, marker) {
			break
		}
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.ContainsAny(trimmed[:1], "$%#>") {
			out = append(out, line)
		}
	}
	return strings.Join(append(out, marker), "\n")
}

// tally is what a run of exchanges came to.
type tally struct {
	wrong, early int
	late         []time.Duration // from the end of the answer to its return
}

func (c *tally) add(r *rig, n int, got attempt) {
	answers, ends := r.entries("answer"), r.entries("end")
	if len(answers) <= n {
		c.early++
		c.wrong++
		return
	}
	// With a channel the answer may be here before its last line is drawn.
	end := answers[n].Time
	if got.answer.Evidence != agents.ByChannel && len(ends) > n {
		end = ends[n].Time
	}
	if got.answer.Text != answers[n].Text {
		c.wrong++
	}
	if got.done.Before(answers[n].Time) {
		c.early++
		return
	}
	c.late = append(c.late, max(0, got.done.Sub(end)))
}

func (c *tally) percentile(p float64) float64 {
	if len(c.late) == 0 {
		return 0
	}
	slices.Sort(c.late)
	at := min(len(c.late)-1, int(p*float64(len(c.late))))
	return float64(c.late[at].Microseconds()) / 1000
}

func (c *tally) report(b *testing.B) {
	b.ReportMetric(float64(c.wrong), "wrong")
	b.ReportMetric(float64(c.early), "early")
	b.ReportMetric(c.percentile(0.5), "p50-ms")
	b.ReportMetric(c.percentile(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// turnsOfAnyLength keep the ends of answers apart from the ticks of a poll.
func turnsOfAnyLength() (out [][]agentstest.Act) {
	for i := range 40 {
		out = append(out, []agentstest.Act{spin(time.Duration(100+i*37%300) * time.Millisecond), say(fmt.Sprintf("answer %d", i)), say("{token}")})
	}
	return out
}

// newMarkers end each turn with a marker that was never on the screen before.
func newMarkers() (out [][]agentstest.Act) {
	for i, turn := range turnsOfAnyLength() {
		out = append(out, append(turn[:2], say(fmt.Sprintf("MARKER %d.", i))))
	}
	return out
}

// BenchmarkExchange measures, for each witness, how many answers are wrong or
// early and how long after its end an answer is returned, and beside it the
// same for the plain method on the same program.
func BenchmarkExchange(b *testing.B) {
	for _, c := range []struct {
		name string
		setup
	}{
		{"channel", setup{channel: true}},
		{"token", setup{}},
		{"marker", setup{script: agentstest.Script{IgnoreID: true}}},
	} {
		c.setup.script.Kind, c.setup.script.Turns = agentstest.Inline, turnsOfAnyLength()
		b.Run(c.name+"/ours", func(b *testing.B) {
			r := newRig(b, c.setup)
			var sum tally
			for n := 0; b.Loop(); n++ {
				got := r.send(agents.Request{ID: fmt.Sprintf("b%05d", n), Body: "hello"})
				if got.err != nil {
					b.Fatal(got.err)
				}
				sum.add(r, n, got)
			}
			sum.report(b)
		})
		b.Run(c.name+"/reference", func(b *testing.B) {
			r := newRig(b, c.setup)
			r.waitState(protocol.Idle, "")
			r.stop()
			pane := terminal{r.server.Pane(r.info)}
			var sum tally
			for n := 0; b.Loop(); n++ {
				sum.add(r, n, r.plainly(b, pane, n, testMarker))
				r.waitLog("end", n+1)
			}
			sum.report(b)
		})
	}
	// The plain method at its best shows what the poll alone costs.
	b.Run("new markers/reference", func(b *testing.B) {
		r := newRig(b, setup{script: agentstest.Script{Kind: agentstest.Inline, Turns: newMarkers()}})
		r.waitState(protocol.Idle, "")
		r.stop()
		pane := terminal{r.server.Pane(r.info)}
		var sum tally
		for n := 0; b.Loop(); n++ {
			got := r.plainly(b, pane, n, fmt.Sprintf("MARKER %d.", min(n, len(newMarkers())-1)))
			r.waitLog("end", n+1)
			sum.late = append(sum.late, max(0, got.done.Sub(r.entries("end")[n].Time)))
		}
		b.ReportMetric(sum.percentile(0.5), "p50-ms")
		b.ReportMetric(sum.percentile(0.99), "p99-ms")
		b.ReportMetric(0, "ns/op")
	})
}

// plainly makes one exchange by the plain method.
func (r *rig) plainly(b *testing.B, pane terminal, n int, marker string) (got attempt) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if err := pane.Paste(ctx, agents.Screen{}, "", fmt.Appendf(nil, "req-b%05d from user hello", n)); err != nil {
		b.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond) // the program takes in the paste
	if err := pane.Press(ctx, "Enter"); err != nil {
		b.Fatal(err)
	}
	got.answer.Text, got.err = reference(ctx, pane, marker)
	got.done = time.Now()
	return got
}
