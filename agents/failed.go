package agents

import (
	"context"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// signs stand before what a program says by itself, besides the gutter.
const signs = "■✕⎿└"

// complained says that the turn has ended without an answer, by the screen: the
// program says why, takes input again, and rests. A wall is told by walled.
func (t *turn) complained(seen sight, v view, now time.Time) *Failure {
	why := t.complaint(seen.region)
	if why == "" || !v.ready || v.busy || v.dialog || t.eye.stillFor(now) < tailStill {
		return nil
	}
	if _, wall := t.opts.Engine.wall(seen.reply.lines, now); wall {
		return nil
	}
	t.eye.open = false
	return failure(protocol.CodeAgentFailed, true, "%s", why)
}

// complaint is what the program says below the prompt about a turn that ended
// without an answer.
func (t *turn) complaint(r region) string {
	if !r.found {
		return ""
	}
	for i := len(r.lines) - 1; i >= r.first; i-- {
		if matches(t.opts.Engine.Failed, r.lines[i]) {
			return strings.TrimSpace(strings.TrimLeft(paragraph(r.lines, i), gutter+signs))
		}
	}
	return ""
}

// drawn waits until the program has drawn what it has to say about a failure
// that it reported: some report first.
func (t *turn) drawn(ctx context.Context) error {
	const most = 4 * tailStill
	for end := time.Now().Add(most); time.Now().Before(end); {
		if _, _, err := t.see(ctx, 0); err != nil {
			return err
		}
		if t.eye.stillFor(time.Now()) >= tailStill {
			return nil
		}
		if _, err := t.rest(ctx, tailStill/4); err != nil {
			return err
		}
	}
	return nil
}

// shownReason adds what the screen says about a failure that was reported, and
// the report does not.
func (t *turn) shownReason(ctx context.Context) string {
	if len(t.opts.Engine.Failed) == 0 {
		return ""
	}
	s, _, err := t.see(ctx, shallow)
	if err != nil {
		return ""
	}
	if why := t.complaint(t.locate(s)); why != "" && !strings.Contains(t.report.Text, why) {
		return ": " + why
	}
	return ""
}
