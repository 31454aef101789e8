package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// say makes an entry that carries text.
func say(text string) protocol.Entry {
	m := protocol.New(protocol.FromUser(), protocol.Party("grand_boss", protocol.GrandBoss), protocol.TaskRequest(text))
	now := time.Date(2026, 2, 1, 10, 30, 0, 123456000, time.UTC)
	m.Stamp(now)
	return protocol.Entry{Time: now, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: m.ID()}}
}

func text(e protocol.Entry) string {
	if e.Message == nil {
		return ""
	}
	return e.Message.Message.Text()
}

func open(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeLog(t, l) })
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func add(t testing.TB, l *Log, texts ...string) uint64 {
	t.Helper()
	var batch []protocol.Entry
	for _, s := range texts {
		batch = append(batch, say(s))
	}
	last, err := l.Append(bounded(t), batch...)
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// all reads everything durable after a sequence number, and stops where a
// reader would wait: a damaged batch at the end means that Last never comes.
func all(t testing.TB, l *Log, after uint64) []protocol.Entry {
	t.Helper()
	ctx := bounded(t)
	var out []protocol.Entry
	r := l.Follow(ctx, after)
	for {
		for len(r.ready) == 0 {
			w, _, err := l.window(r.next, r.at)
			if err != nil {
				t.Fatal(err)
			}
			if w.end <= w.at.off {
				return out
			}
			if err := r.fill(w); err != nil {
				t.Fatal(err)
			}
		}
		e, err := r.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
}

func texts(entries []protocol.Entry) []string {
	out := []string{}
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%d %s", e.Seq, text(e)))
	}
	return out
}

func want(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestEntriesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	retries := 2
	about := protocol.New(protocol.FromHub(), protocol.FromUser(), protocol.Answer(protocol.Success, "a<b & c\n\"d\" \u2028 日本")).About(protocol.NewID()).WithPriority(protocol.High).WithTTL(time.Minute)
	about.Metadata.RetryCount = &retries
	now := time.Date(2026, 2, 1, 10, 30, 0, 123456789, time.UTC)
	entries := []protocol.Entry{
		say("plain"),
		{Time: now, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: about, Parent: "p", Session: "s", Collected: true, Closing: &protocol.Closing{Status: protocol.Success, LatencyMS: 7, Evidence: "channel"}}},
		{Time: now, Kind: protocol.KindStep, Step: &protocol.Step{Name: protocol.Typed, Agent: "a", Messages: []string{"m"}, Attempt: 1, Req: "r", Text: `"type":"nack"`}},
		{Time: now, Kind: protocol.KindAgent, Agent: &protocol.AgentChange{Name: "a", State: protocol.Busy, PID: 4}},
		{Time: now, Kind: protocol.KindHub, Hub: &protocol.HubChange{Event: "started", PID: 1, Version: "v"}},
	}
	for _, p := range []protocol.Payload{
		&protocol.EventPayload{EventType: "x", Data: []byte(`{"a":[1,2]}`)},
		&protocol.ErrorPayload{ErrorCode: "E", ErrorType: protocol.ErrTimeout, Message: "m", Recoverable: true},
		&protocol.EventPayload{EventType: `"type":"error"`, Data: []byte(`{"type":"control"}`)},
		&protocol.HeartbeatPayload{State: "idle"},
		&protocol.ControlPayload{Command: protocol.Pause},
		&protocol.AckPayload{ReceivedAt: "2026-02-01T10:30:00Z"},
		&protocol.NackPayload{ReceivedAt: "2026-02-01T10:30:00Z", NackReason: "no"},
	} {
		m := protocol.New(protocol.FromHub(), protocol.FromUser(), p)
		m.Stamp(now)
		entries = append(entries, protocol.Entry{Time: now, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m}})
	}
	dir := t.TempDir()
	l := open(t, dir, Options{})
	for i := range entries {
		last, err := l.Append(bounded(t), entries[i])
		if err != nil || last != uint64(i+1) {
			t.Fatalf("append %d: got %d, %v", i+1, last, err)
		}
		entries[i].Seq = last
	}
	want(t, "followed", all(t, l, 0), entries)
	closeLog(t, l)
	l = open(t, dir, Options{})
	want(t, "after reopening", all(t, l, 0), entries)
	for _, e := range entries {
		got, err := l.Read(e.Seq)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "read", got, e)
	}
	want(t, "damage", len(l.Damage()), 0)
}

func TestSegmentsReadTrimAndIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 200 << 10})
	const n = 2000 // about 6 segments with several marks each
	var expect []string
	for i := 1; i <= n; i++ {
		s := fmt.Sprint("entry ", i)
		add(t, l, s)
		expect = append(expect, fmt.Sprintf("%d %s", i, s))
	}
	late := l.Follow(bounded(t), 0)
	if e, err := late.Next(bounded(t)); err != nil || e.Seq != 1 {
		t.Fatalf("got %d, %v, want 1", e.Seq, err)
	}
	check := func(l *Log, from int) {
		t.Helper()
		want(t, "all", texts(all(t, l, 0)), expect[from-1:])
		for _, after := range []int{from, from + 200, 1777, n - 1} {
			want(t, "tail", texts(all(t, l, uint64(after))), expect[after:])
		}
		for i := from; i <= n; i += 97 {
			e, err := l.Read(uint64(i))
			if err != nil || e.Seq != uint64(i) || text(e) != fmt.Sprint("entry ", i) {
				t.Errorf("read %d: got %d %q, %v", i, e.Seq, text(e), err)
			}
		}
	}
	check(l, 1)
	if err := l.Trim(1500); err != nil {
		t.Fatal(err)
	}
	first := int(l.First())
	if first <= 1 || first > 1500 {
		t.Fatalf("first: got %d, want within 2..1500", first)
	}
	check(l, first)
	if _, err := l.Read(uint64(first - 1)); !errors.Is(err, ErrNotFound) {
		t.Errorf("read trimmed: got %v, want ErrNotFound", err)
	}
	if _, err := l.Read(n + 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("read beyond: got %v, want ErrNotFound", err)
	}
	if _, err := l.Follow(bounded(t), 3).Next(bounded(t)); !errors.Is(err, ErrTrimmed) {
		t.Errorf("follow trimmed: got %v, want ErrTrimmed", err)
	}
	var err error
	for err == nil { // what it has read ahead is still its own
		_, err = late.Next(bounded(t))
	}
	if !errors.Is(err, ErrTrimmed) {
		t.Errorf("late reader: got %v, want ErrTrimmed", err)
	}
	closeLog(t, l)
	l = open(t, dir, Options{SegmentBytes: 200 << 10})
	check(l, first)
	want(t, "damage", l.Damage(), []string(nil))
	if got := add(t, l, "more"); got != n+1 {
		t.Errorf("append after reopening: got %d, want %d", got, n+1)
	}
}

func TestTrimKeepsTheNumbersOfAnEmptyStream(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 1})
	for range 5 {
		add(t, l, "x")
	}
	if err := l.Trim(100); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	l = open(t, dir, Options{SegmentBytes: 1})
	want(t, "first", l.First(), uint64(5))
	want(t, "next", add(t, l, "y"), uint64(6))
}

func TestLargeContentIsKeptBesideTheSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 1})
	big := strings.Repeat("大きい\n", 100_000)
	add(t, l, "before", big, "after")
	add(t, l, "last")
	want(t, "texts", texts(all(t, l, 0)), []string{"1 before", "2 " + big, "3 after", "4 last"})
	if size := l.segments[0].size; size > 4096 {
		t.Errorf("segment: got %d bytes, want the large entry elsewhere", size)
	}
	if e, err := l.Read(2); err != nil || text(e) != big {
		t.Errorf("read: got %d bytes, %v", len(text(e)), err)
	}
	orphan := filepath.Join(dir, blobFolder, strings.Repeat("ab", 32))
	if err := os.WriteFile(orphan, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	l = open(t, dir, Options{SegmentBytes: 1})
	want(t, "reopened", len(all(t, l, 0)), 4)
	want(t, "blobs", blobCount(t, dir), 1)
	if err := l.Trim(4); err != nil {
		t.Fatal(err)
	}
	want(t, "blobs after trim", blobCount(t, dir), 0)
}

func blobCount(t testing.TB, dir string) int {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, blobFolder))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestManyWritersAndReaders(t *testing.T) {
	t.Parallel()
	const writers, each, readers = 16, 60, 4
	l := open(t, t.TempDir(), Options{SegmentBytes: 64 << 10})
	ctx := bounded(t)
	var wg sync.WaitGroup
	got := make([][]protocol.Entry, readers)
	for r := range readers {
		wg.Go(func() {
			reader := l.Follow(ctx, 0)
			for range writers * each * 3 / 2 {
				e, err := reader.Next(ctx)
				if err != nil {
					t.Errorf("reader %d: %v", r, err)
					return
				}
				got[r] = append(got[r], e)
			}
		})
	}
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				batch := []protocol.Entry{say(fmt.Sprint(w, " ", i, " a"))}
				if i%2 == 1 {
					batch = append(batch, say(fmt.Sprint(w, " ", i, " b")))
				}
				last, err := l.Append(ctx, batch...)
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				if e, err := l.Read(last); err != nil || text(e) != text(batch[len(batch)-1]) {
					t.Errorf("read own %d: got %q, %v", last, text(e), err)
				}
			}
		})
	}
	wg.Wait()
	perWriter := map[string]int{}
	for i, e := range got[0] {
		if e.Seq != uint64(i+1) {
			t.Fatalf("entry %d: got seq %d", i+1, e.Seq)
		}
		f := strings.Fields(text(e))
		if f[2] == "a" {
			want(t, "order of writer "+f[0], f[1], fmt.Sprint(perWriter[f[0]]))
			perWriter[f[0]]++
		} else if prev := strings.Fields(text(got[0][i-1])); prev[0] != f[0] || prev[1] != f[1] {
			t.Errorf("batch torn apart: %v after %v", f, prev)
		}
	}
	for r := 1; r < readers; r++ {
		want(t, "readers agree", texts(got[r]), texts(got[0]))
	}
}

func TestFollowWaitsAndEnds(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), Options{})
	life, end := context.WithCancel(bounded(t))
	r := l.Follow(life, 0)
	type result struct {
		e   protocol.Entry
		err error
	}
	results := make(chan result)
	next := func(ctx context.Context, r *Reader) {
		e, err := r.Next(ctx)
		results <- result{e, err}
	}
	go next(bounded(t), r)
	add(t, l, "hello")
	if got := <-results; got.err != nil || text(got.e) != "hello" {
		t.Errorf("got %v, want hello", got)
	}
	stopped, stop := context.WithCancel(bounded(t))
	go next(stopped, r)
	stop()
	if got := <-results; !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %v, want canceled", got.err)
	}
	go next(bounded(t), r)
	end()
	if got := <-results; !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %v, want canceled", got.err)
	}
	r = l.Follow(bounded(t), l.Last())
	go next(bounded(t), r)
	closeLog(t, l)
	if got := <-results; !errors.Is(got.err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", got.err)
	}
	if _, err := l.Append(bounded(t), say("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("append: got %v, want ErrClosed", err)
	}
	closeLog(t, l)
}

func TestAppendHonoursItsContext(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), Options{})
	ctx, cancel := context.WithCancel(bounded(t))
	l.disk <- struct{}{} // somebody else is at the disk
	result := make(chan error)
	go func() {
		_, err := l.Append(ctx, say("never"))
		result <- err
	}()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	<-l.disk
	add(t, l, "next")
	want(t, "texts", texts(all(t, l, 0)), []string{"1 next"})
	if _, err := l.Append(ctx, say("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if last, err := l.Append(bounded(t)); err != nil || last != 1 {
		t.Errorf("empty batch: got %d, %v, want 1", last, err)
	}
	bad := say("x")
	bad.Message.Message.Payload = &protocol.RequestPayload{Action: "a", Params: []byte("{broken")}
	if _, err := l.Append(bounded(t), say("half"), bad); err == nil || errors.Is(err, ErrStorage) {
		t.Errorf("bad entry: got %v, want an encoding error", err)
	}
	want(t, "last", l.Last(), uint64(1))
}
