package investigate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"orchestrator-cc/investigate/scan"
)

// walker lists a tree with a few goroutines: a stack of folders still to list,
// and the results below one lock, taken once per folder.
type walker struct {
	root   string
	prefix string // the root's own path inside its repository, with a slash at its end

	mu       sync.Mutex
	wake     *sync.Cond
	stack    []folder
	busy     int
	files    []File
	dirs     []string
	problems []Problem
}

type folder struct {
	rel   string
	rules *ignoreRules
}

func newWalker(root string) *walker {
	w := &walker{root: root}
	w.wake = sync.NewCond(&w.mu)
	rules, prefix := outerIgnoreRules(root)
	w.prefix = prefix
	w.stack = []folder{{rel: "", rules: rules}}
	return w
}

func (w *walker) walk(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wake.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				dir, ok := w.next(ctx)
				if !ok {
					return
				}
				w.done(w.list(dir))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// next waits for a folder; false means that the walk is over.
func (w *walker) next(ctx context.Context) (folder, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.busy > 0 && ctx.Err() == nil {
		w.wake.Wait()
	}
	if len(w.stack) == 0 || ctx.Err() != nil {
		return folder{}, false
	}
	dir := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.busy++
	return dir, true
}

// listing is what one folder holds.
type listing struct {
	rel      string
	folders  []folder
	files    []File
	problems []Problem
}

func (w *walker) done(l listing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.stack = append(w.stack, l.folders...)
	if l.rel != "" {
		w.dirs = append(w.dirs, l.rel)
	}
	if room := maxFiles - len(w.files); len(l.files) > room {
		l.files = l.files[:room]
		l.problems = append(l.problems, Problem{Path: l.rel, Reason: reasonCut})
		w.stack = nil
	}
	w.files = append(w.files, l.files...)
	if room := maxProblems - len(w.problems); len(l.problems) > room {
		l.problems = l.problems[:room]
	}
	w.problems = append(w.problems, l.problems...)
	w.wake.Broadcast()
}

func (w *walker) list(dir folder) listing {
	l := listing{rel: dir.rel}
	entries, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(dir.rel)))
	if err != nil {
		name := dir.rel
		if name == "" {
			name = "."
		}
		l.problems = append(l.problems, Problem{Path: name, Reason: reason(err)})
	}
	rules := dir.rules
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			rules = rules.withFile(filepath.Join(w.root, filepath.FromSlash(rel(dir.rel, e.Name()))), w.domain(dir.rel))
		}
	}
	for _, e := range entries {
		rel := rel(dir.rel, e.Name())
		if rules.ignored(w.prefix+rel, e.IsDir()) {
			continue
		}
		switch {
		case e.IsDir():
			if !isOwnFolder(e.Name()) {
				l.folders = append(l.folders, folder{rel: rel, rules: rules})
			}
		case e.Type().IsRegular() && !isJournal(rel):
			l.files = append(l.files, File{Path: rel, Language: scan.LanguageOf(rel)})
		case e.Type()&os.ModeSymlink != 0:
			l.problems = append(l.problems, Problem{Path: rel, Reason: w.linkReason(rel)})
		}
	}
	return l
}

func rel(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// domain is the folder's path inside its repository, as ignorePattern has it.
func (w *walker) domain(dir string) string {
	if dir == "" {
		return w.prefix
	}
	return w.prefix + dir + "/"
}

// isOwnFolder names the folders that hold the books of version control and of
// this program itself: never code to investigate.
func isOwnFolder(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".orchestrator-cc":
		return true
	}
	return false
}

// isJournal names the journal of this program, whole or rotated, where it lies
// by default. It holds every question asked before, so it would answer each one
// with itself.
func isJournal(rel string) bool { return strings.HasPrefix(rel, "logs/messages.jsonl") }

// Why something in the tree was not visited.
const (
	reasonLoop     = "symbolic link loop"
	reasonLoopUp   = "symbolic link loop: it leads back to a folder around it"
	reasonDeadLink = "symbolic link to nothing"
	reasonLink     = "symbolic link, not followed"
	reasonCut      = "the tree has more files than are listed"
)

// linkReason tells a loop and a dead link from a link that is merely not followed.
func (w *walker) linkReason(rel string) string {
	path := filepath.Join(w.root, filepath.FromSlash(rel))
	target, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, syscall.ELOOP) || err != nil && strings.Contains(err.Error(), "too many links"):
		return reasonLoop
	case err != nil:
		return reasonDeadLink
	case strings.HasPrefix(path+"/", target+"/"):
		return reasonLoopUp
	}
	return reasonLink
}

// parallel calls work for 0..n-1 from one goroutine per core and returns when
// all calls have.
func parallel(n int, work func(i int)) {
	parallelWorkers(n, func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			work(i)
		}
	})
}

// parallelWorkers is parallel for workers that keep buffers from call to call:
// each takes indexes from next until it says false.
func parallelWorkers(n int, worker func(next func() (int, bool))) {
	var counter atomic.Int64
	next := func() (int, bool) {
		i := int(counter.Add(1)) - 1
		return i, i < n
	}
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() { worker(next) })
	}
	wg.Wait()
}
