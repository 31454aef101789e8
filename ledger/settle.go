package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Answer is what an agent said at the end of a turn.
type Answer struct {
	Text      string   `json:"text"`
	Evidence  string   `json:"evidence,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	Sources   []string `json:"sources,omitempty"` // files that it rests on
}

// Failure is the end of an attempt without an answer.
type Failure struct {
	Code      protocol.Code
	Reason    string
	Partial   string
	Again     bool // another attempt cannot do the work twice
	Truncated bool
	Until     time.Time // when the quota or rate limit ends that was hit, where that is known
}

// errorDetails is what our errors tell beyond their message.
type errorDetails struct {
	Partial string `json:"partial,omitempty"`
}

// Settle makes the batch that ends a turn: the delegations the answer makes,
// or the response that ends the task, or for a note only the recorded text. It
// is empty when the delivery is no longer under way.
func (l *Ledger) Settle(d Delivery, a Answer, now time.Time) []protocol.Entry {
	p := l.underWay(d)
	if p == nil {
		return nil
	}
	s := d.step(protocol.Answered)
	s.Evidence, s.Truncated, s.Text, s.Sources = a.Evidence, a.Truncated, a.Text, a.Sources
	n := p.node
	if n == nil || !n.open() || n.Doom != nil {
		return []protocol.Entry{stepEntry(now, s)}
	}
	mentions, rest := readMentions(a.Text, n.seat.marker)
	switch {
	case len(mentions) > 0:
		s.Text = rest
		return l.delegate(n, s, mentions, now)
	case n.openKids > 0 || len(n.Results) > 0:
		return []protocol.Entry{stepEntry(now, s)} // delegates made by tool are still to be heard
	}
	s.Text = ""
	return l.fresh(l.response(n, a, now), stepEntry(now, s))
}

// Fail makes the entry that ends an attempt without an answer. What follows
// from it, the next attempt or the error to the asker, Next tells once the
// entry is applied. It is empty when the delivery is no longer under way.
func (l *Ledger) Fail(d Delivery, f Failure, now time.Time) []protocol.Entry {
	if l.underWay(d) == nil {
		return nil
	}
	s := d.step(protocol.Undone)
	s.Code, s.Reason, s.Text, s.Again, s.Truncated = f.Code, f.Reason, f.Partial, f.Again, f.Truncated
	s.Until = f.Until
	return []protocol.Entry{stepEntry(now, s)}
}

// delegate turns mentions into requests, and those that cannot be carried out
// into errors for their writer.
func (l *Ledger) delegate(n *node, s *protocol.Step, mentions []mention, now time.Time) []protocol.Entry {
	fault := l.overTurns(n)
	added := map[string]int{}
	var batch, refused []protocol.Entry
	for i, m := range mentions {
		if f := l.checkMention(n, m); f != nil {
			refused = append(refused, l.refusal(n, f, i, now))
			continue
		}
		if f := l.overLimits(n, l.seats[m.name], added[m.name]); f != nil && fault == nil {
			fault = f
		}
		added[m.name]++
		batch = append(batch, l.request(n, m, i, now))
	}
	if fault != nil {
		s.Name, s.Code, s.Reason = protocol.Undone, fault.Code, fault.Message
		return []protocol.Entry{stepEntry(now, s)}
	}
	return l.fresh(append(append(batch, refused...), stepEntry(now, s))...)
}

func (l *Ledger) checkMention(n *node, m mention) *protocol.Fault {
	who := "@" + m.name
	target := l.seats[m.name]
	switch {
	case target == nil || !target.known:
		return protocol.Faultf(protocol.CodeMention, "%s: there is no agent of that name", who).Cure("the agents you may ask are: %s", l.askable(n.seat))
	case target == n.seat:
		return protocol.Faultf(protocol.CodeMention, "%s: an agent cannot ask itself", who).Cure("do it yourself, or ask one of: %s", l.askable(n.seat))
	case l.rules.Matrix.Permit(l.party(n.seat.name), l.party(m.name), protocol.Request, false) != nil:
		return protocol.Faultf(protocol.CodeMention, "%s: you may not ask this agent", who).Cure("the agents you may ask are: %s", l.askable(n.seat))
	case m.text == "":
		return protocol.Faultf(protocol.CodeMention, "%s: nothing is said after the name", who).Cure("write what the agent is to do behind %s", who)
	}
	return nil
}

// askable names whom an agent may ask.
func (l *Ledger) askable(s *seat) string {
	var names []string
	for _, o := range l.order {
		if o != s && o.known && l.rules.Matrix.Permit(l.party(s.name), l.party(o.name), protocol.Request, false) == nil {
			names = append(names, "@"+o.name)
		}
	}
	if len(names) == 0 {
		return "nobody; answer without a line that begins with @"
	}
	return strings.Join(names, ", ")
}

func (l *Ledger) overTurns(n *node) *protocol.Fault {
	if n.Turns+1 < l.rules.Limits.Turns {
		return nil
	}
	return protocol.Faultf(protocol.CodeLimit, "the task took %d turns without an answer; the limit is limits.turns", l.rules.Limits.Turns)
}

// overLimits says whether a task for another agent would be one too many;
// added counts those of the same batch.
func (l *Ledger) overLimits(parent *node, to *seat, added int) *protocol.Fault {
	if parent != nil && parent.depth+1 > l.rules.Limits.Depth {
		return protocol.Faultf(protocol.CodeLimit, "the task for %s would be %d levels deep; the limit is %d (limits.depth)", to.name, parent.depth+1, l.rules.Limits.Depth)
	}
	if to.open+added >= l.rules.Limits.OpenTasks {
		return protocol.Faultf(protocol.CodeLimit, "%s has %d open tasks; the limit is %d (limits.open_tasks)", to.name, to.open+added, l.rules.Limits.OpenTasks)
	}
	return nil
}

// request makes the message of one delegation.
func (l *Ledger) request(n *node, m mention, ordinal int, now time.Time) protocol.Entry {
	msg := protocol.New(l.party(n.seat.name), l.party(m.name), protocol.TaskRequest(m.text))
	e := l.entry(now, n, derive("request", n.ID, n.Claims, ordinal), msg)
	e.Message.Parent = n.ID
	return e
}

// refusal tells the writer of a mention why it was not carried out.
func (l *Ledger) refusal(n *node, f *protocol.Fault, ordinal int, now time.Time) protocol.Entry {
	p := &protocol.ErrorPayload{ErrorCode: string(f.Code), ErrorType: f.Code.ErrorType(), Message: f.Error(), Recoverable: true, SuggestedAction: f.Hint}
	msg := protocol.New(protocol.FromHub(), l.party(n.seat.name), p).About(n.ID)
	e := l.entry(now, n, derive("refusal", n.ID, n.Claims, ordinal), msg)
	e.Message.Parent = n.ID
	return e
}

// response makes the message that ends a task well.
func (l *Ledger) response(n *node, a Answer, now time.Time) protocol.Entry {
	payload := protocol.Answer(protocol.Success, a.Text)
	payload.Sources = merged(n.Sources, a.Sources)
	e := l.make(now, n, derive("response", n.ID, n.Claims), payload)
	e.Message.Closing = n.closing(protocol.Success, now)
	e.Message.Closing.Evidence, e.Message.Closing.Truncated = a.Evidence, a.Truncated
	return e
}

// mostSources bounds what is named as the sources of one task.
const mostSources = 200

// merged are the sources of both, each once.
func merged(have, more []string) []string {
	out := slices.Clone(have)
	for _, s := range more {
		if len(out) < mostSources && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// failure makes the message that ends a task badly.
func (l *Ledger) failure(n *node, v *verdict, now time.Time) protocol.Entry {
	p := &protocol.ErrorPayload{ErrorCode: string(v.Code), ErrorType: v.Code.ErrorType(), Message: v.Reason, Recoverable: v.Code != protocol.CodeCancelled}
	if p.Message == "" {
		p.Message = fmt.Sprintf("%s gave no answer", n.seat.name)
	}
	if v.Partial != "" {
		p.Details = encode(errorDetails{Partial: v.Partial})
	}
	p.SuggestedAction = n.cure(v)
	e := l.make(now, n, derive("failure", n.ID+v.Cause, n.Claims), p)
	e.Message.Closing = n.closing(protocol.Failed, now)
	e.Message.Closing.Code = v.Code
	return e
}

func (n *node) cure(v *verdict) string {
	short := n.ID[:min(8, len(n.ID))]
	switch {
	case v.Code == protocol.CodeCancelled && n.parent == nil:
		return "orchestrator-cc retry " + short
	case v.Code == protocol.CodeCancelled:
		return ""
	case n.parent == nil:
		return fmt.Sprintf("orchestrator-cc retry %s, cancel %s, or answer %s TEXT", short, short, short)
	}
	return "ask again, ask another agent, or answer without it"
}

func (n *node) closing(s protocol.Status, now time.Time) *protocol.Closing {
	return &protocol.Closing{Status: s, LatencyMS: max(0, now.UnixNano()-n.Since) / int64(time.Millisecond), RetryCount: n.Retries, Tokens: some(n.Used)}
}

// make builds a message from a task's agent to its asker.
func (l *Ledger) make(now time.Time, n *node, id string, p protocol.Payload) protocol.Entry {
	return l.entry(now, n, id, protocol.New(l.party(n.seat.name), l.party(n.From), p).About(n.ID))
}

// entry wraps a message of the ledger's own. It is as urgent as the task.
func (l *Ledger) entry(now time.Time, n *node, id string, m protocol.Message) protocol.Entry {
	m.Header.MessageID = id
	m.Stamp(now)
	if p := priorityOf(n.Weight); p != protocol.Normal {
		m = m.WithPriority(p)
	}
	return protocol.Entry{Time: now, Kind: protocol.KindMessage, Message: &protocol.Accepted{Message: m, Task: n.root.ID, Session: n.Session}}
}

// fresh leaves out the messages that are in the stream already: a crash cut
// the batch off, and this is the rest of it.
func (l *Ledger) fresh(batch ...protocol.Entry) []protocol.Entry {
	out := make([]protocol.Entry, 0, len(batch))
	for _, e := range batch {
		if e.Message != nil {
			if _, there := l.seen[keyOf(e.Message.Message.ID())]; there {
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

func priorityOf(weight int) protocol.Priority {
	for _, p := range []protocol.Priority{protocol.Low, protocol.High, protocol.Critical} {
		if p.Weight() == weight {
			return p
		}
	}
	return protocol.Normal
}

func stamp(t time.Time) string { return t.UTC().Format(protocol.TimeFormat) }

// encode writes structs of ours, for which encoding cannot fail.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}
