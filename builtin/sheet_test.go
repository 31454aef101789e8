package builtin

import (
	"testing"
	"time"

	"orchestrator-cc/protocol"
)

// A reply is told while it is being written, and its parts together are what
// the answer says before its marker.
func TestReplyIsToldWhileItIsWritten(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.paste(protocol.Tag("jjjjjj", "user")+"\n", "/say いろは\n/lines 2\n/think 10m")
	p.typed("\r")
	if got := p.waitFor(protocol.ReportPart, "jjjjjj"); got.Text != "いろは\nline 1\nline 2" || got.Offset != 0 {
		t.Errorf("got part %q at %d, want what was written, at 0", got.Text, got.Offset)
	}
	p.typed("\x03")
	p.waitFor(protocol.ReportFailed, "jjjjjj")

	p.paste(protocol.Tag("kkkkkk", "user")+"\n", "/say one\n/think 300ms\n/say two\n/think 300ms\n/say three")
	p.typed("\r")
	answer := p.waitFor(protocol.ReportAnswer, "kkkkkk")
	text, parts := "", 0
	for _, r := range p.reports() {
		if r.Req == "kkkkkk" && r.Event == protocol.ReportPart {
			text = text[:r.Offset] + r.Text
			parts++
		}
	}
	if text != "one\ntwo" || parts != 2 || answer.Text != "one\ntwo\nthree\nTESTING OK" {
		t.Errorf("got %d parts, %q, and the answer %q, want two parts of it", parts, text, answer.Text)
	}
}

// What is complete at once is told once: an exchange costs no part.
func TestQuickReplyHasNoParts(t *testing.T) {
	t.Parallel()
	s := newSheet()
	s.write("quick")
	select {
	case <-s.full:
		t.Error("got a part at once, want some time to pass")
	default:
	}
	s.write(" and more")
	select {
	case <-s.full:
	case <-time.After(10 * time.Second):
		t.Fatal("got no part at all")
	}
	if got := s.part("x"); got.Text != "quick and more" {
		t.Errorf("got %q, want all of it", got.Text)
	}
}
