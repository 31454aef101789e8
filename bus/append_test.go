package bus

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestAppendersShareAnFsync holds the first fsync until others wait: nothing
// is visible before it returns, and the others need one more between them.
func TestAppendersShareAnFsync(t *testing.T) {
	t.Parallel()
	var armed atomic.Bool
	var syncs atomic.Int64
	entered, release := make(chan struct{}), make(chan struct{})
	l := open(t, t.TempDir(), Options{sync: func(f *os.File) error {
		if armed.Load() && syncs.Add(1) == 1 {
			close(entered)
			<-release
		}
		return f.Sync()
	}})
	armed.Store(true)
	var wg sync.WaitGroup
	write := func() {
		if _, err := l.Append(bounded(t), say("x")); err != nil {
			t.Error(err)
		}
	}
	wg.Go(write)
	<-entered
	if _, err := l.Read(1); !errors.Is(err, ErrNotFound) || l.Last() != 0 {
		t.Errorf("before the fsync: got last %d and %v, want nothing visible", l.Last(), err)
	}
	const others = 10
	for range others {
		wg.Go(write)
	}
	ctx := bounded(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for waiting := 0; waiting < others; {
		l.mu.Lock()
		waiting = len(l.waiting)
		l.mu.Unlock()
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the others never waited")
		}
	}
	close(release)
	wg.Wait()
	want(t, "fsyncs", syncs.Load(), int64(2))
	want(t, "entries", len(all(t, l, 0)), others+1)
}
