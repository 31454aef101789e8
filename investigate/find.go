package investigate

import (
	"context"
	"fmt"

	"orchestrator-cc/investigate/scan"
)

// FindQuery lists files by name.
type FindQuery struct {
	Where
	Skip   int    `json:"skip,omitempty"`
	Limits Limits `json:"limits,omitzero"`
}

// FoundFile is one file that matches.
type FoundFile struct {
	Path     string        `json:"path"`
	Bytes    int64         `json:"bytes"`
	Language scan.Language `json:"language,omitempty"`
	Test     bool          `json:"test,omitempty"`
}

// FindResult lists the files in the order of their paths.
type FindResult struct {
	Files []FoundFile `json:"files"`
	Total int         `json:"total"`
}

// Find filters the list of files.
func (r *Root) Find(ctx context.Context, q FindQuery) (FindResult, error) {
	if ctx.Err() != nil {
		return FindResult{}, fmt.Errorf("find files: %w", context.Cause(ctx))
	}
	chosen, err := r.choose(q.Where)
	if err != nil {
		return FindResult{}, err
	}
	r.stat()
	res := FindResult{Total: len(chosen)}
	for _, i := range page(chosen, q.Skip, q.Limits.orDefault().Lines) {
		f := &r.files[i]
		res.Files = append(res.Files, FoundFile{Path: f.Path, Bytes: f.size, Language: f.Language, Test: isTestPath(f.Path)})
	}
	return res, nil
}
