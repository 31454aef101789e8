package hub

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// closedDoor is a hub whose agent takes nothing, and a message for it.
func closedDoor(b *testing.B) (*resident, func() protocol.Accepted) {
	b.Helper()
	r := newHouse(b).open()
	r.status("worker_one", protocol.Idle)
	r.order("worker_one", protocol.Pause, "")
	to, err := r.Party("worker_one")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 256)
	return r, func() protocol.Accepted {
		return protocol.Accepted{Message: protocol.New(protocol.FromUser(), to, protocol.Info(text))}
	}
}

// BenchmarkSubmitAlone measures one sender, from its call until the message is
// on disk and known to the ledger, against the plain write and fsync of as many
// bytes, turn by turn, so that both meet the same disk.
func BenchmarkSubmitAlone(b *testing.B) {
	r, message := closedDoor(b)
	raw, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	const samples = 500
	for b.Loop() {
		var ours, plain []time.Duration
		for range samples {
			began := time.Now()
			e, err := r.Submit(context.Background(), message())
			ours = append(ours, time.Since(began))
			if err != nil {
				b.Fatal(err)
			}
			line, err := json.Marshal(e)
			if err != nil {
				b.Fatal(err)
			}
			began = time.Now()
			if _, err := raw.Write(line); err != nil {
				b.Fatal(err)
			}
			if err := raw.Sync(); err != nil {
				b.Fatal(err)
			}
			plain = append(plain, time.Since(began))
		}
		slices.Sort(ours)
		slices.Sort(plain)
		micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
		b.ReportMetric(micros(ours[samples/2]), "p50-µs")
		b.ReportMetric(micros(ours[samples*99/100]), "p99-µs")
		b.ReportMetric(micros(plain[samples/2]), "raw-p50-µs")
		b.ReportMetric(float64(ours[samples/2])/float64(plain[samples/2]), "p50-x-raw")
	}
}

// BenchmarkSubmit measures how many messages a second the hub takes from many
// at once while nobody reads them.
func BenchmarkSubmit(b *testing.B) {
	r, message := closedDoor(b)
	const writers, each = 64, 100
	for b.Loop() {
		var group sync.WaitGroup
		began := time.Now()
		for range writers {
			group.Go(func() {
				for range each {
					if _, err := r.Submit(context.Background(), message()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		b.ReportMetric(writers*each/time.Since(began).Seconds(), "messages/s")
	}
}
