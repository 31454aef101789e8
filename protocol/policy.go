package protocol

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// What happens when an agent asks to use a tool.
const (
	DecideAsk   = "ask"   // a person decides
	DecideKey   = "key"   // a person with a key decides
	DecideAllow = "allow" // it is allowed at once
	DecideDeny  = "deny"  // it is denied at once
)

// Policy is how an agent's tool calls are decided, and how long a person has
// for it.
type Policy struct {
	Default string
	Rules   []PolicyRule // the first that fits decides
	Timeout time.Duration
}

// PolicyRule decides on some tool calls. In both patterns "*" stands for any
// text and "?" for one character; an empty one fits everything.
type PolicyRule struct {
	Tool   string
	Match  string // on what the call is about, see ToolUse.Subject
	Decide string
}

func (r PolicyRule) String() string {
	if r.Match == "" {
		return fmt.Sprintf("%s %s", r.Decide, r.Tool)
	}
	return fmt.Sprintf("%s %s %q", r.Decide, r.Tool, r.Match)
}

// Decide says what happens with a call, and by which rule; nil is the default.
func (p Policy) Decide(u ToolUse) (string, *PolicyRule) {
	for i, r := range p.Rules {
		if r.fits(u) {
			return r.Decide, &p.Rules[i]
		}
	}
	if p.Default == "" {
		return DecideAsk, nil
	}
	return p.Default, nil
}

// fits says whether the rule decides on a call. One that allows is held to what
// can be seen to run: a command with a second one behind it, a redirection or a
// substitution is not the command that was allowed. Any other fits a command
// that has a fitting one anywhere in it.
func (r PolicyRule) fits(u ToolUse) bool {
	if r.Tool != "" && !wild(r.Tool, u.Tool) {
		return false
	}
	if r.Match == "" {
		return true
	}
	about, text := u.Subject()
	switch {
	case about == aboutCommand && r.Decide == DecideAllow:
		_, simple := simpleShell(text)
		return simple && wild(r.Match, strings.TrimSpace(text))
	case about == aboutCommand:
		return slices.ContainsFunc(commandsIn(text), func(one string) bool { return wild(r.Match, one) })
	case about == aboutPath:
		inside, ok := u.inside(text)
		return wild(r.Match, text) || ok && wild(r.Match, inside)
	}
	return wild(r.Match, text)
}

// commandsIn are the commands of a shell text, each also without its folder and
// without the words that only start it.
func commandsIn(text string) []string {
	out := []string{strings.TrimSpace(text)}
	parts, _ := readShell(text)
	for _, p := range parts {
		for words := p.words; len(words) > 0; words = words[1:] {
			named := append([]string{path.Base(words[0])}, words[1:]...)
			out = append(out, strings.Join(words, " "), strings.Join(named, " "))
			if !slices.Contains(starters(), named[0]) && !assigns(words[0]) && !strings.HasPrefix(words[0], "-") {
				break
			}
		}
		if name, args := p.program(); slices.Contains(shells(), name) {
			for i, a := range args {
				if strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") && i+1 < len(args) {
					out = append(out, commandsIn(args[i+1])...)
				}
			}
		}
	}
	return out
}

// wild matches a text with a pattern of "*" and "?". It goes back to the last
// "*" only, so no pattern takes long.
func wild(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	star, mark, i, j := -1, 0, 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
