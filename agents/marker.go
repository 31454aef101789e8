package agents

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// marker finds an agent's marker, and the token of marker and id, on a page.
type marker struct {
	text  string
	loose bool
	runes []rune // squeezed
	gaps  []bool // before each rune: a blank stands there
}

func newMarker(text string, loose bool) marker {
	m := marker{text: text, loose: loose}
	blank := false
	for _, r := range strings.TrimSpace(text) {
		if drawn(r) {
			blank = true
			continue
		}
		m.runes, m.gaps, blank = append(m.runes, r), append(m.gaps, blank), false
	}
	return m
}

// sighting is a marker on a page: the runes it covers and, when it is a
// token, the id behind it and where that begins.
type sighting struct {
	start, end int
	id         string
	open       int
}

// all finds the markers at or after from, with the ids behind them.
func (m marker) all(p page, from int) (out []sighting) {
	if len(m.runes) == 0 {
		return nil
	}
	for i := from; i+len(m.runes) <= len(p.runes); i++ {
		if !m.same(p.runes[i], m.runes[0]) || !m.at(p, i) {
			continue
		}
		end := i + len(m.runes)
		open, idEnd, id := idBehind(p, end)
		switch {
		case id != "":
			out = append(out, sighting{i, idEnd, id, open})
		case !m.glued(p, i, end):
			out = append(out, sighting{start: i, end: end})
		default:
			continue
		}
		i = out[len(out)-1].end - 1
	}
	return out
}

// tokens finds the markers which an id follows.
func (m marker) tokens(p page, from int) (out []sighting) {
	for _, s := range m.all(p, from) {
		if s.id != "" {
			out = append(out, s)
		}
	}
	return out
}

func (m marker) same(a, b rune) bool {
	return a == b || m.loose && unicode.ToLower(a) == unicode.ToLower(b)
}

// at says whether the marker stands at a rune: every rune of it, and between
// them what the marker has there, one blank or none, or a line's end where a
// program broke it.
func (m marker) at(p page, i int) bool {
	for k, want := range m.runes {
		if !m.same(p.runes[i+k], want) {
			return false
		}
		if k == 0 {
			continue
		}
		a, b := p.spots[i+k-1], p.spots[i+k]
		if a.line != b.line {
			if b.line-a.line > 1 {
				return false
			}
			continue
		}
		gap := p.lines[a.line][a.to:b.from]
		switch {
		case m.gaps[k] && m.loose:
			if strings.TrimSpace(gap) != "" || gap == "" {
				return false
			}
		case m.gaps[k]:
			if gap != " " {
				return false
			}
		case strings.TrimFunc(gap, isMark) != "":
			return false
		}
	}
	return true
}

// glued says that the marker is only a part of a longer word.
func (m marker) glued(p page, start, end int) bool {
	before := start > 0 && p.touches(start) && wordy(p.runes[start-1]) && wordy(p.runes[start])
	after := end < len(p.runes) && p.touches(end) && wordy(p.runes[end]) && wordy(p.runes[end-1])
	return before || after
}

// touches says that nothing stands between a rune and the one before it.
func (p page) touches(i int) bool {
	return p.spots[i-1].line == p.spots[i].line && p.spots[i-1].to == p.spots[i].from
}

// wordy runes make up words that have ends one can see; in the scripts
// without blanks a marker may follow directly.
func wordy(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer)
}

func isMark(r rune) bool { return r != ' ' && drawn(r) }

// dressing may stand between a marker and its id, as in "**DONE**: <id>".
const dressing = "*_`~:.,!-–—"

// idBehind reads an id in angle brackets behind a marker.
func idBehind(p page, at int) (open, end int, id string) {
	const most = 4
	for n := 0; n < most && at < len(p.runes) && strings.ContainsRune(dressing, p.runes[at]); n++ {
		at++
	}
	if at >= len(p.runes) || p.runes[at] != '<' {
		return 0, 0, ""
	}
	var b strings.Builder
	for i := at + 1; i < len(p.runes) && b.Len() <= 12; i++ {
		switch r := p.runes[i]; {
		case r == '>' && b.Len() > 0:
			return at, i + 1, b.String()
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			b.WriteRune(r)
		default:
			return 0, 0, ""
		}
	}
	return 0, 0, ""
}

// in says whether the marker stands anywhere in a text.
func (m marker) in(text string) bool {
	return len(m.all(newPage(strings.Split(text, "\n")), 0)) > 0
}

// withoutID takes a request's id from behind the marker in a text that came
// byte for byte, and changes nothing else.
func (m marker) withoutID(text, id string) string {
	r := newReply(strings.Split(text, "\n"), m, id)
	return strings.Join(r.withoutIDs(), "\n")
}
