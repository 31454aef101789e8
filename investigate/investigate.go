// Package investigate answers questions about a code tree without a model.
//
//	Open -> Root: tree, find, grep, signature_search, static_analysis
//	ParseQuestion -> Plan -> (commands, at once where they may) -> Gaps -> ... -> Merge -> Report
//
// The commands are plain functions with limits on lines, bytes and time. They
// read the tree and write nothing but files of cut results, in a folder that the
// caller names. Unreadable files, links in circles, binaries and giants are
// survived and reported; memory does not grow with the size of a file.
//
// The planning is pure: the same steps run in one process (Investigate) or in
// several, with commands and outcomes sent as text between them.
package investigate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options of an investigation; the zero value is good.
type Options struct {
	Progress func(string) // told what happens, one line each; called from one goroutine at a time
	Earlier  []Report     // earlier reports on the same code
	Limits   Limits       // of each command
	Agents   []string     // whose mentions in the question name nobody in the code
}

// maxAttempts is how often a step is tried before its failure is reported.
const maxAttempts = 2

// Investigate runs the whole flow in one process: the specialists work at the
// same time, the manager looks for gaps and asks again, at most MaxRounds. It
// returns the report and the messages that led to it.
func Investigate(ctx context.Context, question, path string, opt Options) (Report, []Envelope, error) {
	start := time.Now()
	root, err := Open(ctx, path)
	if err != nil {
		return Report{}, nil, err
	}
	inv := &investigation{root: root, q: ParseQuestion(question, opt.Agents...), opt: opt}
	tree, err := root.Tree(ctx, TreeQuery{Depth: 2})
	if err != nil {
		return Report{}, nil, err
	}
	steps := Plan(inv.q, tree, opt.Earlier)
	for round := 1; len(steps) > 0; round++ {
		inv.say(StatusInProgress, fmt.Sprintf("round %d: %d steps", round, len(steps)))
		if err := inv.round(ctx, steps); err != nil {
			return Report{}, inv.messages, err
		}
		steps = Gaps(inv.q, inv.outcomes, round)
	}
	report := Merge(inv.q, inv.outcomes)
	report.Elapsed = time.Since(start)
	inv.say(StatusCompleted, fmt.Sprintf("done: %d places, %d gaps", len(report.Places), len(report.Gaps)))
	return report, inv.messages, nil
}

// investigation is one run of the flow.
type investigation struct {
	root *Root
	q    Question
	opt  Options

	mu       sync.Mutex
	messages []Envelope
	outcomes []Outcome // in the order of the steps
}

func (v *investigation) say(status, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.messages = append(v.messages, StatusOf(text, status, time.Now().UTC()))
	if v.opt.Progress != nil {
		v.opt.Progress(text)
	}
}

// round runs the steps of one round in waves: a wave is every step whose
// predecessors are done, and in it each specialist works through its own.
func (v *investigation) round(ctx context.Context, steps []Step) error {
	results := make([]Outcome, len(steps))
	done := map[string]bool{}
	for len(done) < len(steps) {
		byRole := map[Role][]int{}
		for i, s := range steps {
			ready := !done[s.ID] && !slices.ContainsFunc(s.After, func(id string) bool { return !done[id] })
			if ready {
				byRole[s.Role] = append(byRole[s.Role], i)
			}
		}
		if len(byRole) == 0 {
			return errors.New("run plan: its steps wait for each other")
		}
		var wg sync.WaitGroup
		known := slices.Clone(v.outcomes)
		for i := range steps {
			if done[steps[i].ID] {
				known = append(known, results[i])
			}
		}
		for _, indexes := range byRole {
			wg.Go(func() {
				for _, i := range indexes {
					results[i] = v.step(ctx, Refine(v.q, steps[i], known))
				}
			})
		}
		wg.Wait()
		for _, indexes := range byRole {
			for _, i := range indexes {
				done[steps[i].ID] = true
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("investigate: %w", context.Cause(ctx))
		}
	}
	v.outcomes = append(v.outcomes, results...)
	return nil
}

// step runs one command, again where it fails, and records both messages.
func (v *investigation) step(ctx context.Context, s Step) Outcome {
	v.record(RequestOf(s, time.Now().UTC()))
	var o Outcome
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		var err error
		o, err = v.root.Run(ctx, s.Command, v.opt.Limits)
		if err == nil {
			o.Attempts = attempt
			break
		}
		o = Outcome{Command: s.Command, Error: err.Error(), Attempts: attempt}
		if ctx.Err() != nil {
			break
		}
	}
	o.Step = s.ID
	v.record(ResultOf(s, o, time.Now().UTC()))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.opt.Progress != nil {
		v.opt.Progress(fmt.Sprintf("%s: %s", s.Role, o.Summary()))
	}
	return o
}

func (v *investigation) record(e Envelope) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.messages = append(v.messages, e)
}
