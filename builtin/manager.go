package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/investigate"
	"orchestrator-cc/protocol"
)

// manager plans, dispatches, looks for gaps and merges.
type manager struct{ Desk }

// inquiry is what the manager remembers of an investigation under way.
type inquiry struct {
	Question string                `json:"question"`
	Round    int                   `json:"round"`
	Waiting  []investigate.Step    `json:"waiting"` // not dispatched yet
	Out      map[string]string     `json:"out"`     // step id -> who has it
	Steps    []investigate.Step    `json:"steps"`   // all that were dispatched
	Outcomes []investigate.Outcome `json:"outcomes"`
	// Messages is every message of the investigation, to be kept with the report.
	Messages []investigate.Envelope `json:"messages"`
}

func (m manager) Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error) {
	if _, ok := m.find(protocol.RankSpecialist); !ok {
		return m.alone(ctx, p.Body, say)
	}
	results := protocol.ParseResults(p.Body, m.names()...)
	if len(results) == 0 {
		in, err := m.begin(ctx, p.Body, say)
		if err != nil {
			return "", err
		}
		return m.goOn(ctx, in, say)
	}
	in, err := m.remember()
	if errors.Is(err, fs.ErrNotExist) {
		return noMention(p.Body), nil // no investigation of mine: passed on as they came
	}
	if err != nil {
		return "", err
	}
	in.take(results)
	return m.goOn(ctx, in, say)
}

// begin plans the first round from the question, the tree and what earlier
// reports on this code found.
func (m manager) begin(ctx context.Context, question string, say func(string)) (*inquiry, error) {
	root, err := investigate.Open(ctx, m.Code)
	if err != nil {
		return nil, err
	}
	tree, err := root.Tree(ctx, investigate.TreeQuery{Depth: 2})
	if err != nil {
		return nil, err
	}
	q := investigate.ParseQuestion(question, m.names()...)
	earlier := loadReports(m.Files)
	in := &inquiry{Question: question, Round: 1, Out: map[string]string{}}
	in.Waiting = investigate.Plan(q, tree, earlier)
	say(fmt.Sprintf("plan: %d steps from %d terms, %d files and %d earlier reports", len(in.Waiting), len(q.Terms), tree.Files, len(earlier)))
	return in, nil
}

// take notes what the specialists returned. A specialist that failed, or that
// left a step out, has failed each step it had.
func (in *inquiry) take(results []protocol.Result) {
	for _, r := range results {
		outcomes, err := investigate.DecodeOutcomes(r.Text)
		why := "no outcome came back"
		if r.Status == protocol.Failed {
			why = r.Text
		} else if err != nil {
			why = err.Error()
		}
		for _, s := range in.Steps {
			if in.Out[s.ID] != r.From {
				continue
			}
			o := investigate.Outcome{Step: s.ID, Command: s.Command, Error: why}
			if i := slices.IndexFunc(outcomes, func(o investigate.Outcome) bool { return o.Step == s.ID }); i >= 0 {
				o = outcomes[i]
			}
			in.Outcomes = append(in.Outcomes, o)
			message := investigate.ResultOf(s, o, time.Now().UTC())
			message.Sender = investigate.Role(r.From)
			in.Messages = append(in.Messages, message)
			delete(in.Out, s.ID)
		}
	}
}

// goOn dispatches what can run now, asks again where something is missing, and
// merges once there is nothing left to ask.
func (m manager) goOn(ctx context.Context, in *inquiry, say func(string)) (string, error) {
	q := investigate.ParseQuestion(in.Question, m.names()...)
	for {
		if ready := in.ready(q); len(ready) > 0 {
			return m.dispatch(in, ready, say)
		}
		more := investigate.Gaps(q, in.Outcomes, in.Round)
		if len(more) == 0 {
			break
		}
		in.Round++
		say(fmt.Sprintf("round %d: %d steps to fill gaps", in.Round, len(more)))
		in.Waiting = append(in.Waiting, more...)
	}
	report := investigate.Merge(q, in.Outcomes)
	if err := keepReport(m.Files, report, in.Messages); err != nil {
		say("the report is not kept: " + err.Error())
	}
	if err := m.forget(); err != nil {
		return "", err
	}
	return m.tell(report), ctx.Err()
}

// ready takes the waiting steps whose forerunners are done, refined by what
// those found. A step that waits for one which never comes is ready too.
func (in *inquiry) ready(q investigate.Question) (ready []investigate.Step) {
	pending := func(id string) bool {
		return slices.ContainsFunc(in.Waiting, func(s investigate.Step) bool { return s.ID == id })
	}
	var later []investigate.Step
	for _, s := range in.Waiting {
		if slices.ContainsFunc(s.After, pending) {
			later = append(later, s)
			continue
		}
		ready = append(ready, investigate.Refine(q, s, in.Outcomes))
	}
	in.Waiting = later
	return ready
}

// dispatch hands the steps out, each specialist's together, and remembers who
// has what.
func (m manager) dispatch(in *inquiry, steps []investigate.Step, say func(string)) (string, error) {
	lines := map[string][]string{}
	var order []string
	for _, s := range steps {
		name, ok := m.seatOf(s.Role)
		if !ok {
			return "", errors.New("there is no specialist to ask")
		}
		if lines[name] == nil {
			order = append(order, name)
		}
		lines[name] = append(lines[name], s.ID+": "+s.Command.String())
		in.Out[s.ID] = name
		in.Steps = append(in.Steps, s)
		message := investigate.RequestOf(s, time.Now().UTC())
		message.Receiver = investigate.Role(name)
		in.Messages = append(in.Messages, message)
	}
	if err := m.keep(in); err != nil {
		return "", err
	}
	say(fmt.Sprintf("%d steps for %s", len(steps), strings.Join(order, ", ")))
	var out []string
	for _, name := range order {
		out = append(out, mention(name, strings.Join(lines[name], "\n")))
	}
	return strings.Join(out, "\n"), nil
}

func (m manager) memory() string { return filepath.Join(m.Files, m.Name+".memory.json") }

func (m manager) keep(in *inquiry) error {
	data, err := json.Marshal(in)
	if err == nil {
		err = replaceFile(m.memory(), data)
	}
	if err != nil {
		return fmt.Errorf("remember the investigation: %w", err)
	}
	return nil
}

func (m manager) remember() (*inquiry, error) {
	data, err := os.ReadFile(m.memory())
	in := &inquiry{}
	if err == nil {
		err = json.Unmarshal(data, in)
	}
	if err != nil {
		return nil, fmt.Errorf("remember the investigation: %w", err)
	}
	return in, nil
}

func (m manager) forget() error {
	if err := os.Remove(m.memory()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("close the investigation: %w", err)
	}
	return nil
}
