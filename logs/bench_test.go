package logs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func percentile(d []time.Duration, p int) float64 {
	slices.Sort(d)
	return float64(d[min(len(d)*p/100, len(d)-1)].Nanoseconds()) / 1e6
}

// BenchmarkLineVisible measures from the call of Append to the moment another
// reader of the file sees the whole line.
func BenchmarkLineVisible(b *testing.B) {
	dir := b.TempDir()
	l := stream(b, dir)
	path := filepath.Join(dir, "messages.jsonl")
	_, stop := follow(b, l, path, Options{})
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	text := strings.Repeat("x", 256)
	buf := make([]byte, 64<<10)
	var took []time.Duration
	for b.Loop() {
		e := say(text)
		start := time.Now()
		if _, err := l.Append(context.Background(), e); err != nil {
			b.Fatal(err)
		}
		for seen := false; !seen; {
			n, _ := f.Read(buf)
			seen = n > 0 && buf[n-1] == '\n'
			if time.Since(start) > patience {
				b.Fatal("the line never came")
			}
		}
		took = append(took, time.Since(start))
	}
	stop()
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(percentile(took, 99), "p99-ms")
}

// BenchmarkFollow measures from the call of Append to Follow handing the line
// over, as log -f shows it.
func BenchmarkFollow(b *testing.B) {
	dir := b.TempDir()
	l := stream(b, dir)
	path := filepath.Join(dir, "messages.jsonl")
	_, stop := follow(b, l, path, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	seen, done := make(chan uint64, 1), make(chan error, 1)
	go func() {
		done <- Follow(ctx, path, func(l Line) error {
			seen <- l.Seq
			return nil
		}, FollowOptions{})
	}()
	text := strings.Repeat("x", 256)
	var took []time.Duration
	for b.Loop() {
		e := say(text)
		start := time.Now()
		if _, err := l.Append(ctx, e); err != nil {
			b.Fatal(err)
		}
		<-seen
		took = append(took, time.Since(start))
	}
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
	stop()
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(percentile(took, 99), "p99-ms")
}
