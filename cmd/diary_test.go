package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiaryKeepsTwoFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "diary.log")
	d, err := openDiary(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.limit = 100
	for range 50 {
		if _, err := d.Write([]byte("a line of twenty by\n")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 100 || strings.Count(string(data), "\n")*20 != len(data) {
			t.Errorf("%s: got %d bytes, want whole lines of at most 100", filepath.Base(name), len(data))
		}
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	if len(files) != 2 {
		t.Errorf("got %d files, want 2", len(files))
	}
}
