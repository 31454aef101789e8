package api

import (
	"context"
	"fmt"
	"iter"
	"math"
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
	Lines int    `query:"lines" minimum:"1" maximum:"1000" default:"100" doc:"how many lines"`
	From  uint64 `query:"from" doc:"begin with this sequence number and read on; without it: the newest lines"`
}

func (s *Server) journalRoutes(api huma.API) {
	huma.Register(api, route("journal", http.MethodGet, "/journal", "Lines of the journal, the oldest first: the newest ones, or those from a sequence number on", ScopeRead), s.journal)
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
	if in.From > 0 {
		lines, err := s.linesAfter(ctx, in.From-1, last, in.Lines)
		if err != nil {
			return nil, refuse(fmt.Errorf("read the journal: %w", err))
		}
		return answer(JournalLines{Lines: list(lines)})
	}
	for window := uint64(nearEntries); ; window *= journalWindows {
		lines, err := s.linesAfter(ctx, last-min(window, last), last, math.MaxInt)
		if err != nil {
			return nil, refuse(fmt.Errorf("read the journal: %w", err))
		}
		if len(lines) >= in.Lines || window >= last || window >= farEntries {
			return answer(JournalLines{Lines: list(lines[max(0, len(lines)-in.Lines):])})
		}
	}
}

// linesAfter are the caller's lines between two entries, so many at most.
func (s *Server) linesAfter(ctx context.Context, after, last uint64, most int) ([]logs.Line, error) {
	c := callerOf(ctx)
	var lines []logs.Line
	for reader := s.tail(after, ""); reader.last < last && len(lines) < most; {
		it, err := reader.next(ctx, nil)
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

// pageLines is how much of the journal one request brings.
const pageLines = 1000

// WholeJournal yields every line of the journal that the caller may see, page
// by page, the oldest first.
func (c *Client) WholeJournal(ctx context.Context) iter.Seq2[logs.Line, error] {
	return func(yield func(logs.Line, error) bool) {
		for from := uint64(1); ; {
			var page JournalLines
			if err := c.do(ctx, http.MethodGet, fmt.Sprintf("/journal?lines=%d&from=%d", pageLines, from), nil, &page); err != nil {
				yield(logs.Line{}, err)
				return
			}
			for _, l := range page.Lines {
				if from = l.Seq + 1; !yield(l, nil) {
					return
				}
			}
			if len(page.Lines) < pageLines {
				return
			}
		}
	}
}
