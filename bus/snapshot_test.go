package bus

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSnapshots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{})
	if _, _, ok := l.Snapshot(); ok {
		t.Error("got a snapshot, want none")
	}
	add(t, l, "a", "b")
	if err := l.SaveSnapshot(3, nil); err == nil {
		t.Error("a snapshot of the future was taken")
	}
	for seq, data := range []string{"", "one", "two\nlines"} {
		if err := l.SaveSnapshot(uint64(seq), []byte(data)); err != nil {
			t.Fatal(err)
		}
		got, body, ok := l.Snapshot()
		want(t, "snapshot", fmt.Sprint(got, string(body), ok), fmt.Sprint(seq, data, true))
	}
	path := filepath.Join(dir, snapshotName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 1
		if seq, _, found := readSnapshotBytes(t, bad); seq != 0 || found != 1 {
			t.Fatalf("byte %d flipped: got seq %d with %d findings", i, seq, found)
		}
		if seq, _, found := readSnapshotBytes(t, good[:i]); seq != 0 || found != 1 {
			t.Fatalf("cut at %d: got seq %d with %d findings", i, seq, found)
		}
	}
	if err := os.WriteFile(path, good[:len(good)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := l.Snapshot(); ok || len(l.Damage()) != 1 {
		t.Errorf("damaged: got ok %v, damage %v", ok, l.Damage())
	}
}

func readSnapshotBytes(t *testing.T, b []byte) (uint64, []byte, int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, snapshotName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	seq, data, found := readSnapshot(dir)
	return seq, data, len(found)
}
