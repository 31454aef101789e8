package protocol

import (
	"fmt"
	"strings"
	"time"
)

// Tokens is what models read and wrote.
type Tokens struct {
	Input  int64   `json:"input"`            // read afresh, what was put into a cache included
	Output int64   `json:"output"`           // written, thoughts included
	Cached int64   `json:"cached,omitempty"` // read from a cache, for which providers ask little
	Cost   float64 `json:"cost,omitempty"`   // in US dollars, where the program tells it
}

// Spent is what limits count. What came from a cache is left out: a long
// conversation reads all of it again with each call, at a fraction of the price.
func (t Tokens) Spent() int64 { return t.Input + t.Output }

// Plus adds up.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{Input: t.Input + o.Input, Output: t.Output + o.Output, Cached: t.Cached + o.Cached, Cost: t.Cost + o.Cost}
}

// Usage is what one answer of a model took. In a report it has its id, its
// model and its tokens; the stream adds whom and what it was for.
type Usage struct {
	ID    string    `json:"id"` // as the program names the answer; an id counts once
	Agent string    `json:"agent,omitempty"`
	Req   string    `json:"req,omitempty"`  // the attempt it was for; empty for a person's own chat
	Task  string    `json:"task,omitempty"` // the root of that attempt's task
	At    time.Time `json:"at,omitzero"`
	Model string    `json:"model,omitempty"`
	Tokens
}

// Figure writes a count as people read it: 950, 12.3k, 4.5M.
func Figure(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000, "G"}, {1_000_000, "M"}, {1000, "k"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + unit.name
		}
	}
	return fmt.Sprint(n)
}

// TokenStats is what models took so far. Days are those of UTC.
type TokenStats struct {
	Total   Tokens            `json:"total"`
	ByAgent map[string]Tokens `json:"by_agent"`
	ByModel map[string]Tokens `json:"by_model"`
	ByDay   []DayTokens       `json:"by_day"`  // newest first, a month of them
	ByTask  []TaskTokens      `json:"by_task"` // the most expensive trees first, those the reader may see
}

// DayTokens is what one day took.
type DayTokens struct {
	Day     string            `json:"day"` // 2026-02-01
	Total   Tokens            `json:"total"`
	ByAgent map[string]Tokens `json:"by_agent"`
}

// TaskTokens is what one task took, with all that was done for it.
type TaskTokens struct {
	Task  string `json:"task"`
	Agent string `json:"agent"`
	Text  string `json:"text"`
	Total Tokens `json:"total"`
}
