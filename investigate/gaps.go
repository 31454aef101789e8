package investigate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MaxRounds is how often the manager looks at the results: the plan, and two
// rounds of feedback.
const MaxRounds = 3

// Gaps looks for what is missing in the outcomes and returns the steps that may
// fill it, nothing once the answer is complete or the rounds are used up. round
// is the round whose outcomes are complete.
func Gaps(q Question, outcomes []Outcome, round int) []Step {
	if round >= MaxRounds {
		return nil
	}
	p := &planner{round: round + 1}
	ran := map[string]bool{}
	for _, o := range outcomes {
		if !o.Failed() {
			ran[o.Command.String()] = true
		}
	}
	p.retryFailed(outcomes, ran)
	if !q.Overview() {
		p.widen(q, outcomes)
		p.narrow(q, outcomes)
		p.analyse(q, outcomes)
	}
	fresh := p.steps[:0]
	for _, s := range p.steps {
		if !ran[s.Command.String()] {
			fresh = append(fresh, s)
		}
	}
	return fresh
}

// retryFailed asks again for what failed and did not succeed since.
func (p *planner) retryFailed(outcomes []Outcome, ran map[string]bool) {
	for _, o := range outcomes {
		if o.Failed() && !ran[o.Command.String()] {
			if q, err := o.Command.query(); err == nil {
				p.add(roleOf(o.Command.Name), q, "it failed: "+clip(o.Error, 120))
			}
		}
	}
}

func roleOf(command string) Role {
	switch command {
	case CommandSignatures:
		return Coding
	case CommandStatic:
		return Testing
	}
	return Research
}

// widen searches differently for terms that were found nowhere: in any case, and
// by the words that a name is made of.
func (p *planner) widen(q Question, outcomes []Outcome) {
	for _, t := range q.Terms {
		if t.Kind == TermFile || t.Kind == TermPhrase || found(t, outcomes) {
			continue
		}
		if len(t.words()) == 0 {
			p.add(Research, GrepQuery{Pattern: regexp.QuoteMeta(t.Text), IgnoreCase: true}, t.Text+" was not found as it is written")
		}
		if words := splitName(t.Text); len(words) > 1 {
			for i := range words {
				words[i] = regexp.QuoteMeta(words[i])
			}
			loose := strings.Join(words, `[-_ ]?`)
			p.add(Research, GrepQuery{Pattern: loose, IgnoreCase: true}, t.Text+" may be spelled otherwise")
			p.add(Coding, SignatureQuery{Pattern: loose, IgnoreCase: true}, t.Text+" may be spelled otherwise")
		}
	}
}

// found tells whether any outcome has the term.
func found(t Term, outcomes []Outcome) bool {
	m := newTermMatcher(t)
	for _, o := range outcomes {
		if o.Grep != nil && slices.ContainsFunc(o.Grep.Hits, func(h Hit) bool { return m.matches(h.Text) }) {
			return true
		}
		if o.Signatures != nil && slices.ContainsFunc(o.Signatures.Signatures, func(s Signature) bool { return m.matches(s.Qualified()) }) {
			return true
		}
	}
	return false
}

// narrow asks a cut search again inside the folder that has most of its hits:
// the first ones in order of the path are rarely the best.
func (p *planner) narrow(q Question, outcomes []Outcome) {
	for _, o := range outcomes {
		if o.Digest == nil || o.Grep == nil || len(o.Grep.Top) == 0 {
			continue
		}
		query, err := o.Command.query()
		if err != nil {
			continue
		}
		g := query.(GrepQuery)
		if g.Under != "" {
			continue
		}
		g.Under = bestFile(o.Grep.Top)
		p.add(Research, g, fmt.Sprintf("only %d of %d lines were shown; most are here", o.Digest.Shown, o.Digest.Total))
	}
}

// bestFile is the file with most hits that is neither a test nor someone else's.
func bestFile(top []FileCount) string {
	for _, f := range top {
		if !isTestPath(f.Path) && !isSidePath(f.Path) {
			return f.Path
		}
	}
	return top[0].Path
}

// analyse asks for the analysis of places found since the last one.
func (p *planner) analyse(q Question, outcomes []Outcome) {
	for _, o := range outcomes {
		if o.Static != nil && len(o.Static.Subjects) > 0 {
			return
		}
	}
	if targets := bestTargets(q, outcomes); len(targets) > 0 {
		p.add(Testing, StaticQuery{Targets: targets, Locale: q.locale()}, "nothing has been analysed yet")
	}
}
