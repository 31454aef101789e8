package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/protocol"
)

// echo is a brain that repeats what it was given.
type echo struct{}

func (echo) Reply(_ context.Context, p protocol.Prompt, _ func(string)) (string, error) {
	return p.Body, nil
}

// pane runs an agent with its terminal in the test's hands.
type pane struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *lockedBuffer
	spool string
	ended chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T) *pane {
	t.Helper()
	return startBrain(t, &Drill{Else: echo{}})
}

func startBrain(t *testing.T, b Brain) *pane {
	t.Helper()
	r, w := io.Pipe()
	p := &pane{t: t, in: w, out: &lockedBuffer{}, spool: filepath.Join(t.TempDir(), "spool"), ended: make(chan error, 1)}
	go func() {
		p.ended <- Run(t.Context(), Options{
			Name: "testing_specialist", Role: protocol.SpecialistTesting, Marker: "TESTING OK",
			Spool: p.spool, Brain: b, In: r, Out: p.out, Width: func() int { return 80 },
		})
	}()
	t.Cleanup(func() { w.Close() })
	p.waitFor(protocol.ReportReady, "")
	return p
}

func (p *pane) typed(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, s); err != nil {
		p.t.Fatalf("type %q: %v", s, err)
	}
}

func (p *pane) paste(parts ...string) {
	p.t.Helper()
	for _, part := range parts {
		p.typed(pasteBegin + part + pasteEnd)
	}
}

func (p *pane) reports() (all []protocol.Report) {
	data, err := os.ReadFile(p.spool)
	if err != nil {
		return nil
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var r protocol.Report
		if json.Unmarshal(s.Bytes(), &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

func (p *pane) waitFor(e protocol.ReportEvent, req string) protocol.Report {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		for _, r := range p.reports() {
			if r.Event == e && r.Req == req {
				return r
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.t.Fatalf("got reports %v, want %s of %q; screen:\n%s", p.reports(), e, req, p.out)
		}
	}
}

func TestPromptIsAcceptedThenAnswered(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.paste(protocol.Tag("k3v9q2", "user")+"\n", "/say hello\n/say 日本語\n"+protocol.ClosingLine())
	p.typed("\r")
	got := p.waitFor(protocol.ReportAnswer, "k3v9q2")
	if want := "hello\n日本語\nTESTING OK"; got.Text != want {
		t.Errorf("got answer %q, want %q", got.Text, want)
	}
	var order []protocol.ReportEvent
	for _, r := range p.reports() {
		order = append(order, r.Event)
	}
	want := []protocol.ReportEvent{protocol.ReportReady, protocol.ReportAccepted, protocol.ReportAnswer}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order of reports (-want +got):\n%s", diff)
	}
}

func TestAnswerIsReportedBeforeItIsShown(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.paste(protocol.Tag("aaaaaa", "user")+"\n", "/say seen\n"+protocol.ClosingLine())
	p.typed("\r")
	p.waitFor(protocol.ReportAnswer, "aaaaaa")
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(p.out.String(), "TESTING OK <aaaaaa>") {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("token never shown; screen:\n%s", p.out)
		}
	}
}

func TestTurnsThatEndBadly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, body, want string }{
		{"told to fail", "/fail no luck", "no luck"},
		{"unknown command", "/dance", "unknown command /dance; use /say, /think, /lines, /tokens, /fail, /wall, /die, /delegate or /shell"},
		{"no shell", "/shell ls", "/shell is off; set ORCHESTRATOR_CC_SHELL=1 in the agent's env to have it, with a person's approval each time"},
		{"bad duration", "/think soon", `/think needs a duration, got "soon"`},
		{"bad number", "/lines many", `/lines needs a number, got "many"`},
		{"half a count", "/tokens 10", `/tokens needs two numbers, got "10"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			p.paste(protocol.Tag("bbbbbb", "user")+"\n", tc.body)
			p.typed("\r")
			if got := p.waitFor(protocol.ReportFailed, "bbbbbb").Text; got != tc.want {
				t.Errorf("got reason %q, want %q", got, tc.want)
			}
		})
	}
}

func TestEscapeInterruptsTheTurn(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.paste(protocol.Tag("cccccc", "user")+"\n", "/think 10m\n/say never")
	p.typed("\r")
	p.waitFor(protocol.ReportAccepted, "cccccc")
	p.typed("\x1b")
	if got := p.waitFor(protocol.ReportFailed, "cccccc").Text; got != "interrupted" {
		t.Errorf("got reason %q, want interrupted", got)
	}
	p.paste(protocol.Tag("dddddd", "user")+"\n", "/say alive")
	p.typed("\r")
	p.waitFor(protocol.ReportAnswer, "dddddd")
}

// A program that ends says nothing of the turn that it leaves: that its terminal
// is gone is no word of a person.
func TestHangUpIsNoInterrupt(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.paste(protocol.Tag("cccccc", "user")+"\n", "/think 10m\n/say never")
	p.typed("\r")
	p.waitFor(protocol.ReportAccepted, "cccccc")
	p.in.Close()
	<-p.ended
	for _, r := range p.reports() {
		if r.Event == protocol.ReportFailed {
			t.Errorf("got %+v, want no word", r)
		}
	}
}

// What a turn took is told before its end, whichever that is.
func TestTokensAreTold(t *testing.T) {
	t.Parallel()
	for body, end := range map[string]protocol.ReportEvent{"/tokens 12 3\n/say hi": protocol.ReportAnswer, "/tokens 12 3\n/fail no luck": protocol.ReportFailed} {
		p := start(t)
		p.paste(protocol.Tag("tttttt", "user")+"\n", body)
		p.typed("\r")
		p.waitFor(end, "tttttt")
		reports := p.reports()
		at := len(reports) - 2
		if got := reports[at]; got.Event != protocol.ReportUsage || got.Req != "tttttt" || got.Usage.ID == "" || got.Usage.Tokens != (protocol.Tokens{Input: 12, Output: 3}) {
			t.Errorf("got %+v before the end, want what the turn took", got)
		}
	}
}

func TestDieEndsTheProgram(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.paste(protocol.Tag("eeeeee", "user")+"\n", "/die")
	p.typed("\r")
	select {
	case err := <-p.ended:
		if !errors.Is(err, ErrQuit) {
			t.Errorf("got %v, want %v", err, ErrQuit)
		}
	case <-time.After(10 * time.Second):
		t.Error("the program still runs")
	}
}

func TestPromptsWaitTheirTurn(t *testing.T) {
	t.Parallel()
	p := start(t)
	for _, req := range []string{"111111", "222222"} {
		p.paste(protocol.Tag(req, "user")+"\n", "/think 20ms\n/say "+req)
		p.typed("\r")
	}
	p.waitFor(protocol.ReportAnswer, "222222")
	var answers []string
	for _, r := range p.reports() {
		if r.Event == protocol.ReportAnswer {
			answers = append(answers, r.Req)
		}
	}
	if diff := cmp.Diff([]string{"111111", "222222"}, answers); diff != "" {
		t.Errorf("order of answers (-want +got):\n%s", diff)
	}
}

func TestDelegateWritesMentions(t *testing.T) {
	t.Parallel()
	body := "/delegate middle_manager\n  /delegate testing_specialist\n    /say deep\n/say rest"
	got, err := (&Drill{}).Reply(t.Context(), protocol.Prompt{Body: body}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "@middle_manager:\n/delegate testing_specialist\n  /say deep\nrest"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatAPersonTypesGoesToTheHub(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.typed("/saa\x7fy hi\r")
	if got := p.waitFor(protocol.ReportTyped, "").Text; got != "/say hi" {
		t.Errorf("got %q, want what was typed", got)
	}
	if strings.Contains(p.out.String(), "● hi") {
		t.Errorf("the program answered by itself:\n%s", p.out)
	}
}

func TestUselessAttemptsAreFinal(t *testing.T) {
	t.Parallel()
	for body, final := range map[string]bool{"/dance": true, "/think soon": true, "/fail no luck": false} {
		p := start(t)
		p.paste(protocol.Tag("ffffff", "user")+"\n", body)
		p.typed("\r")
		if got := p.waitFor(protocol.ReportFailed, "ffffff").Final; got != final {
			t.Errorf("%s: got final %v, want %v", body, got, final)
		}
	}
}

func TestControlCharactersNeverReachTheTerminal(t *testing.T) {
	t.Parallel()
	got := clean(dim + "a\x1b[2Jb\x07c\u009bd" + reset)
	if want := dim + "a[2Jbcd" + reset; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDraftAndPromptDoNotSpoilEachOther(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.typed("half a th")
	p.paste(protocol.Tag("hhhhhh", "user"), "\n/say whole\n\n"+protocol.ClosingLine())
	p.typed("ought\r")
	if got := p.waitFor(protocol.ReportAnswer, "hhhhhh").Text; got != "whole\nTESTING OK" {
		t.Errorf("got answer %q, want the prompt's own", got)
	}
	p.typed("\r")
	if got := p.waitFor(protocol.ReportTyped, "").Text; got != "half a thought" {
		t.Errorf("got %q, want the draft as it was typed", got)
	}
}

func TestInterruptTakesBackAPromptAndLeavesADraft(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.typed("a draft")
	p.paste(protocol.Tag("iiiiii", "user"), "\n/say never")
	p.typed("\x03\r")
	if got := p.waitFor(protocol.ReportTyped, "").Text; got != "a draft" {
		t.Errorf("got %q, want the draft alone", got)
	}
	for _, r := range p.reports() {
		if r.Req == "iiiiii" {
			t.Errorf("got %v, want nothing of the prompt that was taken back", r)
		}
	}
}

func TestChatForgetsOnCommand(t *testing.T) {
	t.Parallel()
	c := &Chat{history: []utterance{{"user", "secret"}}}
	p := startBrain(t, c)
	p.typed("/clear\r/nothing\r")
	p.waitFor(protocol.ReportTyped, "")
	p.in.Close()
	<-p.ended
	var events []protocol.ReportEvent
	for _, r := range p.reports() {
		events = append(events, r.Event)
	}
	slices.Sort(events)
	if diff := cmp.Diff([]protocol.ReportEvent{protocol.ReportReady, protocol.ReportReady, protocol.ReportTyped}, events); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if len(c.history) != 0 {
		t.Errorf("got %v, want an empty conversation", c.history)
	}
}
