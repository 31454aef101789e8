package agents

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/config"
)

var update = flag.Bool("update", false, "rewrite what the screens under testdata are expected to say")

// scene is what a screen is read for.
type scene struct {
	ID, From, Body, Marker string
	Loose                  bool
	Cursor                 [2]int // column and row
	Size                   [2]int // columns and rows
	Alternate, CopyMode    bool
	Means                  string // what whoever brought the program there knows; "" in composed ones
	Note                   string // what is not as a program draws it by itself
}

// reading is everything that is read from a screen.
type reading struct {
	Ready, Busy, Dialog bool
	Composer            int
	Draft               string
	AtStart             bool
	Found, Token, Tail  bool
	Markers             int
	Wall, Until         string `json:",omitempty"`
	Text                []string
}

// The folder is the list: testdata/<engine>/<case>/ with screen.txt (the rows
// as that program draws them), scene.json, perhaps lines.txt (with what is above
// them) and before.txt, and reading.json. What a recorded scene means is not
// taken from the reading: it is what the recorder did.
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
			checkMeaning(t, dir, engine.withDefaults(), got)
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
	s := readScreen(t, dir, sc)
	before := optionalLines(t, filepath.Join(dir, "before.txt"))
	ours, fault := newPrompt(Request{ID: sc.ID, From: sc.From, Body: sc.Body}, e)
	if fault != nil {
		t.Fatal(fault)
	}
	v := e.read(s, ours)
	m := newMarker(sc.Marker, sc.Loose)
	r := locate(s.Lines, ours, stable(before, e), m)
	answer := r.reply(e, before, m, sc.ID)
	out := reading{
		Ready: v.ready, Busy: v.busy, Dialog: v.dialog, Composer: v.composer, Draft: v.draft, AtStart: v.atStart,
		Found: r.found, Token: answer.token, Tail: answer.tail, Markers: len(answer.own),
	}
	if out.Found || out.Markers > 0 {
		out.Text = strings.Split(answer.text(), "\n")
	}
	if w, ok := e.wall(answer.lines, sceneTime); ok && strings.HasPrefix(filepath.Base(dir), "wall") {
		out.Wall = w.text
		if !w.until.IsZero() {
			out.Until = w.until.Format(time.RFC3339)
		}
	}
	return out
}

// sceneTime is when scenes are read, for those that name a time of day.
var sceneTime = time.Date(2026, 2, 1, 10, 30, 0, 0, time.UTC)

func readScreen(t *testing.T, dir string, sc scene) Screen {
	t.Helper()
	rows := screenLines(t, filepath.Join(dir, "screen.txt"))
	for len(rows) < sc.Size[1] { // the last ones are empty
		rows = append(rows, "")
	}
	s := Screen{
		Width: max(sc.Size[0], 160), Height: len(rows), Visible: rows, Lines: optionalLines(t, filepath.Join(dir, "lines.txt")),
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

// checkMeaning judges a recorded screen as the owner of the pane would, some
// time after it was drawn, or at once where a program works.
func checkMeaning(t *testing.T, dir string, e Engine, got reading) {
	t.Helper()
	var sc, plain scene
	load(t, filepath.Join(dir, "scene.json"), &sc)
	if sc.Means == "" {
		return
	}
	a := &Agent{opts: Options{Engine: e}.withDefaults(), eye: eye{spoke: true, changed: sceneTime.Add(-time.Minute)}}
	if sc.Means == "working" {
		a.eye.changed = sceneTime
	}
	begin := filepath.Join(filepath.Dir(dir), fmt.Sprintf("ready-%dx%d", sc.Size[0], sc.Size[1]))
	load(t, filepath.Join(begin, "scene.json"), &plain)
	a.eye.usual = e.read(readScreen(t, begin, plain), prompt{}).draft
	s := readScreen(t, dir, sc)
	ours, _ := newPrompt(Request{ID: sc.ID, From: sc.From, Body: sc.Body}, e)
	o, why := a.judgeScreen(s, e.read(s, ours), sceneTime)
	want := map[string]observation{"ready": ready, "coming": ready, "draft": asking, "working": working, "asking": asking, "wall": ready, "dead": died}[sc.Means]
	if o != want {
		t.Errorf("%s: got observation %d (%s), want %d", sc.Means, o, why, want)
	}
	if strings.HasPrefix(filepath.Base(dir), "wall") && got.Wall == "" {
		t.Errorf("got no wall in %q, want one", got.Text)
	}
	if strings.HasPrefix(filepath.Base(dir), "answered") && (!got.Token || got.Tail && !strings.Contains(dir, "quoting")) {
		t.Errorf("got token %t and text behind it %t, want a token at the end", got.Token, got.Tail)
	}
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
