package agents

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/config"
)

var update = flag.Bool("update", false, "rewrite what the screens under testdata are expected to say")

// scene is what a screen is read for.
type scene struct {
	ID, From, Body, Marker string
	Loose                  bool
	Cursor                 [2]int // column and row
}

// reading is everything that is read from a screen.
type reading struct {
	Ready, Busy, Dialog bool
	Composer            int
	Draft               string
	AtStart             bool
	Found, Token, Tail  bool
	Markers             int
	Text                []string
}

// The folder is the list: testdata/<engine>/<case>/ with screen.txt (the rows
// as that program draws them), scene.json, perhaps before.txt, and reading.json.
func TestScreensAreRead(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/*/screen.txt")
	if err != nil || len(cases) == 0 {
		t.Fatalf("got %d screens (%v), want some", len(cases), err)
	}
	engines := config.Default().Engines
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(strings.TrimPrefix(dir, "testdata/"), func(t *testing.T) {
			t.Parallel()
			engine, err := EngineOf(engines[filepath.Base(filepath.Dir(dir))])
			if err != nil {
				t.Fatal(err)
			}
			got := readScene(t, dir, engine.withDefaults())
			if *update {
				write(t, filepath.Join(dir, "reading.json"), got)
				return
			}
			var want reading
			load(t, filepath.Join(dir, "reading.json"), &want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("reading (-want +got):\n%s", diff)
			}
		})
	}
}

func readScene(t *testing.T, dir string, e Engine) reading {
	t.Helper()
	var sc scene
	load(t, filepath.Join(dir, "scene.json"), &sc)
	rows := screenLines(t, filepath.Join(dir, "screen.txt"))
	var before []string
	if _, err := os.Stat(filepath.Join(dir, "before.txt")); err == nil {
		before = screenLines(t, filepath.Join(dir, "before.txt"))
	}
	ours, fault := newPrompt(Request{ID: sc.ID, From: sc.From, Body: sc.Body}, e)
	if fault != nil {
		t.Fatal(fault)
	}
	s := Screen{Width: 160, Height: len(rows), Visible: rows, Lines: rows, CursorX: sc.Cursor[0], CursorY: sc.Cursor[1]}
	v := e.read(s, ours)
	m := newMarker(sc.Marker, sc.Loose)
	r := locate(rows, ours, stable(before, e), m)
	answer := r.reply(e, before, m, sc.ID)
	out := reading{
		Ready: v.ready, Busy: v.busy, Dialog: v.dialog, Composer: v.composer, Draft: v.draft, AtStart: v.atStart,
		Found: r.found, Token: answer.token, Tail: answer.tail, Markers: len(answer.own),
	}
	if out.Found || out.Markers > 0 {
		out.Text = strings.Split(answer.text(), "\n")
	}
	return out
}

func screenLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func write(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}
