package engines

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator-cc/protocol"
)

// A program that is killed after it forgot one session, and before it took the
// first prompt of another, does not take the forgotten conversation up again.
func TestCrashAfterForgetting(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var model play
			p.settings += "    settle: 2s\n" // between the prompt and its Enter, to be killed in
			c := newCompany(t, p, model.script, one())
			c.up()
			model.say("甲", "桜の答え。")
			model.say("乙", "松の答え。")
			c.ask("a", "甲の一。")
			before := c.note()
			task := c.submit("b", "乙の一。")
			c.wait("prompt of the other session in the pane", func() bool {
				now := c.note()
				return now != before && now != "forget"
			})
			c.kill(specialist)
			if got := c.result(task, "乙の一。"); !strings.HasPrefix(got, "松の答え。") {
				t.Errorf("got %q, want the answer", got)
			}
			if n := c.status(specialist).Restarts; n != 1 {
				t.Errorf("got %d restarts, want 1", n)
			}
			for _, call := range c.model.Calls() {
				if strings.Contains(string(call.Body), "乙の一。") && strings.Contains(string(call.Body), "甲の一。") {
					t.Error("got the other session in what the model was told, want nothing of it")
				}
			}
		})
	}
}

// note is the attempt that was typed last into the agent's pane.
func (c *company) note() string {
	return strings.TrimSpace(c.tmux("display-message", "-p", "-t", "=test:0.0", "#{@orch_note}"))
}

// lines is a program that reads lines, has no channel and is told its brief as
// its first prompt. It writes down what each of its processes was told.
func lines(forget string) program {
	return program{
		name: "lines", settings: "    command: [sh, lines.sh]\n    personality: paste\n    forget: " + forget + "\n",
		prepare: func(c *company) map[string]string {
			c.write("project/lines.sh", `echo "I read lines."
while IFS= read -r line; do
  echo "$$ $line" >> told.txt
  case $line in
  req-*) echo 'Done.'; echo '`+marker+`' ;;
  *) echo 'Forgotten.' ;;
  esac
done
`)
			return map[string]string{"NOTHING": "more"}
		},
	}
}

// A program without hooks forgets as its engine says, and gets the brief that
// was pasted again each time; between two prompts of one session nothing is
// forgotten. What nobody's session is for is one more.
func TestAnyProgramForgets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ forget, want string }{
		"by a command": {"/clear", "1 brief, 1 甲の一。, 1 甲の二。, 1 /clear, 1 brief, 1 乙の一。, 1 /clear, 1 brief, 1 丙の一。"},
		"by a restart": {"restart", "1 brief, 1 甲の一。, 1 甲の二。, 2 brief, 2 乙の一。, 3 brief, 3 丙の一。"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCompany(t, lines(tt.forget), nil, one())
			c.up()
			for _, x := range [][2]string{{"a", "甲の一。"}, {"a", "甲の二。"}, {"b", "乙の一。"}} {
				if got := c.ask(x[0], x[1]); got != "Done.\n"+marker {
					t.Errorf("%s: got %q, want the answer", x[1], got)
				}
			}
			c.send(specialist, "丙の一。")
			if got := c.linesTold(); got != tt.want {
				t.Errorf("got a program that was told %q, want %q", got, tt.want)
			}
			if n := c.status(specialist).Restarts; n != 0 {
				t.Errorf("got %d restarts, want none that anybody has to know of", n)
			}
		})
	}
}

// linesTold is what the processes of lines were told, each with its number.
func (c *company) linesTold() string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.project, "told.txt"))
	if err != nil {
		c.t.Fatal(err)
	}
	var out, processes []string
	for line := range strings.Lines(string(data)) {
		process, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.Contains(processes, process) {
			processes = append(processes, process)
		}
		if p := protocol.ParsePrompt(text); p.From == protocol.Hub {
			text = "brief"
		} else if p.Req != "" {
			text, _, _ = strings.Cut(p.Body, " ")
		}
		out = append(out, fmt.Sprint(slices.Index(processes, process)+1, " ", text))
	}
	return strings.Join(out, ", ")
}
