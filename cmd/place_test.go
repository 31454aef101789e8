package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func noEnv(string) string { return "" }

func environment(pairs ...string) func(string) string {
	set := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		set[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return set[name] }
}

func tempPlace(t *testing.T) place {
	t.Helper()
	p, err := newPlace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFindPlace(t *testing.T) {
	t.Parallel()
	root := tempPlace(t)
	if err := root.makeState(); err != nil {
		t.Fatal(err)
	}
	if err := root.writeHubCard(hubCard{PID: 1}); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root.root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	elsewhere := tempPlace(t)
	link := filepath.Join(elsewhere.root, "link")
	if err := os.Symlink(deep, link); err != nil {
		t.Fatal(err)
	}

	tests := []struct {
		name, dir string
		getenv    func(string) string
		want      string
		found     bool
	}{
		{"in the root", root.root, noEnv, root.root, true},
		{"below it", deep, noEnv, root.root, true},
		{"through a link", link, noEnv, root.root, true},
		{"where there is none", elsewhere.root, noEnv, elsewhere.root, false},
		{"named by the pane", elsewhere.root, environment(envDir, root.root), root.root, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := findPlace(tt.dir, tt.getenv)
			if err != nil {
				t.Fatal(err)
			}
			if got.root != tt.want || found != tt.found {
				t.Errorf("got %s, %v, want %s, %v", got.root, found, tt.want, tt.found)
			}
		})
	}
	if _, _, err := findPlace(filepath.Join(root.root, "missing"), noEnv); err == nil {
		t.Error("got no error for a folder that is not there")
	}
}

func TestStateFolderIsClosed(t *testing.T) {
	t.Parallel()
	p := tempPlace(t)
	if err := os.Mkdir(p.state(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.makeState(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p.state())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("got mode %o, want 700", got)
	}
}

func TestHubCard(t *testing.T) {
	t.Parallel()
	p := tempPlace(t)
	if _, found, err := p.readHubCard(); found || err != nil {
		t.Fatalf("got %v, %v, want no card and no error", found, err)
	}
	if err := p.makeState(); err != nil {
		t.Fatal(err)
	}
	want := hubCard{PID: 42, Socket: "/s", TmuxSocket: "t", Session: "s", Project: "p", Started: time.Unix(9, 0).UTC(), Version: "v"}
	if err := p.writeHubCard(want); err != nil {
		t.Fatal(err)
	}
	got, found, err := p.readHubCard()
	if err != nil || !found {
		t.Fatalf("got %v, %v, want the card", found, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	if err := p.dropHubCard(43); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := p.readHubCard(); !found {
		t.Error("another process removed the card")
	}
	if err := p.dropHubCard(42); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := p.readHubCard(); found {
		t.Error("got a card, want it gone")
	}
	if err := os.WriteFile(p.hubFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.readHubCard(); err == nil || !strings.Contains(err.Error(), "hub.json") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestSocketPath(t *testing.T) {
	t.Parallel()
	p := tempPlace(t)
	short, err := os.MkdirTemp("/tmp", "rt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	long := filepath.Join(short, strings.Repeat("x", 90))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, runtime, prefix string }{
		{"runtime directory", short, short + "/orchestrator-cc/"},
		{"none", "", "/tmp/orchestrator-cc-"},
		{"missing", filepath.Join(short, "no"), "/tmp/orchestrator-cc-"},
		{"too long", long, "/tmp/orchestrator-cc-"},
		{"relative", "run", "/tmp/orchestrator-cc-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := p.apiSocket(environment("XDG_RUNTIME_DIR", tt.runtime))
			if !strings.HasPrefix(got, tt.prefix) || !strings.HasSuffix(got, p.hash()+".sock") {
				t.Errorf("got %s, want %s…%s.sock", got, tt.prefix, p.hash())
			}
			if len(p.hash()) != 10 {
				t.Errorf("got hash %q, want 10 digits", p.hash())
			}
		})
	}
}

func TestSocketFolderMustBeOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := makeSocketDir(filepath.Join(open, "a.sock")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(open); info.Mode().Perm() != 0o700 {
		t.Errorf("got mode %o, want 700", info.Mode().Perm())
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	if err := makeSocketDir(filepath.Join(link, "a.sock")); err == nil {
		t.Error("got no error for a folder that is a link")
	}
}
