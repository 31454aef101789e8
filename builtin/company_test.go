package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"orchestrator-cc/protocol"
)

var team = []Member{
	{"grand_boss", protocol.GrandBoss},
	{"middle_manager", protocol.MiddleManager},
	{"coding_writing_specialist", protocol.SpecialistCoding},
	{"research_analysis_specialist", protocol.SpecialistResearch},
	{"testing_specialist", protocol.SpecialistTesting},
}

// office runs brains without panes: it carries mentions down and results up,
// as the hub does.
type office struct {
	t      *testing.T
	code   string
	files  string
	broken string // this agent fails every task
	hops   []string
}

func newOffice(t *testing.T) *office {
	o := &office{t: t, code: t.TempDir(), files: t.TempDir()}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(o.code, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example\n")
	write("retry.go", "package example\n\n// RetryPolicy decides when to try again.\ntype RetryPolicy struct{ Max int }\n\n// Next is the next delay.\nfunc (p RetryPolicy) Next(n int) int { return n * p.Max }\n")
	write("retry_test.go", "package example\n\nimport \"testing\"\n\nfunc TestNext(t *testing.T) { _ = RetryPolicy{}.Next(1) }\n")
	return o
}

// ask gives an agent a prompt and carries out what it delegates until it
// answers. Every prompt meets a new brain, as after a restart.
func (o *office) ask(name, body string) (string, error) {
	o.t.Helper()
	if name == o.broken {
		return "", context.DeadlineExceeded
	}
	for range 10 {
		var me Member
		for _, m := range team {
			if m.Name == name {
				me = m
			}
		}
		brain := Investigator(Desk{Member: me, Team: team, Code: o.code, Files: o.files})
		reply, err := brain.Reply(o.t.Context(), protocol.Prompt{Body: body}, func(string) {})
		if err != nil {
			return "", err
		}
		mentions := mentionsIn(reply)
		if len(mentions) == 0 {
			return reply, nil
		}
		var results []string
		for _, m := range mentions {
			o.hops = append(o.hops, name+" -> "+m[0])
			r := protocol.Result{From: m[0], Status: protocol.Success}
			if r.Text, err = o.ask(m[0], m[1]); err != nil {
				r.Status, r.Text = protocol.Failed, err.Error()
			}
			results = append(results, r.String())
		}
		body = strings.Join(results, "\n\n")
	}
	o.t.Fatalf("%s never answered", name)
	return "", nil
}

var mentionHead = regexp.MustCompile(`(?m)^ {0,3}@([\w-]+)[ :,]+`)

func mentionsIn(reply string) (out [][2]string) {
	heads := mentionHead.FindAllStringSubmatchIndex(reply, -1)
	for i, h := range heads {
		end := len(reply)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		out = append(out, [2]string{reply[h[2]:h[3]], strings.TrimSpace(reply[h[1]:end])})
	}
	return out
}

func TestCompanyInvestigates(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"where is the retry policy implemented?", "RetryPolicy はどこで実装されていますか？"} {
		o := newOffice(t)
		answer, err := o.ask("grand_boss", question)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"retry.go:4", "RetryPolicy", "retry_test.go:5"} {
			if !strings.Contains(answer, want) {
				t.Errorf("%s: got no %q in the report:\n%s", question, want, answer)
			}
		}
		hops := strings.Join(o.hops, "\n")
		for _, m := range team[1:] {
			if !strings.Contains(hops, "-> "+m.Name) {
				t.Errorf("got hops\n%s\nwant one to %s", hops, m.Name)
			}
		}
	}
}

func TestReportIsKeptWithItsMessages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if _, err := o.ask("grand_boss", "RetryPolicy"); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(reportPattern(o.files))
	if len(names) != 1 {
		t.Fatalf("got reports %v, want one", names)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	var kept reportFile
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	types := map[string]int{}
	for _, m := range kept.Messages {
		types[m.MessageType]++
	}
	if types["task_request"] == 0 || types["task_request"]+types["feedback"] != types["task_result"] {
		t.Errorf("got messages %v, want a result for each request", types)
	}
	if left, _ := filepath.Glob(filepath.Join(o.files, "*.memory.json")); len(left) != 0 {
		t.Errorf("got %v left of a finished investigation, want nothing", left)
	}
}

func TestFailedSpecialistIsAGap(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.broken = "testing_specialist"
	answer, err := o.ask("grand_boss", "RetryPolicy")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answer, `- static_analysis {"targets":["retry.go:4","retry.go:7"]}: context deadline exceeded`) {
		t.Errorf("the failed step is hidden in the report:\n%s", answer)
	}
}

func TestManagerFailsWhenNothingCanBeRead(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.code = filepath.Join(o.code, "missing")
	if _, err := o.ask("grand_boss", "RetryPolicy"); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v, want an error that names the folder", err)
	}
}

func TestStepsAreReadOnlyAsAWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		want       int
	}{
		{"steps", "step-1-1: tree\nstep-1-2: grep {\"pattern\":\"x\"}", 2},
		{"a bare command", `grep {"pattern":"x"}`, 1},
		{"a question", "find the bug", 1},
		{"a question below a command", "tree\nand then?", 0},
		{"words", "where is it?", 0},
	} {
		if got := len(readSteps(tc.body)); got != tc.want {
			t.Errorf("%s: got %d steps, want %d", tc.name, got, tc.want)
		}
	}
}

func TestMentionKeepsTextWhole(t *testing.T) {
	t.Parallel()
	got := mention("middle_manager", "what does\n@decorator do?\n  @other too")
	if want := "@middle_manager: what does\n> @decorator do?\n>   @other too"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResultsOfNoInvestigationArePassedOn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, me := range team[:2] {
		body := protocol.Result{From: "testing_specialist", Status: protocol.Success, Text: "done"}.String()
		got, err := Investigator(Desk{Member: me, Team: team, Code: o.code, Files: o.files}).Reply(t.Context(), protocol.Prompt{Body: body}, func(string) {})
		if err != nil || got != body {
			t.Errorf("%s: got %q, %v, want the results as they came", me.Name, got, err)
		}
	}
}

// A mention that was refused comes back as the hub's word. It is no question,
// and the answer to it must not mention anybody again.
func TestRefusedMentionIsAnsweredPlainly(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	refused := "@grand_boss: you may not ask this agent; the agents you may ask are: @testing_specialist"
	done := protocol.Result{From: "testing_specialist", Status: protocol.Success, Text: "done"}.String()
	for _, tc := range []struct{ name, body string }{
		{"alone", refused},
		{"two", refused + "\n\n@nobody: there is no agent of that name"},
		{"behind a result", done + "\n\n" + refused},
	} {
		for _, me := range team {
			if me.Role.Rank() == protocol.RankSpecialist && tc.name == "behind a result" {
				continue // nobody works for a specialist
			}
			brain := Investigator(Desk{Member: me, Team: team, Code: o.code, Files: o.files})
			got, err := brain.Reply(t.Context(), protocol.Prompt{From: protocol.Hub, Body: tc.body}, func(string) {})
			if err != nil || !strings.Contains(got, "you may not ask this agent") || strings.Contains(got, "Investigation") {
				t.Errorf("%s, %s: got %q, %v, want the error as it came", tc.name, me.Name, got, err)
			}
			if mentions := mentionsIn(got); len(mentions) > 0 {
				t.Errorf("%s, %s: got mentions %q, want none", tc.name, me.Name, mentions)
			}
		}
	}
}

func TestSpilledResultsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var want []string
	for i := range keptSpills + 5 {
		name := filepath.Join(dir, fmt.Sprintf("grep-%d.jsonl", 1000-i)) // the newest sorts first by name
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
		if i >= 5 {
			want = append(want, name)
		}
	}
	body := `grep {"pattern":"RetryPolicy"}`
	_, err := specialist{Desk{Member: team[2], Team: team, Code: newOffice(t).code, Files: dir}}.Reply(t.Context(), protocol.Prompt{Body: body}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	slices.Sort(want)
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
