package investigate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// TreeQuery lists the folders of the tree.
type TreeQuery struct {
	Under  string `json:"under,omitempty"`
	Depth  int    `json:"depth,omitempty"` // levels of folders; 0: 3
	Skip   int    `json:"skip,omitempty"`
	Limits Limits `json:"limits,omitzero"`
}

// Folder is one folder with what lies anywhere below it.
type Folder struct {
	Path      string   `json:"path"`
	Files     int      `json:"files"`
	Bytes     int64    `json:"bytes"`
	Languages []string `json:"languages,omitempty"` // the most frequent first, at most three
}

// TreeResult is the shape of the tree: its folders, its languages, the files at
// the top, and the files that are code by language.
type TreeResult struct {
	Root      string         `json:"root"`
	Folders   []Folder       `json:"folders"`
	TopFiles  []string       `json:"top_files,omitempty"`
	Languages map[string]int `json:"languages,omitempty"` // files per language
	Files     int            `json:"files"`
	Bytes     int64          `json:"bytes"`
	Total     int            `json:"total"` // folders within the depth
	Problems  []Problem      `json:"problems,omitempty"`
}

const (
	defaultDepth = 3
	maxTopLevel  = 40
	// maxTreeProblems is how many of the walk's problems a listing repeats.
	maxTreeProblems = 20
)

// Tree describes the folders from what the walk saw.
func (r *Root) Tree(ctx context.Context, q TreeQuery) (TreeResult, error) {
	if err := ctx.Err(); err != nil {
		return TreeResult{}, fmt.Errorf("list folders: %w", context.Cause(ctx))
	}
	q.Limits = q.Limits.orDefault()
	if q.Depth <= 0 {
		q.Depth = defaultDepth
	}
	r.stat()
	chosen, err := r.choose(Where{Under: q.Under})
	if err != nil {
		return TreeResult{}, err
	}
	res := TreeResult{Root: r.path, Languages: map[string]int{}, Problems: r.problems[:min(len(r.problems), maxTreeProblems)]}
	base := strings.Trim(path.Clean("/"+q.Under), "/")
	sums := map[string]*folderSum{}
	for _, i := range chosen {
		f := &r.files[i]
		res.Files++
		res.Bytes += f.size
		if f.Language != "" {
			res.Languages[string(f.Language)]++
		}
		if dir := dirOf(f.Path); dir == base && len(res.TopFiles) < maxTopLevel {
			res.TopFiles = append(res.TopFiles, path.Base(f.Path))
		}
		addToFolders(sums, f, base, q.Depth)
	}
	for dir, sum := range sums {
		res.Folders = append(res.Folders, Folder{Path: dir, Files: sum.files, Bytes: sum.bytes, Languages: sum.top()})
	}
	slices.SortFunc(res.Folders, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	res.Total = len(res.Folders)
	res.Folders = page(res.Folders, q.Skip, q.Limits.Lines)
	return res, nil
}

type folderSum struct {
	files     int
	bytes     int64
	languages map[string]int
}

// addToFolders counts a file in each folder around it that is shown.
func addToFolders(sums map[string]*folderSum, f *File, base string, depth int) {
	for dir := dirOf(f.Path); dir != "" && dir != base; dir = dirOf(dir) {
		if strings.Count(strings.TrimPrefix(dir, base+"/"), "/") >= depth {
			continue
		}
		sum := sums[dir]
		if sum == nil {
			sum = &folderSum{languages: map[string]int{}}
			sums[dir] = sum
		}
		sum.files++
		sum.bytes += f.size
		if f.Language != "" {
			sum.languages[string(f.Language)]++
		}
	}
}

func (s *folderSum) top() []string {
	names := make([]string, 0, len(s.languages))
	for name := range s.languages {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.languages[b], s.languages[a]), strings.Compare(a, b))
	})
	return names[:min(len(names), 3)]
}

// dirOf is path.Dir with "" for the top.
func dirOf(file string) string {
	i := strings.LastIndexByte(file, '/')
	if i < 0 {
		return ""
	}
	return file[:i]
}

// page leaves out the first skip entries and keeps at most limit.
func page[T any](all []T, skip, limit int) []T {
	all = all[min(max(skip, 0), len(all)):]
	return all[:min(limit, len(all))]
}
