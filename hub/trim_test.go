package hub

import (
	"testing"
	"time"

	"orchestrator-cc/bus"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

func TestTrimDropsOnlyWhatIsOldAndInTheSnapshot(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	for _, tc := range []struct {
		name     string
		snapshot uint64
		wantMin  uint64 // the first entry that must still be there
		trimmed  bool
	}{
		{"old and in the snapshot", 200, 101, true},
		{"old, but not in the snapshot", 1, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stream, err := bus.Open(t.TempDir(), bus.Options{SegmentBytes: 512})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			for i := range 200 {
				at := now
				if i < 100 {
					at = now.Add(-40 * 24 * time.Hour)
				}
				e := protocol.Entry{Time: at, Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "started", PID: i}}
				if _, err := stream.Append(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			b := &book{stream: stream}
			if err := b.trim(tc.snapshot, now.Add(-keptFor)); err != nil {
				t.Fatal(err)
			}
			first := stream.First()
			if first > tc.wantMin || (first > 1) != tc.trimmed {
				t.Errorf("got first entry %d, want at most %d, trimmed %v", first, tc.wantMin, tc.trimmed)
			}
			b.ledger = ledger.New(ledger.Rules{})
			late := (&Hub{o: Options{Stream: stream}, book: b}).Follow(1, "").(*follower)
			if e, err := late.reader.Next(t.Context()); err != nil || e.Seq != max(first, 2) {
				t.Errorf("got entry %d, %v for a reader that was long away, want %d", e.Seq, err, max(first, 2))
			}
		})
	}
}
