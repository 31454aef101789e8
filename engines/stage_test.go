package engines

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/config"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// What a recorded screen means, told by whoever brought the program there and
// not by whoever reads it.
const (
	isReady   = "ready"   // it would take a prompt
	isDraft   = "draft"   // a person's text stands in the composer
	isWorking = "working" // a turn runs
	isComing  = "coming"  // an answer is being written, and nothing else shows it
	isAsking  = "asking"  // a person has to decide something
	isWall    = "wall"    // a quota or a rate limit holds it, and it would take a prompt
	isDead    = "dead"    // its process has ended
)

// recorded is a scene.json: what a screen is read for.
type recorded struct {
	ID, From, Body, Marker string
	Means                  string
	Cursor                 [2]int
	Size                   [2]int
	Alternate              bool
	CopyMode               bool
	Note                   string `json:",omitempty"`
}

// stage is one real program alone in a terminal of a certain size, without a
// hub: whatever is typed there, the test types.
type stage struct {
	*company
	t     *testing.T
	model *play
	size  [2]int
	asked recorded // the prompt that was submitted last
	said  int      // prompts so far
	lives int      // programs so far
}

// newStage prepares a home for a program. The project lies in the home, so that
// programs show it as ~/project.
func newStage(t *testing.T, p program, size [2]int) *stage {
	t.Helper()
	model := &play{}
	c := newCompany(t, p, model.script, one())
	c.project = filepath.Join(c.home(), "project")
	if err := os.MkdirAll(c.project, 0o700); err != nil {
		t.Fatal(err)
	}
	return &stage{company: c, t: t, model: model, size: size}
}

// socket is of this life's own server: one that ends may hold its own for a
// moment.
func (s *stage) socket() string {
	return filepath.Join(s.sockets, "tmux", "stage"+strconv.Itoa(s.lives))
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
	engine := config.Default().Engines[s.program.name]
	command := slices.Clone(engine.Command)
	if command[0] == config.Self {
		command[0] = binary
		command = append(command, "--name", specialist, "--role", "specialist_testing", "--marker", marker)
	}
	argv := []string{"new-session", "-d", "-x", strconv.Itoa(s.size[0]), "-y", strconv.Itoa(s.size[1]), "-c", s.project}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		argv = append(argv, "-e", name+"="+env[name])
	}
	argv = append(argv, "env")
	for _, name := range engine.Unset {
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

// until waits for a row that matches, and then for the screen to rest.
func (s *stage) until(pattern string) {
	s.t.Helper()
	s.seen(pattern)
	s.rest()
}

// seen waits for a row that matches.
func (s *stage) seen(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	s.wait("row like "+pattern, func() bool { return want.MatchString(s.rows()) })
}

// rest waits until the screen is the same for a while, or never will be.
func (s *stage) rest() {
	const still, most = 8, 60 // looks
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

// paste types a text as a terminal pastes it.
func (s *stage) paste(text string) {
	s.t.Helper()
	s.tmux("set-buffer", "-b", "stage", text)
	s.tmux("paste-buffer", "-p", "-r", "-d", "-b", "stage", "-t", ":")
}

// ask submits a prompt as the hub would, and the model acts on it.
func (s *stage) ask(body string, act func(modeltest.Call, protocol.Prompt) modeltest.Turn) {
	s.t.Helper()
	s.said++
	id := fmt.Sprintf("k%dv9q2x", s.said)
	s.asked = recorded{ID: id, From: "middle_manager", Body: body, Marker: marker}
	s.model.on(body, act)
	tag, rest := protocol.Tag(id, s.asked.From), "\n"+body+"\n\n"+protocol.ClosingLine()
	if config.Default().Engines[s.program.name].OnePaste {
		s.paste(tag + rest)
	} else {
		s.paste(tag)
		s.paste(rest)
	}
	s.rest()
	time.Sleep(time.Second)
	s.keys("Enter")
}

// reply is the act of a model that says a text.
func (s *stage) reply(text string) func(modeltest.Call, protocol.Prompt) modeltest.Turn {
	return func(_ modeltest.Call, p protocol.Prompt) modeltest.Turn {
		return modeltest.Turn{Text: text + "\n" + protocol.Token(marker, p.Req)}
	}
}

// answered waits for the token of the last prompt.
func (s *stage) answered() {
	s.t.Helper()
	token := regexp.QuoteMeta(protocol.Token(marker, s.asked.ID))
	s.until(strings.ReplaceAll(token, " ", `\s+`))
}

// folder is where a case is kept.
func (s *stage) folder(name string) string {
	return filepath.Join(os.Getenv(recordVariable), s.program.name, fmt.Sprintf("%s-%dx%d", name, s.size[0], s.size[1]))
}

// take records the screen as it is now. note says what was not produced by the
// program alone.
func (s *stage) take(name, means string) {
	s.t.Helper()
	format := "#{cursor_x} #{cursor_y} #{alternate_on} #{pane_in_mode}"
	var sc = s.asked
	var alternate, mode int
	if _, err := fmt.Sscanf(s.tmux("display-message", "-p", "-t", ":", format), "%d %d %d %d", &sc.Cursor[0], &sc.Cursor[1], &alternate, &mode); err != nil {
		s.t.Fatal(err)
	}
	rows, lines := s.rows(), s.tmux("capture-pane", "-p", "-J", "-S", "-200", "-t", ":")
	sc.Means, sc.Size, sc.Alternate, sc.CopyMode = means, s.size, alternate == 1, mode == 1
	if sc.ID == "" {
		sc.ID, sc.From, sc.Body, sc.Marker = "k0v9q2x", "middle_manager", "nothing was asked yet", marker
	}
	dir := s.folder(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.keep(dir, "screen.txt", s.plain(rows)+"\n")
	if sc.Alternate || strings.TrimSpace(lines) == strings.TrimSpace(rows) {
		os.Remove(filepath.Join(dir, "lines.txt"))
	} else {
		s.keep(dir, "lines.txt", s.plain(lines)+"\n")
	}
	data, err := json.MarshalIndent(sc, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	s.keep(dir, "scene.json", string(data)+"\n")
	s.t.Logf("%s %dx%d %s:\n%s", s.program.name, s.size[0], s.size[1], name, rows)
}

func (s *stage) keep(dir, name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// plain takes what belongs to this machine out of a screen, without moving
// anything on it.
func (s *stage) plain(text string) string {
	for _, own := range []string{s.company.model.URL[strings.LastIndexByte(s.company.model.URL, ':')+1:], filepath.Base(s.dir)} {
		text = strings.ReplaceAll(text, own, strings.Repeat("0", len(own)))
	}
	home, _ := os.UserHomeDir()
	for _, folder := range []string{s.dir, home} {
		text = strings.ReplaceAll(text, folder, ("/home/user" + strings.Repeat("_", max(0, len(folder)-10)))[:len(folder)])
	}
	return text
}
