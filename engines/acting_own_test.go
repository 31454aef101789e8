package engines

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// builtin is the engine inside our binary, which needs no model.
func builtin() program {
	return program{name: "builtin", prepare: func(*company) map[string]string { return nil }}
}

// lineProgram is any program that is read by its screen: here one that reads
// lines and answers with what lies in a file.
func lineProgram() program {
	return program{name: "command", prepare: func(c *company) map[string]string {
		c.write("home/project/scribe.sh", `trap 'stopped=1' INT
[ "$1" != unseen ] || stty -echo
echo welcome
while printf '> ' && IFS= read -r line; do
  stopped=
  printf '%s\n' "$line" > got
  until [ -e say ] || [ -n "$stopped" ]; do sleep 0.1; done
  [ "$1" != unseen ] || echo
  if [ -e say ]; then cat say; rm say; fi
done
`)
		return nil
	}}
}

func actingLines() acting {
	path := func(s *stage, name string) string { return filepath.Join(s.project, name) }
	return acting{
		command: []string{"sh", "scribe.sh"}, lines: true, thinking: isSilent, begun: "^>", clear: []string{"C-u"},
		interrupts: "^> req-.*",
		voice: func(s *stage, l line) (string, func()) {
			return l.body, func() {
				if l.turn.Pace > 0 {
					return // it is never heard
				}
				// Under another name first, so that half of it is never read.
				s.write("home/project/draft", l.shown+"\n")
				if err := os.Rename(path(s, "draft"), path(s, "say")); err != nil {
					s.t.Error(err)
				}
			}
		},
		taken: func(s *stage) bool {
			got, _ := os.ReadFile(path(s, "got"))
			return strings.HasPrefix(string(got), "req-"+s.asked.ID)
		},
	}
}

// actingChat is of the chat with a model, which adds the marker itself.
func actingChat() acting {
	return acting{
		voice: scripted, taken: func(s *stage) bool { return len(s.company.model.Calls()) == s.said },
		thinking: isWorking, works: "working", streams: isWorking, notes: true, interrupts: "still at it", clear: []string{"C-u"}, menu: true, wall: limited,
	}
}

// actingBuiltin is of the engine without a model, which is told in the prompt
// what to do.
func actingBuiltin() acting {
	return acting{
		voice: drilled, taken: func(s *stage) bool { return s.shows("^│ req-" + s.asked.ID) },
		thinking: isWorking, works: "working", interrupts: "working", clear: []string{"C-u"}, menu: true, wall: "the drill's rate limit is reached",
	}
}

func drilled(_ *stage, l line) (string, func()) {
	var do []string
	switch {
	case l.turn.Status == http.StatusTooManyRequests:
		do = append(do, "/wall "+time.Now().UTC().Add(time.Hour).Format(time.RFC3339))
	case l.turn.Status != 0:
		do = append(do, "/fail "+l.turn.Error)
	case l.turn.Pace > 0:
		return "/think 10m", func() {}
	case l.held:
		do = append(do, "/think 8s")
	}
	if l.says != "" {
		do = append(do, "/say "+strings.ReplaceAll(strings.TrimSuffix(l.says, "\n"+marker), "\n", "\n/say "))
	}
	return strings.Join(do, "\n"), func() {}
}
