package logs

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/bus"
	"orchestrator-cc/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// patience bounds every wait of these tests.
const patience = 20 * time.Second

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

var noon = time.Date(2026, 2, 1, 10, 30, 0, 123456789, time.UTC)

// say makes the entry of a message with text.
func say(text string) protocol.Entry {
	m := protocol.New(protocol.FromUser(), protocol.Party("grand_boss", protocol.GrandBoss), protocol.TaskRequest(text))
	m.Stamp(noon)
	return protocol.Entry{Time: noon, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: m.ID()}}
}

// quiet is an entry the journal leaves out.
func quiet() protocol.Entry {
	return protocol.Entry{Time: noon, Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "started"}}
}

// stream opens a real stream.
func stream(t testing.TB, dir string) *bus.Log {
	t.Helper()
	l, err := bus.Open(dir, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func add(t testing.TB, l *bus.Log, entries ...protocol.Entry) {
	t.Helper()
	if _, err := l.Append(bounded(t), entries...); err != nil {
		t.Fatal(err)
	}
}

// expected is what the journal of a stream must hold, byte for byte.
func expected(t testing.TB, l *bus.Log) []byte {
	t.Helper()
	var out []byte
	r := l.Follow(bounded(t), 0)
	for seq := uint64(0); seq < l.Last(); {
		e, err := r.Next(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		seq = e.Seq
		if line, ok := LineOf(e); ok {
			text, err := line.encode()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text...)
		}
	}
	return out
}

// follow opens the journal and writes it beside the test; the returned
// function stops it.
func follow(t testing.TB, l *bus.Log, path string, o Options) (*Journal, func()) {
	t.Helper()
	j, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bounded(t))
	done := make(chan error, 1)
	go func() { done <- j.Run(ctx, l.Follow(ctx, j.LastSeq())) }()
	stopped := false
	stop := func() {
		cancel()
		if !stopped {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		stopped = true
	}
	t.Cleanup(stop)
	return j, stop
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx := bounded(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v", what, patience)
		case <-tick.C:
		}
	}
}

// catchUp runs the journal until it has the last line of whole.
func catchUp(t testing.TB, l *bus.Log, path string, whole []byte) {
	t.Helper()
	last := seqOf(t, whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:])
	j, stop := follow(t, l, path, Options{})
	eventually(t, "journal catches up", func() bool { return j.LastSeq() == last })
	stop()
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// lines of the journal and its moved files, which must all be readable.
func lines(t testing.TB, path string) []uint64 {
	t.Helper()
	var out []uint64
	for l, err := range Read(path, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l.Seq)
	}
	return out
}

func upTo(n int) []uint64 {
	var out []uint64
	for i := range n {
		out = append(out, uint64(i+1))
	}
	return out
}

// TestGolden shows the format; -update rewrites it.
func TestGolden(t *testing.T) {
	t.Parallel()
	boss, manager := protocol.Party("grand_boss", protocol.GrandBoss), protocol.Party("middle_manager", protocol.MiddleManager)
	const request, answer = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	entry := func(id string, m protocol.Message, closing *protocol.Closing) protocol.Entry {
		m.Header.MessageID = id
		m.Stamp(noon)
		return protocol.Entry{Time: noon.In(time.FixedZone("JST", 9*3600)), Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: request, Closing: closing}}
	}
	entries := []protocol.Entry{
		entry(request, protocol.New(boss, manager, protocol.TaskRequest("Fix <b> & \"c\"\n日本語\u2028\x00")), nil),
		quiet(),
		entry(answer, protocol.New(manager, boss, protocol.Answer(protocol.Success, "MIDDLE MANAGER OK\ndone")).About(request), &protocol.Closing{Status: protocol.Success, LatencyMS: 60222, Evidence: "channel"}),
		entry(answer, protocol.New(protocol.FromHub(), boss, &protocol.ErrorPayload{ErrorCode: "E_TIMEOUT", ErrorType: protocol.ErrTimeout, Message: "no answer within 30s"}).About(request), &protocol.Closing{Status: protocol.Failed, LatencyMS: 30000, RetryCount: 3, Code: protocol.CodeTimeout, Truncated: true}),
		entry(answer, protocol.New(protocol.FromHub(), manager, &protocol.ErrorPayload{ErrorCode: "E_MENTION", ErrorType: protocol.ErrValidation, Message: "no such agent"}), nil),
		entry(answer, protocol.New(protocol.FromUser(), boss, protocol.Info("for your information")).WithPriority(protocol.High), nil),
		entry(answer, protocol.New(boss, manager, &protocol.HeartbeatPayload{State: "idle"}), nil),
		entry(answer, protocol.New(boss, manager, &protocol.ControlPayload{Command: protocol.Pause}).WithPriority(protocol.Critical), nil),
		entry(answer, protocol.New(manager, boss, &protocol.AckPayload{ReceivedAt: "2026-02-01T10:30:00Z"}).About(request), nil),
		entry(answer, protocol.New(manager, boss, &protocol.NackPayload{ReceivedAt: "2026-02-01T10:30:00Z", NackReason: "busy"}).About(request), nil),
	}
	dir := t.TempDir()
	l := stream(t, dir)
	add(t, l, entries...)
	path := filepath.Join(dir, "logs", "messages.jsonl")
	catchUp(t, l, path, expected(t, l))
	golden := filepath.Join("testdata", "messages.jsonl")
	if *update {
		if err := os.WriteFile(golden, read(t, path), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "journal", read(t, path), read(t, golden))
}

func TestTornAtEveryByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	add(t, l, say("one"), quiet(), say("two"), quiet())
	whole := expected(t, l)
	path := filepath.Join(dir, "messages.jsonl")
	for cut := bytes.IndexByte(whole, '\n') - 2; cut <= len(whole); cut++ {
		for _, rubbish := range []string{"", "\x00\x00\x00"} {
			if err := os.WriteFile(path, append(slices.Clone(whole[:cut]), rubbish...), 0o600); err != nil {
				t.Fatal(err)
			}
			catchUp(t, l, path, whole)
			if got := read(t, path); !bytes.Equal(got, whole) {
				t.Fatalf("cut at %d with %q behind: got %q", cut, rubbish, got)
			}
		}
	}
}

// TestPowerCutSpoilsTheEnd puts pages of zeros into what was never synced.
func TestPowerCutSpoilsTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	for i := range 30 {
		add(t, l, say(strings.Repeat(fmt.Sprint(i), 20_000/len(fmt.Sprint(i)))))
	}
	whole := expected(t, l)
	path := filepath.Join(dir, "messages.jsonl")
	for _, back := range []int{1, 4096, 100_000, 200_000, doubtful} {
		spoiled := slices.Clone(whole)
		clear(spoiled[len(spoiled)-back:][:min(back, 4096)])
		if err := os.WriteFile(path, spoiled, 0o600); err != nil {
			t.Fatal(err)
		}
		catchUp(t, l, path, whole)
		same(t, fmt.Sprint("spoiled ", back), read(t, path), whole)
	}
}

func TestForeignLinesAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	add(t, l, say("one"))
	path := filepath.Join(dir, "messages.jsonl")
	foreign := strings.Repeat(`{"timestamp":"2024-01-01T00:00:00Z","content":"of another program"}`+"\n", 10_000)
	if err := os.WriteFile(path, []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	catchUp(t, l, path, expected(t, l))
	same(t, "journal", read(t, path), append([]byte(foreign), expected(t, l)...))
}

func TestStreamBegunAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "messages.jsonl")
	old := stream(t, filepath.Join(dir, "old"))
	add(t, old, say("one"), say("two"))
	catchUp(t, old, path, expected(t, old))
	fresh := stream(t, filepath.Join(dir, "new"))
	add(t, fresh, say("other"))
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := j.LastSeq(); got != 2 {
		t.Fatalf("last: got %d, want 2", got)
	}
	j.Rewind(0)
	ctx, cancel := context.WithCancel(bounded(t))
	done := make(chan error, 1)
	go func() { done <- j.Run(ctx, fresh.Follow(ctx, j.LastSeq())) }()
	whole := append(expected(t, old), expected(t, fresh)...)
	eventually(t, "new line", func() bool { return bytes.Equal(read(t, path), whole) })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunEndsWithItsSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	j, err := Open(filepath.Join(dir, "messages.jsonl"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Run(bounded(t), l.Follow(bounded(t), 0)); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("got %v, want the source's error", err)
	}
}

func TestRotationBySize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := stream(t, dir)
	path := filepath.Join(dir, "messages.jsonl")
	o := Options{MaxBytes: 4000, Keep: 50}
	const n = 60
	for half := range 2 { // a restart in between
		j, stop := follow(t, l, path, o)
		for range n / 2 {
			add(t, l, say("line"))
		}
		eventually(t, "journal", func() bool { return j.LastSeq() == uint64(n/2*(half+1)) })
		stop()
	}
	if diff := cmp.Diff(upTo(n), lines(t, path)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := len(older(path)); got < 3 {
		t.Errorf("moved files: got %d, want several", got)
	}
	for _, name := range append(older(path), path) {
		if size := len(read(t, name)); size > 4000 {
			t.Errorf("%s: got %d bytes, want at most 4000", name, size)
		}
	}
	// Moved by somebody while no journal was running, and not begun again.
	if err := os.Rename(path, moved(path, 1)); err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, o)
	if err != nil || j.LastSeq() != n {
		t.Errorf("last after moving: got %d, %v, want %d", j.LastSeq(), err, n)
	}
	j.pen.close()
}

// older lists the moved files of a journal.
func older(path string) []string {
	names, _ := filepath.Glob(path + ".*")
	return names
}
