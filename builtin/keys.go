package builtin

import (
	"bufio"
	"context"
	"io"
	"strings"
	"unicode/utf8"
)

// key is one thing a terminal sent: text to insert, or a special key.
type key struct {
	text   string // typed or pasted
	pasted bool
	code   keyCode
}

type keyCode int

const (
	keyText keyCode = iota
	keyEnter
	keyErase
	keyClear
	keyInterrupt
)

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// readKeys turns the bytes of a terminal in raw mode into keys until the
// input ends, then closes out. A bracketed paste arrives as one text.
func readKeys(ctx context.Context, in io.Reader, out chan<- key) {
	defer close(out)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		k, ok := nextKey(r)
		if !ok {
			return
		}
		if k.code == keyText && k.text == "" {
			continue
		}
		select {
		case out <- k:
		case <-ctx.Done():
			return
		}
	}
}

func nextKey(r *bufio.Reader) (key, bool) {
	c, _, err := r.ReadRune()
	if err != nil {
		return key{}, false
	}
	switch c {
	case '\r':
		return key{code: keyEnter}, true
	case 0x7f, '\b':
		return key{code: keyErase}, true
	case 0x15: // Ctrl-U
		return key{code: keyClear}, true
	case 0x03: // Ctrl-C
		return key{code: keyInterrupt}, true
	case 0x1b:
		return escape(r)
	case '\n', '\t':
		return key{text: string(c)}, true
	}
	if c < 0x20 || c == utf8.RuneError {
		return key{}, true
	}
	return key{text: string(c)}, true
}

// escape reads what follows an ESC: a paste, a key sequence of no use here, or
// nothing, which is the Escape key itself.
func escape(r *bufio.Reader) (key, bool) {
	if r.Buffered() == 0 {
		return key{code: keyInterrupt}, true
	}
	seq := "\x1b"
	for len(seq) < 16 {
		b, err := r.ReadByte()
		if err != nil {
			return key{}, false
		}
		seq += string(rune(b))
		final := b >= 0x40 && b <= 0x7e && !(len(seq) == 2 && (b == '[' || b == 'O'))
		if final {
			break
		}
	}
	if seq != pasteBegin {
		return key{}, true
	}
	var text strings.Builder
	for {
		b, err := r.ReadByte()
		if err != nil {
			return key{}, false
		}
		text.WriteByte(b)
		if b == '~' && strings.HasSuffix(text.String(), pasteEnd) {
			body := strings.TrimSuffix(text.String(), pasteEnd)
			return key{text: strings.ReplaceAll(body, "\r", "\n"), pasted: true}, true
		}
	}
}
