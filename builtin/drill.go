package builtin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// Drill is the brain that does exactly what a prompt says, line by line, so
// that people and tests can see any behaviour of an agent on demand:
//
//	/say TEXT              answer with TEXT
//	/think 2s              work for that long first
//	/lines N               answer with N numbered lines
//	/tokens IN OUT         say that a model took so many tokens
//	/fail REASON           end the turn as a failure
//	/wall TIME             until that moment (RFC 3339) end the turn at a rate limit
//	/die                   end the program, as a crash would
//	/delegate AGENT        ask AGENT; the indented lines below are its prompt
//	/shell COMMAND         run COMMAND once a person has approved it; off
//	                       unless there is a Shell
//
// A prompt without a command goes to the brain it stands before.
type Drill struct {
	Else  Brain
	Shell Shell // nil = off

	spent []protocol.Usage
}

// Shell runs a command for an agent, after asking whether it may.
type Shell interface {
	Run(ctx context.Context, command string) (output string, err error)
}

// Reply follows the commands of the prompt.
func (d *Drill) Reply(ctx context.Context, p protocol.Prompt, say func(string)) (string, error) {
	return d.ReplyAloud(ctx, p, say, func(string) {})
}

// ReplyAloud does so too, and hands out what each command answers.
func (d *Drill) ReplyAloud(ctx context.Context, p protocol.Prompt, say, write func(string)) (string, error) {
	if !strings.HasPrefix(p.Body, "/") {
		return replyAloud(ctx, d.Else, p, say, write)
	}
	var answer []string
	written := 0
	lines := strings.Split(p.Body, "\n")
	for i := 0; i < len(lines); i++ {
		for ; written < len(answer); written++ {
			if written > 0 {
				write("\n")
			}
			write(answer[written])
		}
		word, rest, _ := strings.Cut(lines[i], " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "/say":
			answer = append(answer, rest)
		case "/think":
			if err := think(ctx, rest); err != nil {
				return "", err
			}
		case "/lines":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return "", uselessf("/lines needs a number, got %q", rest)
			}
			for k := range n {
				answer = append(answer, fmt.Sprintf("line %d", k+1))
			}
		case "/tokens":
			u := protocol.Usage{Model: "drill"}
			if n, _ := fmt.Sscan(rest, &u.Input, &u.Output); n < 2 {
				return "", uselessf("/tokens needs two numbers, got %q", rest)
			}
			d.spent = append(d.spent, u)
		case "/fail":
			return "", errors.New(rest)
		case "/wall":
			until, err := time.Parse(time.RFC3339, rest)
			if err != nil {
				return "", uselessf("/wall needs a moment such as 2026-02-01T10:30:00Z, got %q", rest)
			}
			if time.Now().Before(until) {
				return "", &wallError{"the drill's rate limit is reached", until}
			}
		case "/die":
			return "", ErrQuit
		case "/delegate":
			block := indented(lines[i+1:])
			i += len(block)
			answer = append(answer, "@"+rest+":")
			answer = append(answer, dedent(block)...)
		case "/shell":
			output, err := d.shell(ctx, rest)
			if err != nil {
				return "", err
			}
			answer = append(answer, output)
		default:
			return "", uselessf("unknown command %s; use /say, /think, /lines, /tokens, /fail, /wall, /die, /delegate or /shell", word)
		}
	}
	return strings.Join(answer, "\n"), nil
}

// Spent is what the prompts said, and what the brain behind tells.
func (d *Drill) Spent() []protocol.Usage {
	out := d.spent
	d.spent = nil
	if m, ok := d.Else.(Meter); ok {
		out = append(out, m.Spent()...)
	}
	return out
}

// Sources are those of the brain it stands before.
func (d *Drill) Sources() []string {
	if scholar, ok := d.Else.(Scholar); ok {
		return scholar.Sources()
	}
	return nil
}

func (d *Drill) shell(ctx context.Context, command string) (string, error) {
	switch {
	case d.Shell == nil:
		return "", uselessf("/shell is off; set ORCHESTRATOR_CC_SHELL=1 in the agent's env to have it, with a person's approval each time")
	case command == "":
		return "", uselessf("/shell needs a command")
	}
	return d.Shell.Run(ctx, command)
}

func think(ctx context.Context, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return uselessf("/think needs a duration, got %q", text)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func indented(lines []string) []string {
	for i, line := range lines {
		if !strings.HasPrefix(line, "  ") {
			return lines[:i]
		}
	}
	return lines
}

func dedent(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line[2:]
	}
	return out
}
