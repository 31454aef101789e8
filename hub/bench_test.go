package hub

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// BenchmarkSubmit measures how many messages a second the hub takes from many
// at once while nobody reads them.
func BenchmarkSubmit(b *testing.B) {
	r := newHouse(b).open()
	r.status("worker_one", protocol.Idle)
	r.order("worker_one", protocol.Pause, "")
	to, err := r.Party("worker_one")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 256)
	const writers, each = 64, 100
	for b.Loop() {
		var group sync.WaitGroup
		began := time.Now()
		for range writers {
			group.Go(func() {
				for range each {
					m := protocol.New(protocol.FromUser(), to, protocol.Info(text))
					if _, err := r.Submit(context.Background(), protocol.Accepted{Message: m}); err != nil {
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
