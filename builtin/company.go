package builtin

import (
	"context"
	"strings"

	"orchestrator-cc/investigate"
	"orchestrator-cc/protocol"
)

// A company of investigators answers questions about a code base without a
// model. Each role has its brain; they talk as any agents do, by mentions in
// their replies and results in their prompts:
//
//	boss        question -> @manager question          results -> the report
//	manager     question -> plan -> @specialists steps  results -> more steps, or merge
//	specialist  steps -> run each -> outcomes
//
// The manager remembers its investigation on disk, so one that is restarted in
// the middle goes on with the results that come.

// Member is one agent of the company, as the others know it.
type Member struct {
	Name string
	Role protocol.Role
}

// Desk is what an investigator works with.
type Desk struct {
	Member
	Team  []Member
	Code  string // the folder that is investigated
	Files string // the folder for memory, reports and what did not fit a prompt

	cited *[]string // what the report at hand rests on
}

// Investigator picks the brain of a role.
func Investigator(d Desk) Brain {
	d.cited = new([]string)
	switch d.Role.Rank() {
	case protocol.RankBoss:
		return listener{d, boss{d}}
	case protocol.RankManager:
		return listener{d, manager{d}}
	}
	return listener{d, specialist{d}}
}

// listener tells what is for a brain from what is not: the hub itself asks
// nothing, so a text of its own says that a mention could not be followed. To
// investigate it would be nonsense, and to repeat it as it came would be the
// same mention again.
type listener struct {
	Desk
	brain Brain
}

func (l listener) Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error) {
	if p.From == protocol.Hub && len(protocol.ParseResults(p.Body, l.names()...)) == 0 {
		return "I could not delegate:\n" + noMention(p.Body), nil
	}
	return l.brain.Reply(ctx, p, say)
}

// Sources are the files that the last report rests on.
func (l listener) Sources() []string {
	cited := *l.cited
	*l.cited = nil
	return cited
}

// tell words a report and keeps in mind what it rests on.
func (d Desk) tell(r investigate.Report) string {
	if d.cited != nil {
		*d.cited = r.Sources()
	}
	return r.Markdown()
}

// boss passes the question on and reports what comes back.
type boss struct{ Desk }

func (b boss) Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error) {
	m, ok := b.find(protocol.RankManager)
	if !ok {
		return b.alone(ctx, p.Body, say)
	}
	results := protocol.ParseResults(p.Body, b.names()...)
	switch {
	case len(results) == 0:
		say("this is for " + m.Name)
		return mention(m.Name, p.Body), nil
	case len(results) > 1 || results[0].From != m.Name:
		return noMention(p.Body), nil // no investigation: passed on as it came
	case results[0].Status == protocol.Failed:
		return "", uselessf("%s could not investigate: %s", m.Name, results[0].Text)
	}
	return noMention(results[0].Text), nil
}

// alone investigates in this process, for want of anybody to ask.
func (d Desk) alone(ctx context.Context, question string, say func(string)) (string, error) {
	report, _, err := investigate.Investigate(ctx, question, d.Code, investigate.Options{Progress: say, Agents: d.names()})
	if err != nil {
		return "", err
	}
	return d.tell(report), nil
}

// find returns the first member of a rank.
func (d Desk) find(rank protocol.Rank) (Member, bool) {
	for _, m := range d.Team {
		if m.Role.Rank() == rank {
			return m, true
		}
	}
	return Member{}, false
}

func (d Desk) names() (names []string) {
	for _, m := range d.Team {
		names = append(names, m.Name)
	}
	return names
}

// seatOf finds who does a kind of work: the member of that name, else the
// specialist whose role speaks of it, else any specialist.
func (d Desk) seatOf(work investigate.Role) (string, bool) {
	word, _, _ := strings.Cut(string(work), "_")
	var spoken, any string
	for _, m := range d.Team {
		switch {
		case m.Role.Rank() != protocol.RankSpecialist:
		case m.Name == string(work):
			return m.Name, true
		case spoken == "" && strings.Contains(string(m.Role), word):
			spoken = m.Name
		case any == "":
			any = m.Name
		}
	}
	if spoken == "" {
		spoken = any
	}
	return spoken, spoken != ""
}

// mention writes a delegation.
func mention(name, text string) string { return "@" + name + ": " + noMention(text) }

// noMention keeps text from delegating: a line that begins with @, indented or
// not, would be a mention of its own; as a quotation it is text.
func noMention(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "@") {
			lines[i] = "> " + line
		}
	}
	return strings.Join(lines, "\n")
}
