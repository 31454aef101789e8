package bus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckLooksWithoutTouching(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Check(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want not exist", err)
	}
	l := open(t, dir, Options{SegmentBytes: 1})
	add(t, l, "a", "b")
	add(t, l, strings.Repeat("x", inlineLimit))
	if err := l.SaveSnapshot(2, []byte("s")); err != nil {
		t.Fatal(err)
	}
	r, err := Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "held", r, Report{First: 1, Last: 3, Entries: 3, Segments: 2, Bytes: r.Bytes, Large: 1, Snapshot: 2, Holder: os.Getpid()})
	closeLog(t, l)
	names, err := filepath.Glob(filepath.Join(dir, blobFolder, "*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := os.WriteFile(names[0], []byte("rotten"), 0o600); err != nil {
		t.Fatal(err)
	}
	appendBytes(t, l.segments[1].path, "half a li")
	r, err = Check(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Holder != 0 || r.Unfinished != 9 || len(r.Damage) != 1 {
		t.Errorf("got %+v, want no holder, 9 unfinished bytes, one damage", r)
	}
	l = open(t, dir, Options{})
	want(t, "texts", texts(all(t, l, 0)), []string{"1 a", "2 b"})
	want(t, "damage", len(l.Damage()), 1)
}

func appendBytes(t testing.TB, path, s string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
