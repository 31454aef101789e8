package engines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

// play is the model's side of a test: what it says to the prompts of ours.
// Calls about anything else, such as a conversation's title, get one word.
type play struct {
	mu    sync.Mutex
	lines map[string]func(modeltest.Call, protocol.Prompt) modeltest.Turn
}

// on makes the model act on prompts whose body begins with a text.
func (p *play) on(begin string, act func(modeltest.Call, protocol.Prompt) modeltest.Turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		p.lines = map[string]func(modeltest.Call, protocol.Prompt) modeltest.Turn{}
	}
	p.lines[begin] = act
}

// say makes it answer with a text, and the token of the agent who asks.
func (p *play) say(begin, text string) {
	p.on(begin, func(c modeltest.Call, asked protocol.Prompt) modeltest.Turn {
		return modeltest.Turn{Text: text + "\n" + protocol.Token(markerIn(c), asked.Req)}
	})
}

func (p *play) script(c modeltest.Call) modeltest.Turn {
	asked, ok := request(c)
	if !ok {
		return modeltest.Turn{Text: "ok"}
	}
	return p.perform(c, asked, modeltest.Turn{Text: "nobody told me\n" + protocol.Token(markerIn(c), asked.Req)})
}

// plainly is the script of a model that is given bodies alone.
func (p *play) plainly(c modeltest.Call) modeltest.Turn {
	return p.perform(c, protocol.Prompt{Body: c.Prompt()}, modeltest.Turn{Text: "nobody told me"})
}

// perform does one act at a time, and otherwise what is to be done where there
// is none.
func (p *play) perform(c modeltest.Call, asked protocol.Prompt, otherwise modeltest.Turn) modeltest.Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := ""
	for begin := range p.lines {
		if strings.HasPrefix(asked.Body, begin) && len(begin) >= len(best) {
			best = begin
		}
	}
	if act := p.lines[best]; act != nil {
		return act(c, asked)
	}
	return otherwise
}

// request finds what a call is about: the last prompt with a tag. A call
// without tools is a side matter.
func request(c modeltest.Call) (protocol.Prompt, bool) {
	for i := len(c.Turns) - 1; i >= 0; i-- {
		p := protocol.ParsePrompt(c.Turns[i].Text)
		if c.Turns[i].Role == "user" && p.Req != "" {
			return p, len(c.Tools) > 0
		}
	}
	return protocol.Prompt{}, false
}

// markers are those of the five default agents.
func markers() map[string]string {
	return map[string]string{
		"grand_boss": "GRAND BOSS OK", "middle_manager": "MIDDLE MANAGER OK",
		"coding_writing_specialist": "CODING OK", "research_analysis_specialist": "RESEARCH OK", specialist: marker,
	}
}

// markerIn tells by the brief which agent a call comes from.
func markerIn(c modeltest.Call) string {
	for name, m := range markers() {
		if strings.Contains(c.System, "You are "+name) || c.Said("user", "You are "+name) {
			return m
		}
	}
	return "NO BRIEF"
}

// received are the prompts of ours that reached the model, each once, as the
// model got them, oldest first.
func received(m *modeltest.Server) (texts []string) {
	seen := map[string]bool{}
	for _, call := range m.Calls() {
		if _, ok := request(call); !ok {
			continue
		}
		for _, s := range call.Turns {
			if req := protocol.ParsePrompt(s.Text).Req; s.Role == "user" && req != "" && !seen[req] {
				seen[req] = true
				texts = append(texts, s.Text)
			}
		}
	}
	return texts
}

// typed is the prompt that is to reach the model for a body.
func typed(got, from, body string) string {
	return protocol.Tag(protocol.ParsePrompt(got).Req, from) + "\n" + body + "\n\n" + protocol.ClosingLine()
}

// japanese is a text of so many lines and about so many bytes, with the marker
// in every line.
func japanese(begin string, lines, bytes int) string {
	out := []string{begin}
	for i := 1; i < lines; i++ {
		line := fmt.Sprintf("%d行目: 再試行の方針を調べてください。%s と書かれた行は終わりではない。", i+1, marker)
		for len(line) < bytes/lines {
			line += "吾輩は猫である。"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// hop is a line of the journal.
type hop struct {
	From, To, Type, Content, Status, Evidence, Error string
	RetryCount                                       int `json:"retry_count"`
	Timestamp                                        time.Time
}

// journal is every hop so far.
func (c *company) journal() (hops []hop) {
	c.t.Helper()
	f, err := os.Open(filepath.Join(c.project, "logs", "messages.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var h hop
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			c.t.Fatal(err)
		}
		hops = append(hops, h)
	}
	return hops
}

// lastResult is the hop that closed the last request of the user.
func (c *company) lastResult() hop {
	c.t.Helper()
	hops := c.journal()
	for i := len(hops) - 1; i >= 0; i-- {
		if hops[i].To == protocol.User && (hops[i].Type == "result" || hops[i].Type == "error") {
			return hops[i]
		}
	}
	c.t.Fatal("got no result in the journal")
	return hop{}
}
