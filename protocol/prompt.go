package protocol

import (
	"crypto/rand"
	"regexp"
	"strings"
)

// A prompt is what is typed into a pane for one attempt:
//
//	req-k3v9q2 from user          the tag, pasted by itself so that it stays literal
//	<body>
//	(End your reply with ...)     the closing line
//
// The closing line asks for the token, marker and id, without ever showing it,
// so that a token on the screen can only come from the agent.

const closing = "(End your reply with one last line: your marker, then this request's id in angle brackets.)"

var tagLine = regexp.MustCompile(`^req-([a-z0-9]+) from ([^\s]+)[ \t]*\n?`)

// Tag is the first line of a prompt.
func Tag(req, from string) string { return "req-" + req + " from " + from }

// ClosingLine is the last line of a prompt.
func ClosingLine() string { return closing }

// NewReq makes the id by which an attempt is known on the screen: short enough
// to read, random enough never to meet an older one in a scrollback.
func NewReq() string {
	const letters = "abcdefghjkmnpqrstvwxyz23456789"
	raw := make([]byte, 8)
	if _, err := rand.Read(raw); err != nil {
		panic(err) // crypto/rand never fails on the systems we run on
	}
	for i, b := range raw {
		raw[i] = letters[int(b)%len(letters)]
	}
	return string(raw)
}

// Token is what ends an agent's reply to one attempt.
func Token(marker, req string) string { return marker + " <" + req + ">" }

// Prompt is a prompt taken apart, as an agent of ours reads it.
type Prompt struct {
	Req  string
	From string
	Body string
}

// ParsePrompt takes a prompt apart; a text that a person typed has no tag and
// is all body.
func ParsePrompt(text string) Prompt {
	m := tagLine.FindStringSubmatch(text)
	if m == nil {
		return Prompt{From: User, Body: strings.TrimSpace(text)}
	}
	body := strings.TrimRight(text[len(m[0]):], " \n")
	body = strings.TrimRight(strings.TrimSuffix(body, closing), " \n")
	return Prompt{Req: m[1], From: m[2], Body: body}
}
