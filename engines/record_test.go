package engines

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/config"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// recordVariable makes the recorder run, and names the folder that it writes
// the screens to. What they are read as is then written by
//
//	go test ./agents -run TestScreensAreRead -update
const recordVariable = "ORCHESTRATOR_CC_RECORD"

// sizes are a plain terminal, a pane of five, and a window by itself.
func sizes() [][2]int { return [][2]int{{80, 24}, {79, 15}, {160, 48}} }

// TestRecordScreens brings every program into every state it has and keeps
// what its screen shows.
func TestRecordScreens(t *testing.T) {
	if os.Getenv(recordVariable) == "" {
		t.Skipf("%s is not set", recordVariable)
	}
	for _, p := range append(programs(), chat(), builtin()) {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s/%dx%d", p.name, size[0], size[1]), func(t *testing.T) {
				for _, part := range parts() {
					t.Run(part.name, func(t *testing.T) {
						s := newStage(t, p, size)
						part.play(s, p.prepare(s.company))
					})
				}
			})
		}
	}
}

// part is a life of a program in which some of its states are met.
type part struct {
	name string
	play func(*stage, map[string]string)
}

func parts() []part {
	return []part{{"composer", composerScenes}, {"turns", turnScenes}, {"tools", toolScenes}, {"troubles", troubleScenes}, {"first", firstScenes}}
}

// ready waits for the composer.
func (s *stage) ready() {
	s.t.Helper()
	begun := actingOf(s.program.name).begun
	if begun == "" {
		begun = config.Default().Engines[s.program.name].Ready[0]
	}
	s.until(begun)
}

// composerScenes is what a person may leave in the composer.
func composerScenes(s *stage, env map[string]string) {
	act := actingOf(s.program.name)
	s.open(env)
	s.ready()
	s.take("ready", isReady)
	s.keys("-l", "half a thought")
	s.until("half a thought")
	s.take("draft", isDraft)
	s.keys(act.clear...)
	s.rest()
	s.paste("first line\nsecond line\nand a third")
	s.rest()
	s.take("draft-lines", isDraft)
	s.keys(act.clear...)
	s.rest()
	s.paste("a long paste\n" + strings.Repeat("with one more line\n", 40))
	s.rest()
	s.take("draft-pasted", isDraft)
	s.keys(act.clear...)
	s.rest()
	s.keys("-l", "/")
	s.until(`[>❯›┃][\s\x{a0}]+/$`)
	s.take("menu", isDraft)
	s.keys("BSpace")
	s.rest()
	s.tmux("copy-mode", "-t", ":")
	s.take("copy-mode", isAsking)
	s.tmux("copy-mode", "-q", "-t", ":")
	if act.exit == "" {
		return
	}
	s.keys("-l", act.exit)
	s.rest()
	s.keys("Enter")
	s.wait("end of the program", func() bool { return s.tmux("display-message", "-p", "-t", ":", "#{pane_dead}") == "1" })
	s.rest()
	s.take("exit", isDead)
}

// markdown is an answer with what programs render.
const markdown = "# Heading\n\nSome **bold** and `code`.\n\n- one\n- two\n  - deeper\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

// quoting is an answer that looks like a dialog and like work.
const quoting = "The screen said:\n\n    Do you want to proceed?\n    ❯ 1. Yes\n      2. No\n\nand before that: esc to interrupt.\n"

// turnScenes are turns that go well.
func turnScenes(s *stage, env map[string]string) {
	if !s.program.installed {
		return // ours are read by their spools, and drawn by what is tested elsewhere
	}
	act := actingOf(s.program.name)
	s.open(env)
	s.ready()
	s.ask("Think for a while.", func(c modeltest.Call, p protocol.Prompt) modeltest.Turn {
		turn := s.reply("I have thought.")(c, p)
		turn.After = 4 * time.Second
		return turn
	})
	s.wait("prompt at the model", func() bool { return len(received(s.company.model)) == s.said })
	time.Sleep(2 * time.Second)
	s.take("thinking", isWorking)
	s.answered()
	s.take("answered", isReady)
	s.ask("Say it slowly.", func(c modeltest.Call, p protocol.Prompt) modeltest.Turn {
		var text strings.Builder
		for i := range 60 {
			fmt.Fprintf(&text, "Sentence %d of many comes slowly. ", i)
		}
		return modeltest.Turn{Text: text.String() + "\n\n" + protocol.Token(marker, p.Req), Pace: time.Second}
	})
	s.seen("Sentence 0 of")
	if act.silent {
		s.take("streaming", isComing)
	} else {
		s.take("streaming", isWorking)
	}
	s.answered()
	s.ask("Use markdown.", s.reply(markdown))
	s.answered()
	s.take("answered-markdown", isReady)
	s.ask("Quote the screen.", s.reply(quoting))
	s.answered()
	s.take("answered-quoting", isReady)
	s.ask("日本語で長く。", s.reply(strings.Join(strings.Split(japanese("長い答えです。", 60, 3000), "\n"), "\n\n")))
	s.answered()
	s.take("answered-long", isReady)
	s.ask("Never end.", func(c modeltest.Call, p protocol.Prompt) modeltest.Turn {
		return modeltest.Turn{Text: numbered("still at it"), Pace: time.Second}
	})
	s.seen("still at it")
	for _, key := range config.Default().Engines[s.program.name].Interrupt {
		s.keys(key)
		time.Sleep(300 * time.Millisecond)
	}
	s.rest()
	s.take("interrupted", isReady)
	if len(act.resume) > 0 {
		s.open(env, act.resume...)
		s.ready()
		s.take("resumed", isReady)
	}
	if act.forget != "" {
		s.keys("-l", act.forget)
		s.rest()
		s.keys("Enter")
		s.rest()
		s.keys("Enter") // where the first one only chose from a menu
		s.rest()
		s.take("cleared", isReady)
	}
}

// toolScenes are dialogs about tools, and a tool that runs.
func toolScenes(s *stage, env map[string]string) {
	act := actingOf(s.program.name)
	if act.shell == nil {
		return
	}
	maps.Copy(env, act.wary)
	s.open(env, act.careful...)
	s.ready()
	calling := func(tool *modeltest.Tool) func(modeltest.Call, protocol.Prompt) modeltest.Turn {
		return func(c modeltest.Call, p protocol.Prompt) modeltest.Turn {
			if c.Result() == "" {
				return modeltest.Turn{Text: "I will do that.", Tool: tool}
			}
			return s.reply("It is done.")(c, p)
		}
	}
	s.ask("Run a command.", calling(act.shell("sleep 4; date +%Y > when.txt; echo finished")))
	s.until(act.asks)
	s.take("permission-shell", isAsking)
	s.keys("Enter")
	time.Sleep(2 * time.Second)
	s.take("tool-running", isWorking)
	s.answered()
	s.take("answered-tool", isReady)
	if act.edit != nil {
		s.ask("Write a file.", calling(act.edit(s.project+"/notes.txt", "one line\nanother line\n")))
		s.until(act.asks)
		s.take("permission-edit", isAsking)
		s.keys("Escape")
		s.rest()
		s.take("denied", isReady)
	}
}

// troubleScenes are turns that the model ends badly.
func troubleScenes(s *stage, env map[string]string) {
	if !s.program.installed {
		return
	}
	s.open(env)
	s.ready()
	failing := func(turn modeltest.Turn) func(modeltest.Call, protocol.Prompt) modeltest.Turn {
		return func(modeltest.Call, protocol.Prompt) modeltest.Turn { return turn }
	}
	s.ask("Fail.", failing(modeltest.Turn{Status: http.StatusBadRequest, Error: "this never works"}))
	s.taken()
	s.take("model-error", isReady)
	act := actingOf(s.program.name)
	if act.wall != "" {
		s.ask("Hit the wall.", failing(modeltest.Turn{
			Status: http.StatusTooManyRequests, Error: act.wall,
			Header: http.Header{"Retry-After": {"1"}, "X-Should-Retry": {"false"}},
		}))
	}
	if act.retries {
		s.seen("retrying")
		s.take("retrying", isWorking)
		return
	}
	if act.wall != "" {
		s.taken()
		s.take("wall", isWall)
	}
	if act.quota == "" {
		return
	}
	if act.member != nil {
		delete(env, "ANTHROPIC_API_KEY")
		maps.Copy(env, act.member)
	}
	s.open(env)
	s.ready()
	s.ask("Use up the quota.", failing(modeltest.UsedUp(act.quota, time.Now().Add(3*time.Hour))))
	s.taken()
	if act.menu {
		s.take("wall-quota", isAsking) // and what the person wants to do now
	} else {
		s.take("wall-quota", isWall)
	}
}

// taken waits until the model has the prompt and the screen rests again.
func (s *stage) taken() {
	s.t.Helper()
	s.wait("prompt at the model", func() bool { return len(received(s.company.model)) == s.said })
	time.Sleep(2 * time.Second)
	busy := regexp.MustCompile("(?m)" + config.Default().Engines[s.program.name].Busy[0])
	s.wait("end of the turn", func() bool { return !busy.MatchString(s.rows()) })
	s.rest()
}

// firstScenes are the dialogs of a first start.
func firstScenes(s *stage, env map[string]string) {
	for _, f := range actingOf(s.program.name).first {
		env := s.program.prepare(s.company)
		f.prepare(s, env)
		s.open(env)
		s.until(f.shows)
		time.Sleep(2 * time.Second)
		means := isAsking
		if f.idle {
			means = isReady
		}
		s.take(f.name, means)
	}
}
