package investigate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// GrepQuery searches the text of the tree line by line.
type GrepQuery struct {
	Pattern    string   `json:"pattern,omitempty"`
	Words      []string `json:"words,omitempty"` // these too, in any case, as parts of names: retry in maxRetries
	Literal    bool     `json:"literal,omitempty"`
	IgnoreCase bool     `json:"ignore_case,omitempty"`
	Context    int      `json:"context,omitempty"` // lines shown before and after each hit, at most 10
	Skip       int      `json:"skip,omitempty"`    // hits to leave out: asks for more of a digest
	Where
	Limits Limits `json:"limits,omitzero"`
}

// Hit is one line that matches.
type Hit struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Column int      `json:"column"` // in bytes, from 1
	Text   string   `json:"text"`   // without indentation, cut to one screen line or two
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// FileCount is how many lines of a file match.
type FileCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// GrepResult holds the first hits in the order of the files' paths, and counts
// of them all.
type GrepResult struct {
	Hits     []Hit       `json:"hits"`
	Total    int         `json:"total"`
	Files    int         `json:"files"`    // files with hits
	Searched int         `json:"searched"` // files read
	Binary   int         `json:"binary,omitempty"`
	Top      []FileCount `json:"top,omitempty"` // files with most hits
	Partial  string      `json:"partial,omitempty"`
	Problems []Problem   `json:"problems,omitempty"`
}

const (
	maxContext  = 10
	maxTopFiles = 20
)

// Grep searches with one goroutine per core. Its memory does not depend on the
// size of the files. When the time is over it returns what it has, and Partial
// says so.
func (r *Root) Grep(ctx context.Context, q GrepQuery) (GrepResult, error) {
	p, err := compilePattern(q.Pattern, q.Literal, q.IgnoreCase, q.Words...)
	if err != nil {
		return GrepResult{}, err
	}
	chosen, err := r.choose(q.Where)
	if err != nil {
		return GrepResult{}, err
	}
	q.Limits = q.Limits.orDefault()
	limited, cancel := q.Limits.context(ctx)
	defer cancel()
	skip := min(max(q.Skip, 0), maxLines)
	gather := newHitGatherer(len(chosen), skip+q.Limits.Lines)
	parallelWorkers(len(chosen), func(next func() (int, bool)) {
		g := fileGrep{root: r, search: p.searcher(), reader: newBlockReader()}
		for i, ok := next(); ok && limited.Err() == nil; i, ok = next() {
			gather.add(i, g.file(limited, r.files[chosen[i]].Path, gather.room()))
		}
	})
	if ctx.Err() != nil {
		return GrepResult{}, fmt.Errorf("search for %q: %w", clip(q.Pattern, 80), context.Cause(ctx))
	}
	res := gather.result()
	if limited.Err() != nil {
		res.Partial = fmt.Sprintf("time limit of %s reached after %d of %d files", q.Limits.Time, res.Searched, len(chosen))
	}
	res.Hits = res.Hits[min(skip, len(res.Hits)):]
	if q.Context > 0 {
		r.addContext(res.Hits, min(q.Context, maxContext))
	}
	return res, nil
}

// fileGrep searches one file after the other.
type fileGrep struct {
	root   *Root
	search *searcher
	reader *blockReader
}

// fileHits is the outcome for one file.
type fileHits struct {
	path  string
	hits  []Hit
	count int
	err   error
}

func (g *fileGrep) file(ctx context.Context, path string, room int) fileHits {
	out := fileHits{path: path}
	lastLine := 0
	g.search.placed = room > 0
	out.err = g.reader.each(g.root.abs(path), func(b block) bool {
		line, counted := b.line, 0
		g.search.lines(b.data, func(start, end, at int) bool {
			line += bytes.Count(b.data[counted:start], []byte{'\n'})
			counted = start
			if line == lastLine {
				return ctx.Err() == nil // a further part of a torn line
			}
			lastLine = line
			out.count++
			if len(out.hits) < room {
				column := at - start + 1
				if start == 0 {
					column += b.offset
				}
				out.hits = append(out.hits, Hit{Path: path, Line: line, Column: column, Text: shown(b.data[start:end], at-start)})
			}
			return ctx.Err() == nil
		})
		return ctx.Err() == nil
	})
	if errors.Is(out.err, errBinary) {
		out.hits, out.count = nil, 0
	}
	return out
}

// hitGatherer joins the files' hits in the order of the files although they
// arrive in any order, and keeps no more than limit of them: once the files
// before have enough, later ones are only counted.
type hitGatherer struct {
	limit int
	full  atomic.Bool

	mu      sync.Mutex
	waiting map[int]fileHits
	next    int
	res     GrepResult
	counts  []FileCount
}

func newHitGatherer(files, limit int) *hitGatherer {
	return &hitGatherer{limit: limit, waiting: make(map[int]fileHits, min(files, 64))}
}

func (g *hitGatherer) room() int {
	if g.full.Load() {
		return 0
	}
	return g.limit
}

func (g *hitGatherer) add(i int, f fileHits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting[i] = f
	for {
		f, ok := g.waiting[g.next]
		if !ok {
			return
		}
		delete(g.waiting, g.next)
		g.next++
		g.take(f)
	}
}

func (g *hitGatherer) take(f fileHits) {
	switch {
	case errors.Is(f.err, errBinary):
		g.res.Binary++
	case f.err != nil:
		if len(g.res.Problems) < maxProblems {
			g.res.Problems = append(g.res.Problems, Problem{Path: f.path, Reason: reason(f.err)})
		}
	default:
		g.res.Searched++
	}
	if f.count == 0 {
		return
	}
	g.res.Total += f.count
	g.res.Files++
	g.counts = append(g.counts, FileCount{Path: f.path, Count: f.count})
	room := g.limit - len(g.res.Hits)
	g.res.Hits = append(g.res.Hits, f.hits[:min(len(f.hits), room)]...)
	if len(g.res.Hits) >= g.limit {
		g.full.Store(true)
	}
}

func (g *hitGatherer) result() GrepResult {
	slices.SortStableFunc(g.counts, func(a, b FileCount) int { return cmp.Compare(b.Count, a.Count) })
	g.res.Top = slices.Clone(g.counts[:min(len(g.counts), maxTopFiles)])
	return g.res
}

// addContext reads the files of the hits again for the lines around them. Only
// the hits that are shown pay for it.
func (r *Root) addContext(hits []Hit, around int) {
	reader := newBlockReader()
	for from := 0; from < len(hits); {
		to := from
		for to < len(hits) && hits[to].Path == hits[from].Path {
			to++
		}
		fillContext(reader, r.abs(hits[from].Path), hits[from:to], around)
		from = to
	}
}

// fillContext fills in the lines around the hits of one file. A file that has
// become unreadable since leaves its hits as they are.
func fillContext(reader *blockReader, path string, hits []Hit, around int) {
	first, last := 0, 0 // hits that the current line can still belong to
	_ = reader.each(path, func(b block) bool {
		line := b.line
		for text := range bytes.Lines(b.data) {
			for first < len(hits) && hits[first].Line+around < line {
				first++
			}
			for last < len(hits) && hits[last].Line-around <= line {
				last++
			}
			for i := first; i < last && !b.continued; i++ {
				switch h := &hits[i]; {
				case line < h.Line:
					h.Before = append(h.Before, shown(text, 0))
				case line > h.Line:
					h.After = append(h.After, shown(text, 0))
				}
			}
			line++
			b.continued = false
		}
		return first < len(hits)
	})
}
