package protocol

import (
	"encoding/json"
	"time"
)

// ReportEvent is what a program in a pane tells about itself.
type ReportEvent string

// The events on an engine's channel.
const (
	ReportReady    ReportEvent = "ready"    // the program takes prompts now
	ReportAccepted ReportEvent = "accepted" // it has taken the prompt Req
	ReportProgress ReportEvent = "progress" // it is still at work on Req
	ReportPart     ReportEvent = "part"     // the answer to Req is Text from the byte Offset on, so far
	ReportSource   ReportEvent = "source"   // the answer to Req rests on the file Text, among others
	ReportAnswer   ReportEvent = "answer"   // Text answers Req, byte for byte
	ReportFailed   ReportEvent = "failed"   // Req ended without an answer; Text says why
	ReportWall     ReportEvent = "wall"     // Req ended at a quota or a rate limit; Text says which
	ReportWaits    ReportEvent = "waits"    // at work on Req it waits for a limit's end by itself, until Until; Text says which
	ReportUsage    ReportEvent = "usage"    // a model was asked, for Req or for a person at the pane
	// ReportAsking says that the program is about to ask about a tool call in
	// its pane. Text is the confirmation by which that call has been allowed
	// already, "" where there is none.
	ReportAsking ReportEvent = "asking"
	// ReportDecided says that what it asked about is decided.
	ReportDecided ReportEvent = "decided"
	// ReportTyped says that a person typed Text here, as a task for this agent.
	// With Req the program works on it already; without, it waits for the hub.
	ReportTyped ReportEvent = "typed"
)

// Report is one line of a pane's spool file: the exact channel by which a
// program tells the hub how far it is, kept on disk so that nothing said
// while the hub was dead is lost.
type Report struct {
	Event ReportEvent `json:"event"`
	Req   string      `json:"req,omitempty"`
	Text  string      `json:"text,omitempty"`
	// Offset stands on a part: Text takes the place of what was told from there on.
	Offset int       `json:"offset,omitempty"`
	Final  bool      `json:"final,omitempty"` // on failed: another attempt would fail alike
	Until  time.Time `json:"until,omitzero"`  // on wall and waits: when it ends, where that is known
	Usage  *Usage    `json:"usage,omitempty"`
	Time   time.Time `json:"time"`
}

// Line is the report as it stands in the spool, with its newline.
func (r Report) Line() []byte {
	line, err := json.Marshal(r)
	if err != nil {
		return nil // a struct of strings and a time always encodes
	}
	return append(line, '\n')
}
