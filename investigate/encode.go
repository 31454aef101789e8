package investigate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An outcome travels between agents as text on a screen, so its text form is
// made to survive one: a fenced block of JSON in ASCII, hard-wrapped where no
// blank stands at the break. A reader that trims, indents or unwraps lines does
// not change it.

const (
	fenceOpen  = "```outcome"
	fenceClose = "```"
	wrapAt     = 96
	// maxOutcome bounds what a decoder takes; an outcome within the default limits
	// is a tenth of it.
	maxOutcome = 4 << 20
)

// EncodeOutcome writes an outcome as text for a prompt.
func EncodeOutcome(o Outcome) (string, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode outcome of %s: %w", o.Command.Name, err)
	}
	return fenceOpen + "\n" + wrapASCII(escapeASCII(data)) + "\n" + fenceClose, nil
}

// escapeASCII writes every rune beyond ASCII as JSON escapes; all of them are
// inside strings.
func escapeASCII(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r < utf8.RuneSelf {
			out = append(out, data[0])
		} else if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		data = data[size:]
	}
	return out
}

// wrapASCII breaks the text into lines, never beside a blank, and never before a
// backquote, which at the start of a line would look like the fence.
func wrapASCII(data []byte) string {
	var b strings.Builder
	for len(data) > wrapAt {
		at := wrapAt
		for at < len(data) && (data[at] == ' ' || data[at-1] == ' ' || data[at] == '`') {
			at++
		}
		b.Write(data[:at])
		b.WriteByte('\n')
		data = data[at:]
	}
	b.Write(data)
	return b.String()
}

var errNoOutcome = errors.New("no ```outcome block in the text")

// DecodeOutcome reads the first outcome in a text.
func DecodeOutcome(text string) (Outcome, error) {
	all, err := DecodeOutcomes(text)
	if err != nil {
		return Outcome{}, err
	}
	if len(all) == 0 {
		return Outcome{}, errNoOutcome
	}
	return all[0], nil
}

// DecodeOutcomes reads every outcome in a text, whatever stands around them. A
// block that is cut off or garbled is an error; the outcomes before it are
// returned with it.
func DecodeOutcomes(text string) ([]Outcome, error) {
	var all []Outcome
	var block *bytes.Buffer
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case block == nil && line == fenceOpen:
			block = &bytes.Buffer{}
		case block != nil && line == fenceClose:
			o, err := decodeBlock(block.Bytes())
			if err != nil {
				return all, err
			}
			all = append(all, o)
			block = nil
		case block != nil:
			if block.Len()+len(line) > maxOutcome {
				return all, fmt.Errorf("decode outcome: larger than %d bytes", maxOutcome)
			}
			block.WriteString(line)
		}
	}
	if block != nil {
		return all, errors.New("decode outcome: the block is not closed; the text was cut")
	}
	return all, nil
}

func decodeBlock(data []byte) (Outcome, error) {
	var o Outcome
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&o); err != nil {
		return Outcome{}, fmt.Errorf("decode outcome: %w", err)
	}
	query, err := o.Command.query()
	if err != nil {
		return Outcome{}, fmt.Errorf("decode outcome: %w", err)
	}
	// Made anew, the arguments lose the escapes that they travelled with.
	if len(o.Command.Args) > 0 {
		if o.Command, err = NewCommand(query); err != nil {
			return Outcome{}, fmt.Errorf("decode outcome: %w", err)
		}
	}
	return o, nil
}
