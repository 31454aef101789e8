package engines

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/config"
	"orchestrator-cc/e2e/hometest"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// What a recorded screen means, told by whoever brought the program there and
// not by whoever reads it.
const (
	isReady     = "ready"      // it would take a prompt
	isDraft     = "draft"      // a person's text stands in the composer
	isWorking   = "working"    // a turn runs
	isSilent    = "silent"     // a turn runs, and nothing but the answer shows it
	isWaiting   = "waiting"    // a turn waits by itself for the end of a limit
	isDialog    = "dialog"     // it asks a person something
	isSignedOut = "signed out" // nobody has signed in to it
	isLookedAt  = "looked at"  // a person scrolls, or looks through a list
	isWall      = "wall"       // a quota or a rate limit holds it, and it would take a prompt
	isDead      = "dead"       // its process has ended
)

// recorded is a scene.json: what was done before the screen was kept.
type recorded struct {
	ID, From, Body, Marker string
	Means                  string
	Typed                  string   `json:",omitempty"` // stands in the composer
	Said                   []string `json:",omitempty"` // to the prompt; a program may draw between the pieces
	Done                   bool     `json:",omitempty"` // and all of it is there
	Failed                 string   `json:",omitempty"` // what the model's server said in place of an answer
	At, Until              string   `json:",omitempty"` // when it was recorded, and when the wall ends
	Cursor                 [2]int
	Size                   [2]int
	Alternate              bool
	CopyMode               bool
}

// stage is one real program alone in a terminal of a certain size, without a
// hub: whatever is typed there, the test types.
type stage struct {
	*company
	t      *testing.T
	model  *play
	acting acting
	size   [2]int
	asked  recorded // the prompt that was submitted last
	plan   []string // what will be said to it
	typed  string   // what stands in the composer
	before string   // what stood on the screen before a prompt that is not shown
	said   int      // prompts so far
	lives  int      // programs so far
	letGo  func()   // lets a held answer go
}

// newStage prepares a home for a program. The project lies in the home, so that
// programs show it as ~/project.
func newStage(t *testing.T, p program, size [2]int) *stage {
	t.Helper()
	s := &stage{t: t, model: &play{}, acting: actingOf(p.name), size: size, letGo: func() {}}
	script := s.model.script
	if p.name == "chat" {
		script = s.model.plainly
	}
	s.company = newCompanyIn(t, p, script, one(), "")
	s.project = filepath.Join(s.home(), "project")
	if err := os.MkdirAll(s.project, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.release)
	return s
}

func (s *stage) engine() config.Engine { return config.Default().Engines[s.program.name] }

// socket is of this life's own server: one that ends may hold its own for a
// moment.
func (s *stage) socket() string {
	return filepath.Join(s.place.Dir, "tmux", "stage"+strconv.Itoa(s.lives))
}

func (s *stage) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", s.socket(), "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// open starts the program with what its home holds now.
func (s *stage) open(env map[string]string, args ...string) {
	s.t.Helper()
	s.shut()
	s.lives++
	command := slices.Clone(s.engine().Command)
	switch {
	case len(command) == 0:
		command = s.acting.command
	case command[0] == config.Self:
		command[0] = hometest.Binary()
		command = append(command, "--name", specialist, "--role", "specialist_testing", "--marker", marker)
	}
	argv := []string{"new-session", "-d", "-x", strconv.Itoa(s.size[0]), "-y", strconv.Itoa(s.size[1]), "-c", s.project, "-e", "TZ=UTC", "-e", "TMPDIR=" + filepath.Join(s.place.Dir, "run")}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		argv = append(argv, "-e", name+"="+env[name])
	}
	argv = append(argv, "env")
	for _, name := range s.engine().Unset {
		argv = append(argv, "-u", name)
	}
	start := exec.Command("tmux", append([]string{"-u", "-S", s.socket(), "-f", "/dev/null", "set", "-g", "remain-on-exit", "on", ";", "set", "-g", "status", "off", ";"}, append(argv, append(command, args...)...)...)...)
	start.Env, start.Dir = s.env, s.project
	if out, err := start.CombinedOutput(); err != nil {
		s.t.Fatalf("start %s: %v: %s", s.program.name, err, out)
	}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("the last screen:\n%s", s.rows())
		}
		s.shut()
	})
}

func (s *stage) shut() { exec.Command("tmux", "-S", s.socket(), "kill-server").Run() }

func (s *stage) rows() string { return s.tmux("capture-pane", "-p", "-t", ":") }

// depth is how far up a screen is kept: the hub looks as far as it needs to.
const depth = "-1000"

// lines is the screen with what is above it, as the hub captures it.
func (s *stage) lines() string { return s.tmux("capture-pane", "-p", "-J", "-S", depth, "-t", ":") }

// wait waits for a condition.
func (s *stage) wait(what string, ok func() bool) {
	s.t.Helper()
	const limit = 2 * time.Minute
	for end := time.Now().Add(limit); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("got no %s within %s", what, limit)
		}
	}
}

// until waits for a row that matches, and then for the screen to rest.
func (s *stage) until(pattern string) {
	s.t.Helper()
	s.seen(pattern)
	s.rest()
}

// seen waits for a row that matches.
func (s *stage) seen(pattern string) {
	s.t.Helper()
	s.wait("row like "+pattern, func() bool { return s.shows(pattern) })
}

func (s *stage) shows(pattern string) bool {
	return regexp.MustCompile("(?m)" + pattern).MatchString(s.rows())
}

// rest waits until the screen is the same for a while, or never will be.
func (s *stage) rest() {
	const still, most = 8, 40 // looks
	last, same := "", 0
	for n := 0; n < most && same < still; n++ {
		now := s.rows()
		if same++; now != last {
			last, same = now, 0
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *stage) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", ":"}, keys...)...)
}

// compose types a text into the composer, and waits until it stands there.
func (s *stage) compose(text string) {
	s.t.Helper()
	s.keys("-l", text)
	s.typed = text
	s.until(`[>❯›┃][\s\x{a0}]+` + regexp.QuoteMeta(text))
}

// empty clears the composer.
func (s *stage) empty() {
	s.t.Helper()
	s.keys(s.acting.clear...)
	s.typed = ""
	s.rest()
}

// paste types a text as a terminal pastes it.
func (s *stage) paste(text string) {
	s.t.Helper()
	s.tmux("set-buffer", "-b", "stage", text)
	s.tmux("paste-buffer", "-p", "-r", "-d", "-b", "stage", "-t", ":")
}

// line is a prompt, and what the agent is to do with it.
type line struct {
	body  string
	tool  *modeltest.Tool // it uses this first
	says  string          // its answer, to which the marker is added
	shown string          // the answer as it is written, "" where that is all of it
	held  bool            // it says nothing before it is released
	turn  modeltest.Turn  // how the model goes about it
}

// next is the id of the next prompt.
func (s *stage) next() string { return fmt.Sprintf("k%dv9q2x", s.said+1) }

// ask submits a prompt as the hub would.
func (s *stage) ask(l line) {
	s.t.Helper()
	id := s.next()
	s.said++
	s.asked = recorded{ID: id, From: "middle_manager", Marker: marker}
	s.plan = nil
	if l.tool != nil {
		s.plan = append(s.plan, willDo)
	}
	if l.says != "" && l.shown == "" {
		l.shown, l.says = l.says+"\n"+protocol.Token(marker, id), l.says+"\n"+marker
	}
	if l.says != "" {
		s.plan = append(s.plan, l.says)
	}
	s.asked.Failed = l.turn.Error
	body, begin := s.acting.voice(s, l)
	s.asked.Body, s.letGo = body, sync.OnceFunc(begin)
	if !l.held {
		s.release()
	}
	tag, rest := protocol.Tag(id, s.asked.From), "\n"+s.asked.Body+"\n\n"+protocol.ClosingLine()
	if !s.engine().Multiline {
		rest = " " + strings.ReplaceAll(s.asked.Body, "\n", " ") + " " + protocol.ClosingLine()
	}
	if s.engine().OnePaste {
		s.paste(tag + rest)
	} else {
		s.paste(tag)
		s.paste(rest)
	}
	s.rest()
	time.Sleep(s.engine().Settle)
	s.keys("Enter")
}

// release lets the answer go that was held.
func (s *stage) release() { s.letGo() }

// taken waits until the agent has the prompt.
func (s *stage) taken() {
	s.t.Helper()
	s.wait("prompt at the agent", func() bool { return s.acting.taken(s) })
}

// answered waits for the token of the last prompt.
func (s *stage) answered() {
	s.t.Helper()
	s.until(`<` + s.asked.ID + `>`)
	s.asked.Said, s.asked.Done = s.plan, true
}

// begun notes that the answer is being written: a part of it stands there.
func (s *stage) begun() {
	if !s.acting.notes {
		s.asked.Said = s.plan[:1]
	}
}

// failed waits until the turn is over without an answer, and the program says
// why.
func (s *stage) failed(why string) {
	s.t.Helper()
	s.taken()
	s.until(why)
	busy := "(" + strings.Join(s.engine().Busy, "|") + ")"
	s.wait("end of the turn", func() bool { return !s.shows(busy) })
	s.rest()
}

// folder is where a case is kept.
func (s *stage) folder(name string) string {
	return filepath.Join(os.Getenv(recordVariable), s.program.name, fmt.Sprintf("%s-%dx%d", name, s.size[0], s.size[1]))
}

// take records the screen as it is now. It is asked for in one command, so that
// its parts belong to the same moment.
func (s *stage) take(name, means string) {
	s.t.Helper()
	const cut = "=== cut ==="
	parts := strings.Split(s.tmux("display-message", "-p", "-t", ":", "#{cursor_x} #{cursor_y} #{alternate_on} #{pane_in_mode}", ";", "display-message", "-p", cut, ";",
		"capture-pane", "-p", "-t", ":", ";", "display-message", "-p", cut, ";",
		"capture-pane", "-p", "-J", "-S", depth, "-t", ":"), cut+"\n")
	sc := s.asked
	var alternate, mode int
	if _, err := fmt.Sscanf(parts[0], "%d %d %d %d", &sc.Cursor[0], &sc.Cursor[1], &alternate, &mode); err != nil || len(parts) != 3 {
		s.t.Fatalf("got %d parts of a screen (%v), want 3", len(parts), err)
	}
	rows, lines := strings.TrimSuffix(parts[1], "\n"), parts[2]
	sc.Means, sc.Typed, sc.Size, sc.Alternate, sc.CopyMode = means, s.typed, s.size, alternate == 1, mode == 1
	if sc.ID == "" {
		sc.ID, sc.From, sc.Body, sc.Marker = "k0v9q2x", "middle_manager", "nothing was asked yet", marker
	}
	data, err := json.MarshalIndent(sc, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	if sc.Alternate || strings.TrimSpace(lines) == strings.TrimSpace(rows) {
		lines = ""
	}
	dir := s.folder(name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		s.t.Fatal(err)
	}
	for file, text := range map[string]string{"screen.txt": s.plain(rows), "lines.txt": s.plain(lines), "before.txt": s.plain(s.before), "scene.json": string(data)} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Logf("%s %dx%d %s:\n%s", s.program.name, s.size[0], s.size[1], name, rows)
}

// plain takes what belongs to this run out of a screen, without moving anything
// on it: the model's port, and the folder's number.
func (s *stage) plain(text string) string {
	for _, own := range []string{s.company.model.URL[strings.LastIndexByte(s.company.model.URL, ':')+1:], strings.TrimPrefix(filepath.Base(s.place.Dir), "occ")} {
		text = strings.ReplaceAll(text, own, strings.Repeat("0", len(own)))
	}
	return text
}
