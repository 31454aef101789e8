package ledger

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// busyMonth makes the entries of a stream with n messages of 256 bytes, of
// which each third is a request, the others its ack and its answer, or with
// events instead of requests.
func busyMonth(t testing.TB, n int, p func() protocol.Payload) []protocol.Entry {
	t.Helper()
	o := newOffice(t, company())
	for messages := 0; messages < n; messages = o.l.Metrics().MessagesSent {
		o.now = o.now.Add(time.Second)
		o.send(user, coder, p())
		o.answer(o.take(coder), strings.Repeat("y", 240)+" CODING OK")
	}
	return o.entries
}

func request() protocol.Payload { return protocol.TaskRequest(strings.Repeat("x", 256)) }
func event() protocol.Payload   { return protocol.Info(strings.Repeat("x", 256)) }

// lines encodes entries as the stream keeps them, so that a replay pays for
// what decoding leaves in memory.
func lines(t testing.TB, entries []protocol.Entry) [][]byte {
	t.Helper()
	out := make([][]byte, len(entries))
	for i, e := range entries {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = data
	}
	return out
}

// replay decodes and applies, and returns the time spent in Apply alone.
func replay(t testing.TB, l *Ledger, lines [][]byte) time.Duration {
	t.Helper()
	var spent time.Duration
	for _, line := range lines {
		var e protocol.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		l.Apply(e)
		spent += time.Since(start)
	}
	return spent
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkReplay replays 100,000 messages of 256 bytes.
func BenchmarkReplay(b *testing.B) {
	for name, payload := range map[string]func() protocol.Payload{"requests": request, "events": event} {
		b.Run(name, func(b *testing.B) {
			stream := lines(b, busyMonth(b, 100_000, payload))
			for b.Loop() {
				before := inUse()
				start := time.Now()
				l := New(company())
				spent := replay(b, l, stream)
				whole := time.Since(start)
				b.ReportMetric(float64(inUse()-before)/(1<<20), "MB")
				b.ReportMetric(spent.Seconds(), "s-apply")
				b.ReportMetric(whole.Seconds(), "s-with-decoding")
				start = time.Now()
				data := snapshot(b, l)
				b.ReportMetric(time.Since(start).Seconds(), "s-snapshot")
				b.ReportMetric(float64(len(data))/(1<<20), "MB-snapshot")
				b.ReportMetric(float64(len(stream)), "entries")
				runtime.KeepAlive(l)
			}
		})
	}
}

// BenchmarkQueued measures a decision while 10,000 messages wait.
func BenchmarkQueued(b *testing.B) {
	o := newOffice(b, company())
	for i := range 10_000 {
		o.send(user, coder, protocol.Info(fmt.Sprint(i)), within(time.Hour))
	}
	for b.Loop() {
		if got := len(o.l.Next(o.now).Deliver); got != 1 {
			b.Fatalf("got %d deliveries, want 1", got)
		}
	}
}
