package agents

import (
	"context"
	"regexp"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// wallStill is how long a screen that shows a wall must rest: programs that try
// again by themselves show it too, and go on.
const wallStill = 3 * time.Second

// wall is a quota or a rate limit, as a program tells of it.
type wall struct {
	text  string
	until time.Time // zero: it does not say
}

// wall finds the engine's word for a wall in some lines.
func (e Engine) wall(lines []string, now time.Time) (wall, bool) {
	return findWords(e.Wall, lines, now)
}

// findWords finds what a program says about a wall in some lines. The lowest
// counts.
func findWords(patterns []*regexp.Regexp, lines []string, now time.Time) (wall, bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		row := paragraph(lines, i)
		for _, p := range patterns {
			if m := p.FindStringSubmatch(row); m != nil {
				w := wall{text: strings.Trim(row, gutter+signs), until: resetOf(row, now)}
				if at := p.SubexpIndex("reset"); at >= 0 && m[at] != "" {
					w.until = resetOf("at "+m[at], now)
				}
				if at := p.SubexpIndex("why"); at >= 0 && m[at] != "" {
					w.text = strings.Trim(m[at], gutter+signs)
				}
				return w, true
			}
		}
	}
	return wall{}, false
}

// paragraph is a line with those that go on with it: a program breaks what it
// says to the width of its pane.
func paragraph(lines []string, from int) string {
	const most = 6 // rows of a message in a narrow pane
	text := strings.TrimRight(lines[from], gutter)
	for _, line := range lines[from+1 : min(len(lines), from+most)] {
		if len(squeeze(line)) == 0 { // empty, or a rule
			break
		}
		text += " " + strings.Trim(line, gutter)
	}
	return text
}

// walled says that the turn has ended at a wall, by the screen: the program
// shows it in place of an answer, takes input again, and rests.
func (t *turn) walled(seen sight, v view, now time.Time) *Failure {
	if len(seen.reply.own) > 0 || !v.ready || v.dialog || !seen.region.found || t.eye.stillFor(now) < wallStill {
		return nil
	}
	w, ok := t.opts.Engine.wall(seen.reply.lines, now)
	if !ok {
		return nil
	}
	t.eye.open = false
	return atWall(w.text, w.until)
}

// delay is the wall that a program at work shows in place of an answer, "" where
// it shows none.
func (t *turn) delay(now time.Time) string {
	w, _ := t.opts.Engine.wall(strings.Split(t.partial, "\n"), now)
	return w.text
}

// blocked finds the wall behind a turn of which the channel says only that it
// failed: in its words, or on the screen.
func (t *turn) blocked(ctx context.Context) *Failure {
	now := time.Now()
	if w, ok := t.opts.Engine.wall(strings.Split(t.report.Text, "\n"), now); ok {
		return atWall(w.text, w.until)
	}
	s, v, err := t.see(ctx, shallow)
	if err != nil {
		return nil
	}
	seen := t.weigh(s, v, now)
	if w, ok := t.opts.Engine.wall(seen.reply.lines, now); ok && seen.region.found {
		return atWall(w.text, w.until)
	}
	return nil
}

// atWall is the end of a turn that was cut off by a quota or a rate limit. It
// is over, so that another attempt cannot do its work twice.
func atWall(text string, until time.Time) *Failure {
	f := failure(protocol.CodeWall, true, "%s", text)
	f.Until = until
	return f
}
