package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"orchestrator-cc/logs"
)

// JournalLines is the answer to GET /journal.
type JournalLines struct {
	Lines []logs.Line `json:"lines"`
}

type readJournal struct {
	Lines int `query:"lines" minimum:"1" maximum:"1000" default:"100" doc:"how many of the newest lines"`
}

func (s *Server) journalRoutes(api huma.API) {
	huma.Register(api, route("journal", http.MethodGet, "/journal", "The newest lines of the journal, the oldest of them first", ScopeRead), s.journal)
}

// How far back is looked for the lines of a caller, who may see few of many
// entries: a little first, and more where that was not enough.
const (
	nearEntries    = 2_000
	farEntries     = 64_000
	journalWindows = 16 // times as far at each try
	journalWait    = 10 * time.Second
)

func (s *Server) journal(ctx context.Context, in *readJournal) (*body[JournalLines], error) {
	ctx, cancel := context.WithTimeout(ctx, journalWait)
	defer cancel()
	last := s.hub.Overview().Hub.Seq
	for window := uint64(nearEntries); ; window *= journalWindows {
		lines, err := s.linesAfter(ctx, last-min(window, last), last)
		if err != nil {
			return nil, refuse(fmt.Errorf("read the journal: %w", err))
		}
		if len(lines) >= in.Lines || window >= last || window >= farEntries {
			return answer(JournalLines{Lines: list(lines[max(0, len(lines)-in.Lines):])})
		}
	}
}

// linesAfter are the caller's lines between two entries.
func (s *Server) linesAfter(ctx context.Context, after, last uint64) ([]logs.Line, error) {
	c := callerOf(ctx)
	var lines []logs.Line
	for reader := s.tail(after, ""); reader.last < last; {
		it, err := reader.next(ctx)
		if err != nil {
			return nil, err
		}
		if line, ok := logs.LineOf(it.entry); ok && it.entry.Seq <= last && s.visible(c, it.entry) {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// Journal asks for the newest lines of the journal.
func (c *Client) Journal(ctx context.Context, lines int) ([]logs.Line, error) {
	var j JournalLines
	err := c.do(ctx, http.MethodGet, fmt.Sprintf("/journal?lines=%d", lines), nil, &j)
	return j.Lines, err
}
