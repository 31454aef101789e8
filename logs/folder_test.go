package logs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolderWeMadeIgnoresItself(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		there bool
		want  string
	}{
		{"made by us", false, "*\n"},
		{"there before", true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "logs")
			if tc.there {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open(filepath.Join(dir, "messages.jsonl"), Options{}); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(filepath.Join(dir, ".gitignore"))
			if string(got) != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
