package agents

import (
	"regexp"
	"strings"
)

// reply is a region without what the program draws below its answer.
type reply struct {
	page
	marker marker
	id     string
	own    []sighting // markers, and tokens of this request; tokens of others are text
	token  bool       // one of them is this request's token
	last   sighting   // the last token or, where there is none, the last marker
	tail   bool       // text follows it
}

// reply cuts the region at the program's chrome and finds the marker in it.
// Only what stands below the last marker can be chrome: an answer may quote
// anything a program draws.
func (r region) reply(e Engine, base []string, m marker, id string) reply {
	lines := append([]string(nil), r.lines[min(r.first, len(r.lines)):]...)
	if r.start < len(r.spots) && r.start > r.heads[r.first] {
		lines[0] = lines[0][r.spots[r.start].from:]
	}
	lines = lines[leadingChrome(lines, e):]
	out := newReply(lines, m, id)
	from := 0
	if len(out.own) > 0 {
		from = out.lineOf(out.last.end-1) + 1
	}
	end := chrome(lines, from, e, base)
	if end < len(lines) {
		out = newReply(lines[:end], m, id)
	}
	if len(out.own) > 0 {
		out.tail = out.last.end < len(out.runes)
	}
	return out
}

// alone says that the last marker is the last line, and all of it.
func (r reply) alone() bool {
	line := r.lineOf(r.last.start)
	return !r.tail && r.last.start == r.heads[line] && r.last.end == r.heads[line+1]
}

func newReply(lines []string, m marker, id string) reply {
	out := reply{page: newPage(lines), marker: m, id: id}
	for _, s := range m.all(out.page, 0) {
		switch {
		case s.id == id:
			out.own, out.token, out.last = append(out.own, s), true, s
		case s.id == "":
			out.own = append(out.own, s)
			if !out.token {
				out.last = s
			}
		}
	}
	return out
}

// chrome is the line, at or after from, at which the program's own drawing
// begins: the composer with the rules above it or, where no composer is known,
// what ended the screen before the prompt was typed.
func chrome(lines []string, from int, e Engine, base []string) int {
	end := len(lines)
	found := false
	for i := len(lines) - 1; i >= from && !found; i-- {
		if matches(e.Composer, lines[i]) && !option(e.Composer, lines[i]) {
			end, found = i, true
		}
	}
	if !found {
		end = withoutSuffix(lines, from, base)
	}
	for end > from {
		if idle(lines[end-1], e) {
			end--
		} else if tip := hanging(lines, from, end, e); tip < end {
			end = tip
		} else {
			break
		}
	}
	return end
}

// hook is what a program hangs a remark on.
const hook = "⎿"

// hanging is where a sign of work begins that has a remark hanging below it, as
// the last thing before end; or end.
func hanging(lines []string, from, end int, e Engine) int {
	const most = 4 // rows of a remark
	for i := end - 1; i > from && i >= end-most; i-- {
		line := strings.TrimLeft(lines[i], " ")
		if strings.HasPrefix(line, hook) && matches(e.Busy, lines[i-1]) {
			return i - 1
		}
		if len(line) == len(lines[i]) {
			break // nothing hangs at the edge
		}
	}
	return end
}

// leadingChrome counts the lines before an answer that are none of it: what is
// left over from composers drawn before, empty ones, rules, and what the program
// says about its work.
func leadingChrome(lines []string, e Engine) int {
	for i, line := range lines {
		text := strings.TrimRight(line, " ")
		empty := len(squeeze(text)) == 0 || matches(e.Footer, text)
		if !empty && matches(e.Composer, text) {
			empty = len(squeeze(text[matchEnd(e.Composer, text):])) == 0
		}
		if !empty {
			return i
		}
	}
	return 0
}

// stable is the part of a screen that stays when its program goes on: all but
// the composer with what is drawn around it, or but its last line.
func stable(lines []string, e Engine) []string {
	end := chrome(lines, 0, e, nil)
	if len(e.Composer) == 0 {
		end = max(0, lastText(lines[:end]))
	}
	return lines[:end]
}

// spinners begin the line by which a program ends a turn or shows its work.
const spinners = "✶✢✽✻✳▣"

// labelled is a rule with a word in it.
var labelled = regexp.MustCompile(`^[─━═]+ .* [─━═]{3,}$`)

// idle says that a line below an answer is empty, a rule, or a sign of work.
func idle(line string, e Engine) bool {
	text := strings.Trim(line, " \u00a0")
	return len(squeeze(text)) == 0 || strings.ContainsRune(spinners, []rune(text)[0]) ||
		labelled.MatchString(text) || matches(e.Busy, line) || matches(e.Footer, line)
}

func withoutSuffix(lines []string, from int, base []string) int {
	end, b := len(lines), len(base)
	for end > from {
		if strings.TrimSpace(lines[end-1]) == "" {
			end--
			continue
		}
		for b > 0 && strings.TrimSpace(base[b-1]) == "" {
			b--
		}
		if b == 0 || lines[end-1] != base[b-1] {
			break
		}
		end, b = end-1, b-1
	}
	return end
}

// text is the answer as a person would copy it: the id gone from behind the
// marker, boxes, bullets and the common indent removed.
func (r reply) text() string {
	lines := unbox(trimBlank(r.withoutIDs()))
	lines = dedent(unbullet(trimBlank(lines)))
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\u00a0")
	}
	return strings.Join(lines, "\n")
}

// withoutIDs removes the request's id from behind each marker.
func (r reply) withoutIDs() []string {
	lines := append([]string(nil), r.lines...)
	for i := len(r.own) - 1; i >= 0; i-- {
		if s := r.own[i]; s.id == r.id {
			lines = r.withoutID(lines, s)
		}
	}
	return lines
}

// withoutID removes the id of a token from the lines; a marker that a program
// broke over two lines is put together again.
func (r reply) withoutID(lines []string, s sighting) []string {
	first, open, last := r.spots[s.start], r.spots[s.open], r.spots[s.end-1]
	head := lines[first.line][:first.from] + r.marker.text
	if first.line == open.line {
		head = strings.TrimRight(lines[first.line][:open.from], " \u00a0")
	}
	joined := head + lines[last.line][last.to:]
	out := append(lines[:first.line:first.line], joined)
	return append(out, lines[last.line+1:]...)
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

const (
	sides   = "│┃║▌▎▏▐▕"
	bullets = "●⏺✦•"
)

// unbox removes a frame when every line stands in it.
func unbox(lines []string) []string {
	out := make([]string, 0, len(lines))
	framed := false
	for i, line := range lines {
		text := strings.Trim(line, " \u00a0")
		edge := i == 0 || i == len(lines)-1
		switch {
		case text == "":
			out = append(out, "")
		case len(squeeze(text)) == 0 && edge:
			framed = true // the frame's top or bottom
		case strings.ContainsRune(sides, []rune(text)[0]):
			framed = true
			inner := strings.TrimRight(strings.TrimRight(text, sides), " \u00a0")
			out = append(out, strings.TrimLeft(inner, sides))
		default:
			return lines
		}
	}
	if !framed {
		return lines
	}
	return trimBlank(out)
}

var bulleted = regexp.MustCompile(`^( *)([` + bullets + `]) (.*)$`)

// unbullet removes the bullet with which a program begins an answer: then the
// other lines hang two blanks to the right of it, or begin with one as well. A
// list in which every line has a bullet is the answer's own.
func unbullet(lines []string) []string {
	if len(lines) == 0 {
		return lines
	}
	head := bulleted.FindStringSubmatch(lines[0])
	if head == nil {
		return lines
	}
	hang := head[1] + "  "
	out := append([]string(nil), lines...)
	hanging := 0
	for i, line := range lines {
		m := bulleted.FindStringSubmatch(line)
		switch {
		case m != nil && m[1] == head[1] && m[2] == head[2]:
			out[i] = hang + m[3]
		case strings.HasPrefix(line, hang):
			hanging++
		case strings.TrimSpace(line) != "":
			return lines
		}
	}
	if head[2] == "•" && hanging == 0 && len(lines) > 1 {
		return lines
	}
	return out
}

// dedent removes the blanks that all lines begin with.
func dedent(lines []string) []string {
	common := -1
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if common < 0 || indent < common {
			common = indent
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimPrefix(line, strings.Repeat(" ", min(max(common, 0), len(line))))
	}
	return out
}
