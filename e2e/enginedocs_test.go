package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The engine of one's own that the docs show is a whole one.
func TestEngineDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/ENGINES.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
		if found == nil {
			t.Fatalf("got no example in %s", language)
		}
		return string(found[1])
	}
	c := newProject(t, block("yaml"))
	for name, text := range map[string]string{"scribe.sh": block("sh"), "brief.txt": "Be kind.\nBe brief.\n"} {
		if err := os.WriteFile(filepath.Join(c.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.run("up")
	want := "My part: Be kind. Be brief.\nYou said: hello\nSCRIBE OK"
	if got := strings.TrimSpace(c.run("send", "scribe", "hello")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
