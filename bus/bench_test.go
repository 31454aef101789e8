package bus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// size256 is a message with 256 bytes of text.
func size256() protocol.Entry { return say(strings.Repeat("x", 256)) }

func percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[min(len(d)*p/100, len(d)-1)]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// BenchmarkAppend measures one writer against the plain write and fsync of the
// same bytes, turn by turn, so that both meet the same disk.
func BenchmarkAppend(b *testing.B) {
	l := open(b, b.TempDir(), Options{})
	raw, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	body, err := encode(size256())
	if err != nil {
		b.Fatal(err)
	}
	bytes := appendLine(nil, line{seq: 1, part: 1, of: 1, body: body})
	ctx := context.Background()
	var ours, plain []time.Duration
	for b.Loop() {
		e := size256()
		start := time.Now()
		if _, err := l.Append(ctx, e); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		if _, err := raw.Write(bytes); err != nil {
			b.Fatal(err)
		}
		if err := raw.Sync(); err != nil {
			b.Fatal(err)
		}
		plain = append(plain, time.Since(start))
	}
	b.ReportMetric(micros(percentile(ours, 50)), "p50-µs")
	b.ReportMetric(micros(percentile(ours, 99)), "p99-µs")
	b.ReportMetric(micros(percentile(plain, 50)), "raw-p50-µs")
	b.ReportMetric(micros(percentile(plain, 99)), "raw-p99-µs")
	b.ReportMetric(micros(percentile(ours, 50))/micros(percentile(plain, 50)), "p50-x-raw")
}

// BenchmarkAppendMany measures writers that share their fsyncs.
func BenchmarkAppendMany(b *testing.B) {
	for _, writers := range []int{4, 32} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			l := open(b, b.TempDir(), Options{})
			ctx := context.Background()
			took := make([][]time.Duration, writers)
			start := time.Now()
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for range b.N/writers + 1 {
						e, began := size256(), time.Now()
						if _, err := l.Append(ctx, e); err != nil {
							b.Error(err)
							return
						}
						took[w] = append(took[w], time.Since(began))
					}
				})
			}
			wg.Wait()
			every := slices.Concat(took...)
			b.ReportMetric(float64(len(every))/time.Since(start).Seconds(), "entries/s")
			b.ReportMetric(micros(percentile(every, 50)), "p50-µs")
			b.ReportMetric(micros(percentile(every, 99)), "p99-µs")
		})
	}
}

// BenchmarkReplay measures opening a stream of 100,000 messages and reading
// all of them.
func BenchmarkReplay(b *testing.B) {
	const n = 100_000
	dir := b.TempDir()
	l := open(b, dir, Options{})
	for range n / 100 {
		var batch []protocol.Entry
		for range 100 {
			batch = append(batch, size256())
		}
		if _, err := l.Append(context.Background(), batch...); err != nil {
			b.Fatal(err)
		}
	}
	closeLog(b, l)
	var opening, total time.Duration
	for b.Loop() {
		start := time.Now()
		l, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		opening += time.Since(start)
		r := l.Follow(context.Background(), 0)
		for i := range n {
			if e, err := r.Next(context.Background()); err != nil || e.Seq != uint64(i+1) {
				b.Fatalf("entry %d: got %d, %v", i+1, e.Seq, err)
			}
		}
		total += time.Since(start)
		closeLog(b, l)
	}
	b.ReportMetric(opening.Seconds()*1e3/float64(b.N), "open-ms")
	b.ReportMetric(total.Seconds()*1e3/float64(b.N), "replay-ms")
}
