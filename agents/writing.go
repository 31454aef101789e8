package agents

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"orchestrator-cc/protocol"
)

const (
	// mostWritten bounds what is shown of an answer before it is complete.
	mostWritten = 1 << 20
	// writtenDepth is how far up an answer is followed whose beginning has
	// scrolled away, and digEvery how often: it costs the server more than a
	// look does.
	writtenDepth = 4000
	digEvery     = time.Second
)

// words are what is known of an answer while it is being written: what the
// channel tells, or what the screen shows where it tells nothing.
type words struct {
	text  string // as the channel told it
	exact bool   // the channel tells
	shown string // what was passed on last
	dug   time.Time
}

// hearPart takes in what the channel says of the answer so far.
func (t *turn) hearPart(r protocol.Report) {
	w := &t.words
	if r.Offset < 0 || r.Offset > len(w.text) || r.Offset+len(r.Text) > mostWritten {
		return // what came before it is not known, or it is too much
	}
	w.text, w.exact = w.text[:r.Offset]+r.Text, true
	text := strings.ToValidUTF8(w.text, "")
	if strings.Contains(text, "<"+t.req.ID+">") {
		text = t.marker.withoutID(text, t.req.ID)
	}
	t.passOn(text)
}

// seePart passes on what the screen shows of the answer. Only what stands
// behind the request's own echo is: anything else may be of an earlier one. A
// program that fills the alternate screen draws boxes beside its words; where it
// has a channel those come by it.
func (t *turn) seePart(ctx context.Context, s Screen, seen sight) error {
	if t.words.exact || s.Alternate && t.opts.Engine.Channel {
		return nil
	}
	if seen.region.found {
		t.passOn(t.partial)
		return nil
	}
	now := time.Now()
	if !t.seen || s.Alternate || s.HistorySize <= shallow || now.Sub(t.words.dug) < digEvery {
		return nil
	}
	t.words.dug = now
	deep, _, err := t.see(ctx, writtenDepth)
	if err != nil {
		return err
	}
	if r := t.locate(deep); r.found {
		t.passOn(r.reply(t.opts.Engine, t.base, t.marker, t.req.ID).text())
	}
	return nil
}

// passOn tells whoever listens, without the closing token that is perhaps just
// being written.
func (t *turn) passOn(text string) {
	text = withoutBegun(text, protocol.Token(t.opts.Marker, t.req.ID))
	if text == t.words.shown || len(text) > mostWritten {
		return
	}
	t.words.shown = text
	t.opts.OnWriting(protocol.Writing{Agent: t.opts.Name, Turn: t.req.ID, Text: text, Exact: t.words.exact})
}

// withoutBegun cuts from the end of a text what may be the beginning of a
// token, wherever a program broke its line.
func withoutBegun(text, token string) string {
	text = strings.TrimRight(text, " \n")
	want := string(squeeze(token))
	for at := max(0, len(text)-2*len(token)); at < len(text); at++ {
		if !utf8.RuneStart(text[at]) {
			continue
		}
		if begun := string(squeeze(text[at:])); begun != "" && strings.HasPrefix(want, begun) {
			return strings.TrimRight(text[:at], " \n")
		}
	}
	return text
}
