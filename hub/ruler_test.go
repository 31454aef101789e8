package hub

import (
	"path/filepath"
	"testing"
	"time"

	"orchestrator-cc/bus"
	"orchestrator-cc/protocol"
)

func TestRulerSeesOnlyAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 2, 1, 10, 30, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		wall time.Duration // what the clock shows after the start
		run  time.Duration // what really passed
		want time.Duration
	}{
		{"as it should", time.Minute, time.Minute, 0},
		{"a time server takes a little back", time.Minute - 900*time.Millisecond, time.Minute, 0},
		{"an hour back", time.Minute - time.Hour, time.Minute, time.Hour},
		{"back by less than has passed", 30 * time.Second, time.Minute, 30 * time.Second},
		{"a day forward, or the machine slept", 24 * time.Hour, time.Minute, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := ruler{wall: start}
			if got := r.back(start.Add(tc.wall), tc.run); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := r.back(start.Add(tc.wall+time.Minute), tc.run+time.Minute); got != 0 {
				t.Errorf("asked again: got %s, want 0", got)
			}
		})
	}
}

// TestClockSetBackWhileNoHubRan leaves a message that would live an hour too
// long by the new clock.
func TestClockSetBackWhileNoHubRan(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.open()
	r.status("worker_one", protocol.Idle)
	r.order("worker_one", protocol.Pause, "")
	if err := r.stop(); err != nil {
		t.Log(err)
	}
	stream, err := bus.Open(filepath.Join(h.dir, "stream"), bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := r.Party("worker_one")
	if err != nil {
		t.Fatal(err)
	}
	m := protocol.New(protocol.FromUser(), to, protocol.TaskRequest("say too late")).WithTTL(3 * time.Second)
	then := time.Now().Add(time.Hour).UTC()
	m.Stamp(then)
	e := protocol.Entry{Time: then, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: m.ID()}}
	if _, err := stream.Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	r = h.open()
	if got := r.await(m.ID(), protocol.TaskFailed).Code; got != protocol.CodeExpired {
		t.Errorf("got %s, want %s", got, protocol.CodeExpired)
	}
}
