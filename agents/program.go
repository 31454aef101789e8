package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// Program is an agent program at one pane: how it is started there, and how it
// is understood when it tells about itself. It is kept as a file, because both
// happen in processes of their own, which may outlive the hub:
//
//	hub: Save -> pane: Start, exec -> the program -> its hooks: Hear -> spool
//
// Nothing of the user's is written; what a program needs lies in Folder.
type Program struct {
	Agent   string   `json:"agent"`
	Engine  string   `json:"engine"`
	Skill   string   `json:"skill"`   // whose way of telling about itself it has; "" none
	Command []string `json:"command"` // as configured
	Args    []string `json:"args"`    // by which it gets its brief, where that goes by a flag
	Brief   string   `json:"brief"`
	Marker  string   `json:"marker"`
	Spool   string   `json:"spool"`
	Folder  string   `json:"folder"` // for its own files
	Self    string   `json:"self"`   // this binary, which its hooks run
	// TrustHooks says that the user trusts our hooks in a program that would
	// have a person review them.
	TrustHooks bool `json:"trust_hooks"`
}

// skill is what one known program can do beyond its description.
type skill interface {
	// start says with which arguments and environment the program begins, or
	// goes on with the conversation it had.
	start(p Program, m memory) (args, env []string, err error)
	// hear understands one hook.
	hear(p Program, m *memory, event string, data []byte) (Word, error)
}

func skillOf(name string) skill {
	switch name {
	case config.HooksClaude:
		return claude{}
	case config.HooksCodex:
		return codex{}
	case config.HooksGemini:
		return gemini{}
	case config.HooksOpenCode:
		return opencode{}
	}
	return nil
}

// Abilities says in a line what is known from a program itself, and what only
// from its screen.
func Abilities(hooks string) string {
	switch hooks {
	case config.HooksClaude, config.HooksCodex, config.HooksGemini, config.HooksOpenCode:
		return "tells what it took and answered; asks for approval in the inbox; goes on after a crash; is asked for a forgotten marker"
	}
	return "by its screen alone"
}

// programFile is where a program's folder keeps what its processes are told.
const programFile = "program.json"

// Save makes the program's folder and writes down what its processes need.
// It returns the file's path.
func (p Program) Save() (string, error) {
	if err := os.MkdirAll(p.Folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of %s: %w", p.Agent, err)
	}
	path := filepath.Join(p.Folder, programFile)
	if err := writeJSON(path, p); err != nil {
		return "", fmt.Errorf("keep how %s is started: %w", p.Agent, err)
	}
	return path, nil
}

// LoadProgram reads what Save has written.
func LoadProgram(path string) (Program, error) {
	var p Program
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return Program{}, fmt.Errorf("read how the program is started: %w", err)
	}
	return p, nil
}

// Start is the command line with which the program begins now, or goes on with
// the conversation it had, and what its environment needs beyond the pane's.
func (p Program) Start() (argv, env []string, err error) {
	argv = append(append(argv, p.Command...), p.Args...)
	s := skillOf(p.Skill)
	if s == nil {
		return argv, nil, nil
	}
	m, err := p.recall()
	if err != nil {
		return nil, nil, err
	}
	if m.Session == "" || m.Resuming || m.Forgotten {
		// A conversation that could not be taken up is not tried twice.
		m = memory{Session: protocol.NewID(), Since: m.Since}
	}
	args, env, err := s.start(p, m)
	if err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", p.Engine, err)
	}
	m.Resuming, m.Req = m.resumable(), ""
	if m.Since.IsZero() {
		m.Since = time.Now().UTC()
	}
	if err := p.remember(m); err != nil {
		return nil, nil, err
	}
	return append(argv, args...), env, nil
}

// Word is what a hook said.
type Word struct {
	Reports []protocol.Report // for the spool, before anything else
	Ask     *Question         // a person is to decide on this
	Output  []byte            // what the hook prints
}

// Question is a tool call that the program asks permission for.
type Question struct {
	Tool  string
	Input json.RawMessage
	// Allow and Deny are what the hook prints for either decision, and Over what
	// it prints where the task has ended meanwhile.
	Allow, Deny, Over []byte
	// Again says that the program asks in its pane too about what is allowed
	// here; see Permit.
	Again bool
}

// Hear understands one hook of the program. Reports are stamped by the caller.
func (p Program) Hear(event string, data []byte) (Word, error) {
	s := skillOf(p.Skill)
	if s == nil {
		return Word{}, fmt.Errorf("hear %s: engine %s has no hooks", event, p.Engine)
	}
	m, err := p.recall()
	if err != nil {
		return Word{}, err
	}
	before := m
	w, err := s.hear(p, &m, event, data)
	if err == nil && m != before {
		err = p.remember(m)
	}
	if err != nil {
		return w, fmt.Errorf("hear %s of %s: %w", event, p.Agent, err)
	}
	return w, nil
}

// memory is what is kept from one hook of a program to the next, and from one
// start to the next.
type memory struct {
	Session    string    `json:"session"`
	Told       bool      `json:"told,omitempty"`       // the program itself has named it
	Transcript string    `json:"transcript,omitempty"` // its own file of it, where it tells that too
	Resuming   bool      `json:"resuming,omitempty"`   // taken up, and not yet seen to run
	Forgotten  bool      `json:"forgotten,omitempty"`  // to be forgotten: the next prompt is in another one
	Req        string    `json:"req,omitempty"`        // the request whose turn runs
	Typed      bool      `json:"typed,omitempty"`      // a person typed it here
	Turn       string    `json:"turn,omitempty"`       // the program's own name for the turn, where it has one
	Unbriefed  bool      `json:"unbriefed,omitempty"`  // its conversation has no brief yet
	Asked      bool      `json:"asked,omitempty"`      // the marker was missing and has been asked for
	Unmarked   string    `json:"unmarked,omitempty"`   // the answer as it was without it
	Since      time.Time `json:"since,omitzero"`       // of the first start here
	Besides    string    `json:"besides,omitempty"`    // the files of its subagents' conversations, a line each
}

// resumable says that there is a conversation to go on with. A program names
// one before the first word of it is on disk.
func (m memory) resumable() bool {
	if m.Transcript == "" {
		return m.Told
	}
	_, err := os.Stat(m.Transcript)
	return err == nil
}

// mostBesides bounds how many subagents' files are known by name; the oldest are
// read by then.
const mostBesides = 100

// beside notes the file of a subagent's conversation.
func (m *memory) beside(path string) {
	known := m.besides()
	if path == "" || slices.Contains(known, path) {
		return
	}
	known = append(known, path)
	m.Besides = strings.Join(known[max(0, len(known)-mostBesides):], "\n")
}

func (m memory) besides() []string {
	return strings.FieldsFunc(m.Besides, func(r rune) bool { return r == '\n' })
}

// memoryFile is where a program's folder keeps it.
const memoryFile = "memory.json"

func (p Program) memoryFile() string { return filepath.Join(p.Folder, memoryFile) }

func (p Program) recall() (memory, error) {
	m, err := recall(p.memoryFile())
	if err != nil {
		return memory{}, fmt.Errorf("read the memory of %s: %w", p.Agent, err)
	}
	return m, nil
}

func recall(path string) (m memory, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return memory{}, nil
	}
	if err != nil {
		return memory{}, err
	}
	if json.Unmarshal(data, &m) != nil {
		return memory{}, nil // a torn file is worth no more than none
	}
	return m, nil
}

func (p Program) remember(m memory) error {
	if err := writeJSON(p.memoryFile(), m); err != nil {
		return fmt.Errorf("keep the memory of %s: %w", p.Agent, err)
	}
	return nil
}

// BeginAnew keeps the program that has its files in a folder from going on, at
// its next start, with the conversation it has now. It holds until the program
// takes a prompt: some say nothing of a conversation before there is one in it.
func BeginAnew(folder string) error {
	path := filepath.Join(folder, memoryFile)
	m, err := recall(path)
	if err == nil && m != (memory{}) {
		m.Forgotten = true
		err = writeJSON(path, m)
	}
	if err != nil {
		return fmt.Errorf("forget the conversation: %w", err)
	}
	return nil
}

// forgotten begins what a program is told whose answer lacks its marker.
const forgotten = "Your reply does not end with your marker."

// begin notes that a turn began with a prompt: one of ours, or what a person
// typed, which is a task of the user that runs already. A turn that was still
// open ended without a word.
func (m *memory) begin(prompt, turn string) []protocol.Report {
	m.Forgotten = false
	if m.Asked && strings.HasPrefix(prompt, forgotten) {
		return nil // our own word, which some programs take as a prompt
	}
	asked := protocol.ParsePrompt(prompt)
	var reports []protocol.Report
	if m.Req != asked.Req {
		reports = m.fail("its turn was interrupted")
	}
	for i := range reports {
		reports[i].Final = true // a person did it, and wants it so
	}
	begun := protocol.Report{Event: protocol.ReportAccepted, Req: asked.Req}
	switch {
	case asked.Req != "":
	case asked.Body == "":
		return reports
	default:
		begun = protocol.Report{Event: protocol.ReportTyped, Req: protocol.NewReq(), Text: asked.Body}
	}
	m.Req, m.Turn, m.Typed = begun.Req, turn, asked.Req == ""
	m.Asked, m.Unmarked = false, ""
	return append(reports, begun)
}

// end closes the turn with its answer. An answer without its marker is asked
// for it once: ask is then what to tell the program, and nothing is reported.
func (m *memory) end(p Program, text string) (reports []protocol.Report, ask string) {
	switch {
	case m.Req == "":
		return nil, ""
	case m.Typed: // a person reads the answer as it is
		return m.answer(text), ""
	}
	if m.Asked {
		text = mended(m.Unmarked, text)
	} else if !newMarker(p.Marker, true).in(text) {
		m.Asked, m.Unmarked = true, text
		return []protocol.Report{{Event: protocol.ReportProgress, Req: m.Req, Text: "the answer lacks its marker and was asked for it"}},
			// The whole token stands in no prompt, this one not excepted: it is shown too.
			fmt.Sprintf("%s Reply with one line and nothing else: your marker, then %s in angle brackets.", forgotten, m.Req)
	}
	return m.answer(text), ""
}

// stop is the word on a turn that would end, of a program whose hook may keep
// it from ending by saying what is still wanted.
func (m *memory) stop(p Program, text string) (w Word) {
	reports, ask := m.end(p, text)
	w.Reports = reports
	if ask != "" {
		w.Output = mustJSON(map[string]any{"decision": "block", "reason": ask})
	}
	return w
}

// answer closes the turn with an answer, whatever it looks like.
func (m *memory) answer(text string) []protocol.Report {
	return m.close(protocol.ReportAnswer, text)
}

// fail closes the turn without one.
func (m *memory) fail(why string) []protocol.Report {
	return m.close(protocol.ReportFailed, why)
}

// wall closes it at a quota or a rate limit, in the program's own words.
func (m *memory) wall(words string) []protocol.Report {
	reports := m.close(protocol.ReportWall, words)
	for i := range reports {
		reports[i].Until = resetOf(words, time.Now())
	}
	return reports
}

func (m *memory) close(event protocol.ReportEvent, text string) []protocol.Report {
	if m.Req == "" {
		return nil
	}
	r := protocol.Report{Event: event, Req: m.Req, Text: text}
	m.Req, m.Typed, m.Turn, m.Asked, m.Unmarked = "", false, "", false, ""
	return []protocol.Report{r}
}

// mended joins an answer with the marker that was asked for later. A program
// that answers everything again is taken at its last word.
func mended(first, second string) string {
	if strings.Contains(strings.TrimSpace(second), "\n") {
		return second
	}
	return strings.TrimRight(first, "\n") + "\n" + second
}

// alive says that the turn goes on.
func (m memory) alive() []protocol.Report {
	if m.Req == "" {
		return nil
	}
	return []protocol.Report{{Event: protocol.ReportProgress, Req: m.Req}}
}

// hookCommand is the shell command of one hook.
func (p Program) hookCommand(event string) string {
	return strings.Join([]string{quoted(p.Self), "hook", "--program", quoted(filepath.Join(p.Folder, programFile)), event}, " ")
}

// quoted is a word as a shell takes it literally.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// writeJSON replaces a file as a whole, for whoever reads it meanwhile.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(data, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// BriefArgs are the arguments by which an engine gets its brief, where that
// goes by a flag; the file, where it needs one, lies in the folder.
func BriefArgs(e config.Engine, brief, folder string) ([]string, error) {
	value := brief
	switch {
	case brief == "" || e.Personality != config.ByFlag && e.Personality != config.ByFile:
		return nil, nil
	case e.Personality == config.ByFile:
		value = filepath.Join(folder, "brief.txt")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("keep the brief: %w", err)
		}
		if err := os.WriteFile(value, []byte(brief), 0o600); err != nil {
			return nil, fmt.Errorf("keep the brief: %w", err)
		}
	}
	if strings.HasSuffix(e.Flag, "=") {
		return []string{e.Flag + value}, nil
	}
	return []string{e.Flag, value}, nil
}
