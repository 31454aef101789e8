package agents

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Meter reads what a program's models took out of the book that the program
// itself keeps of its conversation, and why they failed where no hook tells:
//
//	the program -> its book (JSONL) -> Meter -> the stream, or the spool
//
// A hook cannot tell it: programs write their book a moment after they speak.
// A book is read from its beginning by each new meter, and each answer has an
// id, so nothing is missed while nobody reads and nothing counts twice. Prompts
// of ours stand in the book with their tags, so that each answer is known to be
// for its request, or for a person at the pane.
type Meter struct {
	memory string // the file in which the program's hooks say where the book is
	keeper bookkeeper
	mains  []string // the books of the conversations so far, the last one now
	books  map[string]*account
}

// bookkeeper is a skill whose program keeps a book.
type bookkeeper interface {
	// enter understands one line of it.
	enter(at *account, line []byte)
	// besides lists further books of the same conversation, where they are found
	// beside its own.
	besides(book string) []string
}

// account is how far a book is read.
type account struct {
	lines   spool
	since   time.Time // what stands there from before is not ours
	req     string    // whose turn runs
	model   string
	told    []protocol.Report
	pending *protocol.Report // of an answer that may go on in the next line
	moved   time.Time        // when there last was a new line
}

// unfinished is how long an answer's last line is waited for.
const unfinished = time.Second

// NewMeter is the meter of the program that has its files in a folder, nil for
// one that keeps no book we can read.
func NewMeter(hooks, folder string) *Meter {
	keeper, ok := skillOf(hooks).(bookkeeper)
	if !ok {
		return nil
	}
	return &Meter{memory: filepath.Join(folder, memoryFile), keeper: keeper, books: map[string]*account{}}
}

// News is what was written since the last call. A book that cannot be read now
// is read the next time.
func (m *Meter) News(now time.Time) []protocol.Report {
	known, err := recall(m.memory)
	if err != nil || known.Transcript == "" {
		return nil
	}
	if !slices.Contains(m.mains, known.Transcript) { // a person may begin a new conversation at any time
		m.mains = append(m.mains, known.Transcript)
	}
	var reports []protocol.Report
	for i, path := range m.mains {
		main := m.read(path, known, now)
		reports = append(reports, main.take()...)
		besides := m.keeper.besides(path)
		if i == len(m.mains)-1 {
			besides = append(besides, known.besides()...)
		}
		for _, path := range besides {
			for _, r := range m.read(path, known, now).take() {
				r.Req = main.req
				reports = append(reports, r)
			}
		}
	}
	return reports
}

func (m *Meter) read(path string, known memory, now time.Time) *account {
	at := m.books[path]
	if at == nil {
		at = &account{lines: spool{path: path}, since: known.Since, moved: now}
		m.books[path] = at
	}
	lines, _ := at.lines.lines()
	for _, line := range lines {
		m.keeper.enter(at, line)
	}
	if len(lines) > 0 {
		at.moved = now
	} else if now.Sub(at.moved) > unfinished {
		at.turn()
	}
	return at
}

// prompt notes whose turn begins. What the program itself adds to a turn, in
// tags of its own, belongs to that turn, and so does our asking for a marker.
func (c *account) prompt(text string) {
	req, text := protocol.ParsePrompt(text).Req, strings.TrimSpace(text)
	if strings.HasPrefix(text, forgotten) {
		return
	}
	if req != "" || text != "" && !strings.HasPrefix(text, "<") {
		c.req = req
	}
}

// took notes an answer. The next line may have more to say about it.
func (c *account) took(u protocol.Usage, at time.Time) {
	if c.pending != nil && c.pending.Usage.ID != u.ID {
		c.turn()
	}
	if u.Tokens != (protocol.Tokens{}) && !at.Before(c.since) {
		c.pending = &protocol.Report{Event: protocol.ReportUsage, Req: c.req, Usage: &u, Time: at}
	}
}

// turn says that nothing more comes for the last answer.
func (c *account) turn() {
	if c.pending != nil {
		c.told = append(c.told, *c.pending)
		c.pending = nil
	}
}

// fail notes that the turn of a request of ours has ended without an answer.
func (c *account) fail(why string, at time.Time) {
	c.turn()
	if c.req != "" && !at.Before(c.since) {
		c.told = append(c.told, protocol.Report{Event: protocol.ReportFailed, Req: c.req, Text: "the model gave no answer: " + why, Time: at})
	}
}

func (c *account) take() []protocol.Report {
	out := c.told
	c.told = nil
	return out
}
