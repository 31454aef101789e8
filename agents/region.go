package agents

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// gutter is what programs put before a line of text.
const gutter = " \t\u00a0│┃║▌▎▏|>❯›●⏺•✦"

// drawn says that a rune is decoration or takes no room: programs and
// terminals add, move and drop such runes freely, so matching ignores them.
func drawn(r rune) bool {
	switch {
	case r >= 0x2500 && r <= 0x259f: // boxes and blocks
		return true
	case r < 0x80:
		return r <= ' ' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Cc)
}

// squeeze keeps the runes of a text that matching looks at.
func squeeze(text string) []rune {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if !drawn(r) {
			out = append(out, r)
		}
	}
	return out
}

// spot is where a rune of a page stands: its line and its bytes there.
type spot struct{ line, from, to int32 }

// page is a screen's lines as one run of squeezed runes, in which a text is
// found wherever a program broke its lines.
type page struct {
	lines []string
	runes []rune
	spots []spot
	heads []int // for each line, the index of its first rune
}

func newPage(lines []string) page {
	p := page{lines: lines, heads: make([]int, len(lines)+1)}
	for n, line := range lines {
		p.heads[n] = len(p.runes)
		for i, r := range line {
			if !drawn(r) {
				p.runes = append(p.runes, r)
				p.spots = append(p.spots, spot{int32(n), int32(i), int32(i + len(string(r)))})
			}
		}
	}
	p.heads[len(lines)] = len(p.runes)
	return p
}

// lineOf is the line of a rune; behind the last rune it is one past the end.
func (p page) lineOf(at int) int {
	if at >= len(p.spots) {
		return len(p.lines)
	}
	return int(p.spots[at].line)
}

// index finds want in text at or after from, -1 where it is not.
func index(text, want []rune, from int) int {
	if len(want) == 0 {
		return from
	}
	for i := from; i+len(want) <= len(text); i++ {
		if text[i] == want[0] && slices.Equal(text[i:i+len(want)], want) {
			return i
		}
	}
	return -1
}

// region is the part of a page that can hold the answer to one request.
type region struct {
	page
	start int // its first rune
	first int // its first line
	// found says that the request's echo stands on the page, and sure that it
	// is no quotation of it.
	found, sure bool
	// bounded says that the region begins behind something that was there
	// before the request; close, that it surely begins directly behind it.
	bounded, close bool
}

// locate finds the region behind the echo of a prompt. Where the echo's head
// is not on the page its end may be; without any echo the region begins behind
// what was on the screen before, and behind the last token of another request.
func locate(lines []string, ours prompt, before []string, m marker) region {
	p := newPage(lines)
	r := region{page: p}
	if ours.id == "" {
		return r // a person's own prompt, whose echo is not known
	}
	best := -1
	for n, line := range lines {
		if !strings.HasPrefix(strings.TrimLeft(line, gutter), "req-"+ours.id) || !ours.tagged(line) {
			continue
		}
		// An answer may quote its tag, even with all of the prompt behind it,
		// but hardly behind the sign that a program puts before a prompt. Of
		// the others the echo is what repeats most of the prompt, and of
		// several copies of one screen the last.
		sure := ours.lead == "" || lead(line) == ours.lead
		end, length := p.skipEcho(n, ours)
		if sure && !r.sure || sure == r.sure && length >= best {
			best, r.start, r.found, r.sure = length, end, true, sure
		}
	}
	if !r.found {
		r.bound(ours, before, m)
	}
	r.first = p.lineOf(r.start)
	return r
}

func (r *region) bound(ours prompt, before []string, m marker) {
	const several = 3
	n, text := overlap(before, r.lines)
	r.bounded, r.close = n > 0, text >= several
	r.start = r.heads[n]
	limit := len(r.runes) // what follows the request's own token was said in its answer
	for _, t := range m.tokens(r.page, r.start) {
		if t.id == ours.id {
			limit = t.start
			break
		}
		r.start, r.bounded, r.close = t.end, true, true
	}
	for at := index(r.runes[:limit], ours.tail, r.start); at >= 0; at = index(r.runes[:limit], ours.tail, r.start) {
		r.start = r.heads[r.lineOf(at+len(ours.tail)-1)+1]
		r.found, r.sure = true, true
	}
}

// lead is the sign before a line's text, without blanks and boxes.
func lead(line string) string {
	text := strings.TrimLeft(line, gutter)
	return string(squeeze(line[:len(line)-len(text)]))
}

// skipEcho follows the prompt from its tag on line n and returns where the
// echo ends, and how much of the prompt it shows. A program may shorten or
// fold the body, so it stops at the first line that is not the prompt's.
func (p page) skipEcho(n int, ours prompt) (end, length int) {
	at := index(p.runes, squeeze("req-"+ours.id), p.heads[n])
	if at < 0 {
		return p.heads[n+1], 0
	}
	start, echo := at, 0
	end = p.heads[n+1]
	for at < len(p.runes) && echo < len(ours.echo) {
		if p.runes[at] == ours.echo[echo] {
			at, echo = at+1, echo+1
		} else if skipP, skipE, ok := resync(p.runes[at:], ours.echo[echo:]); ok {
			at, echo = at+skipP, echo+skipE
		} else {
			break
		}
	}
	last := p.lineOf(max(at-1, start))
	lineLength := p.heads[last+1] - p.heads[last]
	if whole := echo == len(ours.echo); whole || 2*(at-p.heads[last]) > lineLength {
		end = max(end, p.heads[last+1])
	} else {
		end = max(end, p.heads[last])
	}
	if next := p.lineOf(end); next < len(p.lines) && counted.MatchString(p.lines[next]) {
		return p.heads[next+1], echo
	}
	if echo < len(ours.echo) && !folded(p.lines[n]) {
		// The middle may be rendered otherwise; the closing line is plain.
		slack := len(ours.echo) + 1000
		if c := index(p.runes[:min(len(p.runes), at+slack)], ours.closing, at); c >= 0 {
			return p.heads[p.lineOf(c+len(ours.closing)-1)+1], len(ours.echo)
		}
	}
	return end, echo
}

// counted is the line in which a program says how much of a prompt it does not
// show.
var counted = regexp.MustCompile(`^[\s│┃]*\[\+\d+ lines\]$`)

// folded says that a program shows a paste by a short word for it.
func folded(line string) bool {
	return strings.Contains(line, "[Pasted") || strings.Contains(line, "[+")
}

// resync finds how a screen and a prompt go on together after they differ: a
// terminal drops runes it cannot show, a program adds a gutter.
func resync(screen, echo []rune) (skipScreen, skipEcho int, ok bool) {
	const together, mostScreen, mostEcho = 6, 3, 8
	for skip := 1; skip <= mostScreen+mostEcho; skip++ {
		for s := max(0, skip-mostEcho); s <= min(skip, mostScreen); s++ {
			e := skip - s
			n := min(together, len(echo)-e)
			if n > 0 && len(screen) >= s+n && slices.Equal(screen[s:s+n], echo[e:e+n]) {
				return s, e, true
			}
		}
	}
	return 0, 0, false
}

// overlap is how many lines of now were there before already, and how many of
// those have text: the longest run of old lines with which now begins or,
// where now reaches further back, which it holds.
func overlap(before, now []string) (lines, text int) {
	run := func(b, n int) (end, text int) {
		for b < len(before) && n < len(now) && before[b] == now[n] {
			if strings.TrimSpace(now[n]) != "" {
				text++
			}
			b, n = b+1, n+1
		}
		return n, text
	}
	for b := range before {
		if end, found := run(b, 0); found > 0 && end > lines {
			lines, text = end, found
		}
	}
	for n := 1; n < len(now) && lines == 0; n++ {
		if end, found := run(0, n); found > 0 && (found > 1 || end-n == len(before)) {
			lines, text = end, found
		}
	}
	return lines, text
}
