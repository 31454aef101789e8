package builtin

import (
	"context"
	"fmt"
	"strings"

	"orchestrator-cc/protocol"
)

// Echo is the brain that only says what it was given: a short prompt whole, a
// long one by its first line and its size.
type Echo struct{}

// Reply repeats the prompt.
func (Echo) Reply(_ context.Context, p protocol.Prompt, _ func(string)) (string, error) {
	const most = 4000 // bytes repeated whole
	if len(p.Body) <= most {
		return p.Body, nil
	}
	first, _, _ := strings.Cut(p.Body, "\n")
	return fmt.Sprintf("%s\n[%d bytes in all]", shorten(first, 200), len(p.Body)), nil
}
