package engines

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/engines/modeltest"
)

// recordVariable makes the recorder run, and names the folder that it writes
// the screens to. What they are read as is then written by
//
//	go test ./agents -run TestScreensAreRead -update
const recordVariable = "ORCHESTRATOR_CC_RECORD"

// sizes are a plain terminal, a pane of five, and a window by itself.
func sizes() [][2]int { return [][2]int{{80, 24}, {79, 15}, {160, 48}} }

// TestRecordScreens brings every program into every state it has and keeps
// what its screen shows. What a program cannot show is said in
// agents/recorded_test.go.
func TestRecordScreens(t *testing.T) {
	if os.Getenv(recordVariable) == "" {
		t.Skipf("%s is not set", recordVariable)
	}
	for _, p := range append(programs(), chat(), builtin(), lineProgram()) {
		for _, size := range sizes() {
			for _, part := range parts() {
				t.Run(fmt.Sprintf("%s/%dx%d/%s", p.name, size[0], size[1], part.name), func(t *testing.T) {
					t.Parallel()
					s := newStage(t, p, size)
					part.play(s, p.prepare(s.company))
				})
			}
		}
	}
}

// part is a life of a program in which some of its states are met.
type part struct {
	name string
	play func(*stage, map[string]string)
}

func parts() []part {
	return []part{
		{"composer", composerScenes}, {"turns", turnScenes}, {"answers", answerScenes}, {"stops", stopScenes}, {"lines", lineScenes},
		{"tools", toolScenes}, {"edits", editScenes}, {"troubles", troubleScenes}, {"waits", waitScenes}, {"quota", quotaScenes}, {"first", firstScenes},
	}
}

// composerScenes is what a person may leave in the composer.
func composerScenes(s *stage, env map[string]string) {
	s.open(env)
	s.ready()
	s.take("ready", isReady)
	s.compose("half a thought, 日本")
	s.take("draft", isDraft)
	s.empty()
	if s.engine().Multiline {
		for _, x := range []struct{ name, text string }{
			{"draft-lines", "first line\nsecond line\nand a third"},
			{"draft-pasted", "a long paste\n" + strings.Repeat("with one more line\n", 40)},
		} {
			empty := s.rows()
			s.paste(x.text)
			s.typed = x.text
			s.wait("draft", func() bool { return s.rows() != empty })
			s.rest()
			s.take(x.name, isDraft)
			s.empty()
		}
	}
	if s.acting.menu {
		s.compose("/")
		s.take("menu", isDraft)
		s.keys("BSpace")
		s.typed = ""
		s.rest()
	}
	if s.acting.palette != "" {
		s.wait("palette", func() bool { // the key is lost while the menu closes
			s.keys(s.acting.palette)
			s.rest()
			return s.shows("Search")
		})
		s.take("palette", isLookedAt)
		s.keys("Escape")
		s.rest()
	}
	s.tmux("copy-mode", "-t", ":")
	s.take("copy-mode", isLookedAt)
	s.tmux("copy-mode", "-q", "-t", ":")
	s.leave()
	s.take("exit", isDead)
}

// leave ends the program as a person does.
func (s *stage) leave() {
	s.t.Helper()
	if s.acting.exit == "" {
		var pid int
		fmt.Sscan(s.tmux("display-message", "-p", "-t", ":", "#{pane_pid}"), &pid)
		if pid == 0 || syscall.Kill(pid, syscall.SIGTERM) != nil {
			s.t.Fatalf("got pane process %d, want one to end", pid)
		}
	} else {
		s.compose(s.acting.exit)
		s.keys("Enter")
	}
	s.wait("end of the program", func() bool { return s.tmux("display-message", "-p", "-t", ":", "#{pane_dead}") == "1" })
	s.typed = ""
	s.rest()
}

// slowly is an answer that takes its time.
func slowly() string {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "Sentence %d of many comes slowly. ", i)
		if i%10 == 4 {
			text.WriteString("\n\n")
		}
	}
	return text.String()
}

// turnScenes are turns under way, and their ends. An older answer stands above.
func turnScenes(s *stage, env map[string]string) {
	s.open(env)
	s.ready()
	s.ask(line{body: "Greet me.", says: "Good day."})
	s.answered()
	s.ask(line{body: "Think for a while.", says: "I have thought.", held: true})
	s.taken()
	s.seen(s.acting.works)
	s.rest()
	s.take("thinking", s.acting.thinking)
	s.release()
	s.answered()
	s.take("answered", isReady)
	if s.acting.streams != "" {
		s.ask(line{body: "Say it slowly.", says: slowly(), turn: modeltest.Turn{Pace: 2 * time.Second}})
		s.seen(`Sentence \d+ of`)
		s.seen(s.acting.works)
		s.begun()
		s.take("streaming", s.acting.streams)
		s.answered()
	}
	s.asked = recorded{} // a program may show as much of the old conversation as it likes
	if s.acting.resume != nil {
		s.open(env, s.acting.resume...)
		s.ready()
		s.wait("old conversation", func() bool { return strings.Contains(s.lines(), marker) })
		s.rest()
		s.take("resumed", isReady)
	}
	if forget := s.engine().Forget; forget != "" {
		s.compose(forget)
		s.keys("Enter")
		s.rest()
		s.keys("Enter") // where the first one only chose from a menu
		s.rest()
		s.typed = ""
		s.take("cleared", isReady)
	}
}

// answerScenes are answers of all kinds.
func answerScenes(s *stage, env map[string]string) {
	s.open(env)
	s.ready()
	for _, x := range []struct{ name, body, says string }{
		// What programs render.
		{"answered-markdown", "Use markdown.", "# Heading\n\nSome **bold** and `code`.\n\n- one\n- two\n  - deeper\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"},
		// What looks like a dialog and like work.
		{"answered-quoting", "Quote the screen.", "The screen said:\n\n    Do you want to proceed?\n    ❯ 1. Yes\n      2. No\n\nand before that: esc to interrupt.\n"},
		// What does not fit on a screen.
		{"answered-long", "日本語で長く。", strings.Join(strings.Split(japanese("長い答えです。", 60, 3000), "\n"), "\n\n")},
	} {
		s.ask(line{body: x.body, says: x.says})
		s.answered()
		s.take(x.name, isReady)
	}
}

// stopScenes is a turn that a person stops.
func stopScenes(s *stage, env map[string]string) {
	if s.acting.interrupts == "" {
		return
	}
	s.open(env)
	s.ready()
	s.ask(line{body: "Never end.", says: numbered("still at it"), turn: modeltest.Turn{Pace: 2 * time.Second}})
	s.taken()
	s.seen(s.acting.interrupts)
	if s.acting.streams != "" {
		s.begun()
	}
	for _, key := range s.engine().Interrupt {
		s.keys(key)
		time.Sleep(300 * time.Millisecond) // at once some take two keys for another one
	}
	s.rest()
	s.take("interrupted", isReady)
}

// calling is a turn in which the model uses a tool first.
func calling(body string, tool *modeltest.Tool) line {
	return line{body: body, tool: tool, says: "It is done."}
}

// toolScenes are a question about a tool, and the tool at work.
func toolScenes(s *stage, env map[string]string) {
	if s.acting.shell == nil {
		return
	}
	maps.Copy(env, s.acting.wary)
	s.open(env, s.acting.careful...)
	s.ready()
	s.ask(calling("Run a command.", s.acting.shell("until [ -e go ]; do sleep 1; done; date +%Y > when.txt; echo finished")))
	s.until(s.acting.asks)
	s.begun()
	s.take("permission-shell", isDialog)
	s.keys("Enter")
	s.wait("end of the dialog", func() bool { return !s.shows(s.acting.asks) })
	s.rest()
	s.take("tool-running", isWorking)
	s.write("home/project/go", "")
	s.answered()
	s.take("answered-tool", isReady)
}

// editScenes are a question about a file, and a tool that was denied.
func editScenes(s *stage, env map[string]string) {
	if s.acting.edit == nil {
		return
	}
	maps.Copy(env, s.acting.wary)
	s.open(env, s.acting.careful...)
	s.ready()
	s.ask(calling("Write a file.", s.acting.edit(s.project+"/notes.txt", []string{"one line", "another line"})))
	s.until(s.acting.asks)
	s.begun()
	s.take("permission-edit", isDialog)
	s.keys("Escape")
	s.wait("end of the dialog", func() bool { return !s.shows(s.acting.asks) })
	s.rest()
	s.take("denied", isReady)
}

// troubleScenes are turns that the model ends badly.
func troubleScenes(s *stage, env map[string]string) {
	if s.acting.lines {
		return
	}
	s.open(env)
	s.ready()
	s.ask(line{body: "Fail.", turn: modeltest.Turn{Status: http.StatusBadRequest, Error: "this never works"}})
	s.failed("works")
	s.take("model-error", isReady)
	if s.acting.wall == "" {
		return
	}
	s.ask(line{body: "Hit the wall.", turn: modeltest.Turn{
		Status: http.StatusTooManyRequests, Error: s.acting.wall,
		Header: http.Header{"Retry-After": {"1"}, "X-Should-Retry": {"false"}},
	}})
	s.failed("429|rate limit")
	s.take("wall", isWall)
}

// waitScenes is a program that waits for the end of a limit by itself.
func waitScenes(s *stage, env map[string]string) {
	if s.acting.retries == "" {
		return
	}
	s.open(env)
	s.ready()
	s.ask(line{body: "Take your time.", turn: modeltest.Limited(15)})
	s.until(s.acting.retries)
	s.take("retrying", isWaiting)
}

// quotaScenes is the end of a subscription's quota.
func quotaScenes(s *stage, env map[string]string) {
	if s.acting.quota == "" {
		return
	}
	// A whole hour, because programs round it.
	until := time.Now().UTC().Truncate(time.Hour).Add(4 * time.Hour)
	means := isWall
	if s.acting.member != nil {
		delete(env, "ANTHROPIC_API_KEY")
		maps.Copy(env, s.acting.member)
	}
	if s.acting.quotaAsks {
		means = isDialog // what the person wants to do now
	}
	s.open(env)
	s.ready()
	s.ask(line{body: "Use up the quota.", turn: modeltest.UsedUp(s.acting.quota, until)})
	s.failed("limit")
	s.asked.At, s.asked.Until = time.Now().UTC().Format(time.RFC3339), until.Format(time.RFC3339)
	s.take("wall-quota", means)
}

// firstScenes are the dialogs of a first start.
func firstScenes(s *stage, _ map[string]string) {
	for _, f := range s.acting.first {
		env := s.program.prepare(s.company)
		f.prepare(s, env)
		s.open(env)
		s.until(f.shows)
		s.rest()
		s.take(f.name, f.means)
	}
}

// lineScenes are what programs do that read lines and know nothing of us.
func lineScenes(s *stage, env map[string]string) {
	if !s.acting.lines {
		return
	}
	s.open(env)
	s.ready()
	for _, x := range []struct{ name, says, shown string }{
		{"answered-head", "**TESTING OK** and then more", "**TESTING OK** <ID>\nand then\n  more"},
		{"answered-inline", "テストは全て通りました。TESTING OK✅", "テストは全て通りました。TESTING OK <ID>✅"},
		{"answered-wrapped", "The answer is long and the program breaks it. TESTING OK", "  The answer is long and the\n  program breaks it. TESTING\n  OK\n  <ID>"},
	} {
		s.ask(line{body: "Check the tests.\nSay TESTING OK when they pass.", says: x.says, shown: strings.ReplaceAll(x.shown, "ID", s.next())})
		s.answered()
		s.take(x.name, isReady)
	}
	// A program that does not show what it is given: all that tells the answer
	// from older ones is what was there before, and the request's id.
	s.open(env, "unseen")
	s.ready()
	s.ask(line{body: "First of all.", says: "One."})
	s.answered()
	s.before = s.lines()
	s.ask(line{body: "And then.", says: "Two."})
	s.answered()
	s.take("answered-unseen", isReady)
}

// ready waits for the composer.
func (s *stage) ready() {
	s.t.Helper()
	begun := s.acting.begun
	if begun == "" {
		begun = s.engine().Ready[0]
	}
	s.until(begun)
}
