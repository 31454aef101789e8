package investigate

import (
	"context"
	"slices"

	"orchestrator-cc/investigate/scan"
)

const (
	// sampleFiles is how many files an estimate searches: enough to tell ten hits
	// from ten thousand, few enough to cost milliseconds.
	sampleFiles = 48
	bytesPerRow = 110 // a path, a line number and a line of code
)

// estimate foretells the size of a result. What the walk knows is exact; a
// search is tried on a sample of the files.
func (r *Root) estimate(ctx context.Context, q any) (Estimate, error) {
	switch q := q.(type) {
	case TreeQuery:
		return rows(len(r.dirs)), nil
	case FindQuery:
		chosen, err := r.choose(q.Where)
		return rows(len(chosen)), err
	case GrepQuery:
		return r.estimateGrep(ctx, q)
	case SignatureQuery:
		if q.Pattern == "" && len(q.Words) == 0 {
			return r.estimateDecls(q)
		}
		return r.estimateGrep(ctx, GrepQuery{Pattern: q.Pattern, Words: q.Words, IgnoreCase: q.IgnoreCase, Where: q.Where})
	}
	return rows(maxSubjects), nil
}

func rows(n int) Estimate { return Estimate{Lines: n, Bytes: n * bytesPerRow} }

func (r *Root) estimateGrep(ctx context.Context, q GrepQuery) (Estimate, error) {
	p, err := compilePattern(q.Pattern, q.Literal, q.IgnoreCase, q.Words...)
	if err != nil {
		return Estimate{}, err
	}
	chosen, err := r.choose(q.Where)
	if err != nil || len(chosen) == 0 {
		return Estimate{}, err
	}
	step := max(len(chosen)/sampleFiles, 1)
	g := fileGrep{root: r, search: p.searcher(), reader: newBlockReader()}
	hits, files := 0, 0
	for i := 0; i < len(chosen) && ctx.Err() == nil; i += step {
		// One block per file is enough for a guess, and bounds the time.
		hits += g.firstBlock(r.files[chosen[i]].Path)
		files++
	}
	return rows(hits * len(chosen) / max(files, 1)), nil
}

// firstBlock counts the matching lines in the first block of a file.
func (g *fileGrep) firstBlock(path string) int {
	n := 0
	_ = g.reader.each(g.root.abs(path), func(b block) bool {
		g.search.lines(b.data, func(_, _, _ int) bool { n++; return true })
		return false
	})
	return n
}

// bytesPerDecl is how much source one declaration takes on average.
const bytesPerDecl = 900

func (r *Root) estimateDecls(q SignatureQuery) (Estimate, error) {
	chosen, err := r.choose(q.Where)
	if err != nil {
		return Estimate{}, err
	}
	r.stat()
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return r.files[i].Language == scan.None })
	size := int64(0)
	for _, i := range chosen {
		size += r.files[i].size
	}
	return rows(int(size / bytesPerDecl)), nil
}
