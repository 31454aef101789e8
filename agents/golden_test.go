package agents

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/config"
)

var update = flag.Bool("update", false, "rewrite what the screens under testdata are expected to say")

// scene is what a screen is read for, and what was done before it was kept:
// engines/stage_test.go writes it.
type scene struct {
	ID, From, Body, Marker string
	Means                  string
	Typed                  string
	Said                   []string
	Done                   bool
	Failed                 string
	At, Until              string
	Cursor                 [2]int // column and row
	Size                   [2]int // columns and rows
	Alternate, CopyMode    bool
}

// asked says that the prompt was submitted.
func (sc scene) asked() bool { return sc.ID != "k0v9q2x" }

// now is when the screen is read.
func (sc scene) now(t *testing.T) time.Time {
	t.Helper()
	if sc.At == "" {
		return time.Date(2026, 2, 1, 10, 30, 0, 0, time.UTC)
	}
	at, err := time.Parse(time.RFC3339, sc.At)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// reading is everything that is read from a screen.
type reading struct {
	Ready, Busy, Dialog    bool
	Composer               int
	Draft                  string
	AtStart                bool
	Found, Token, Tail     bool
	Markers                int
	Wall, Until, Complaint string `json:",omitempty"`
	Waits                  string `json:",omitempty"`
	Asks                   string `json:",omitempty"` // of a person, as status says it
	Text                   []string
}

// The folder is the list: testdata/<engine>/<state>-<size>/ with screen.txt (the
// rows as that program drew them), scene.json, perhaps lines.txt (with what is
// above them) and before.txt, and reading.json. The last one keeps the details;
// what matters in it is held against the scene, which knows what was done and
// nothing of the reading. While one of them contradicts its scene none is written:
// what misreads one screen misreads others less plainly.
func TestScreensAreRead(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/*/screen.txt")
	if err != nil || len(cases) == 0 {
		t.Fatalf("got %d screens (%v), want some", len(cases), err)
	}
	engines := config.Default().Engines
	var readings sync.Map // by their folders
	t.Cleanup(func() {
		if *update && !t.Failed() {
			readings.Range(func(dir, got any) bool {
				write(t, filepath.Join(dir.(string), "reading.json"), got)
				return true
			})
		}
	})
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(strings.TrimPrefix(dir, "testdata/"), func(t *testing.T) {
			t.Parallel()
			engine, err := EngineOf(engines[filepath.Base(filepath.Dir(dir))])
			if err != nil {
				t.Fatal(err)
			}
			var sc scene
			load(t, filepath.Join(dir, "scene.json"), &sc)
			got := readScene(t, dir, sc, engine.withDefaults())
			checkMeaning(t, dir, sc, engine.withDefaults(), got)
			if *update {
				readings.Store(dir, got)
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

func readScene(t *testing.T, dir string, sc scene, e Engine) reading {
	t.Helper()
	s := readScreen(t, dir, sc)
	s.Lines = e.talk(s)
	before := optionalLines(t, filepath.Join(dir, "before.txt"))
	ours, fault := newPrompt(Request{ID: sc.ID, From: sc.From, Body: sc.Body}, e)
	if fault != nil {
		t.Fatal(fault)
	}
	v := e.read(s, ours)
	m := newMarker(sc.Marker, false)
	r := locate(s.Lines, ours, stable(before, e), m)
	answer := r.reply(e, before, m, sc.ID)
	under := &turn{Agent: &Agent{opts: Options{Engine: e}}, ours: ours}
	out := reading{
		Ready: v.ready, Busy: v.busy, Dialog: v.dialog, Composer: v.composer, Draft: v.draft, AtStart: v.atStart,
		Found: r.found, Token: answer.token, Tail: answer.tail, Markers: len(answer.own),
		Complaint: under.complaint(r),
	}
	if o, why := e.obstacle(s, v); o != unclear {
		out.Asks = why
	}
	if w, ok := e.waits(under.lowRows(s), sc.now(t)); ok && v.busy {
		out.Waits = w.text
	}
	if out.Found || out.Markers > 0 {
		out.Text = strings.Split(answer.text(), "\n")
	}
	if w, ok := e.wall(answer.lines, sc.now(t)); ok && out.Found {
		out.Wall = w.text
		if !w.until.IsZero() {
			out.Until = w.until.UTC().Format(time.RFC3339)
		}
	}
	return out
}

func readScreen(t *testing.T, dir string, sc scene) Screen {
	t.Helper()
	rows := screenLines(t, filepath.Join(dir, "screen.txt"))
	for len(rows) < sc.Size[1] { // the last ones are empty
		rows = append(rows, "")
	}
	s := Screen{
		Width: sc.Size[0], Height: len(rows), Visible: rows, Lines: optionalLines(t, filepath.Join(dir, "lines.txt")),
		CursorX: sc.Cursor[0], CursorY: sc.Cursor[1], Alternate: sc.Alternate, CopyMode: sc.CopyMode, Dead: sc.Means == "dead",
	}
	if s.Lines == nil {
		s.Lines = rows
	}
	if s.CopyMode {
		s.Clients = 1
	}
	return s
}

func optionalLines(t *testing.T, path string) []string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return screenLines(t, path)
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
