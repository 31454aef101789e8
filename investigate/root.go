package investigate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"orchestrator-cc/investigate/scan"
)

// Root is a code tree that was walked once. Its list of files does not change
// afterwards; the files' contents are read by each command anew. All methods
// may be called at the same time.
type Root struct {
	path     string
	files    []File
	dirs     []string
	problems []Problem
	sizes    sync.Once
}

// File is one file of the tree.
type File struct {
	Path     string // relative to the root, with slashes
	Language scan.Language
	size     int64
}

// Problem is something in the tree that could not be read or was not followed.
// It is reported instead of ending the command that met it.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const (
	maxFiles    = 1_000_000 // about 100 MB of names; larger trees are cut, and the cut is a Problem
	maxProblems = 500       // per tree and per command; a tree of broken links is not worth more
)

// Open walks the tree below path. It respects .gitignore files (also those of
// the repository around path), skips version-control folders, and does not
// follow symbolic links: what they lead to inside the tree is visited under its
// own name.
func Open(ctx context.Context, path string) (*Root, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open code tree %s: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("open code tree %s: %w", path, rootCause(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, fmt.Errorf("open code tree %s: %w", path, rootCause(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open code tree %s: not a folder; name the folder it is in: %s", path, filepath.Dir(path))
	}
	w := newWalker(real)
	if err := w.walk(ctx); err != nil {
		return nil, fmt.Errorf("walk code tree %s: %w", path, err)
	}
	r := &Root{path: real, files: w.files, dirs: w.dirs, problems: w.problems}
	slices.SortFunc(r.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(r.dirs)
	sortProblems(r.problems)
	return r, nil
}

// rootCause drops the path that an *os.PathError repeats.
func rootCause(err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Path is the absolute path of the tree, symbolic links resolved.
func (r *Root) Path() string { return r.path }

// Files lists every file that is not ignored, sorted by path.
func (r *Root) Files() []File { return slices.Clone(r.files) }

// Problems lists what the walk met and did not visit.
func (r *Root) Problems() []Problem { return slices.Clone(r.problems) }

func (r *Root) abs(rel string) string { return filepath.Join(r.path, filepath.FromSlash(rel)) }

// stat fills in the sizes. The walk leaves them out because a search does not
// need them and they cost as much as the walk itself.
func (r *Root) stat() {
	r.sizes.Do(func() {
		parallel(len(r.files), func(i int) {
			if info, err := os.Lstat(r.abs(r.files[i].Path)); err == nil {
				r.files[i].size = info.Size()
			}
		})
	})
}

// Where narrows a command to a part of the tree.
type Where struct {
	Under    string        `json:"under,omitempty"`    // a folder or a file, relative to the root
	Name     string        `json:"name,omitempty"`     // shell pattern for the file's name, or part of its path
	Language scan.Language `json:"language,omitempty"` // as in File.Language
	NoTests  bool          `json:"no_tests,omitempty"`
}

// choose returns the indexes of the files that match.
func (r *Root) choose(w Where) ([]int, error) {
	if _, err := filepath.Match(w.Name, ""); err != nil {
		return nil, fmt.Errorf("file name pattern %q: %w", w.Name, err)
	}
	under := strings.Trim(filepath.ToSlash(filepath.Clean("/"+w.Under)), "/")
	var chosen []int
	for i := range r.files {
		f := &r.files[i]
		if under != "" && f.Path != under && !strings.HasPrefix(f.Path, under+"/") {
			continue
		}
		if w.Name != "" && !matchName(w.Name, f.Path) {
			continue
		}
		if w.Language != "" && f.Language != w.Language {
			continue
		}
		if w.NoTests && isTestPath(f.Path) {
			continue
		}
		chosen = append(chosen, i)
	}
	return chosen, nil
}

// matchName compares a shell pattern with the file's name (with the whole path
// where the pattern has a slash). A pattern without wildcards means "contains",
// in any case, which is what people type; it also finds what lies below a folder
// of that name.
func matchName(pattern, path string) bool {
	subject := path
	if !strings.Contains(pattern, "/") {
		subject = path[strings.LastIndexByte(path, '/')+1:]
	}
	if !strings.ContainsAny(pattern, "*?[") {
		lower := strings.ToLower(pattern)
		return strings.Contains(strings.ToLower(subject), lower) || strings.Contains("/"+strings.ToLower(dirOf(path))+"/", "/"+lower+"/")
	}
	ok, err := filepath.Match(pattern, subject)
	return err == nil && ok
}

func sortProblems(p []Problem) {
	slices.SortFunc(p, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
}

// reason says why a path could not be read, without repeating the path.
func reason(err error) string {
	if errors.Is(err, syscall.ELOOP) {
		return reasonLoop
	}
	return rootCause(err).Error()
}
