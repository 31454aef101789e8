// Package house_test keeps the plan of the house: which rooms there are, which
// doors stand open between them, and the few habits that keep each room easy
// to read. The plan is the table below; whoever builds a new room, or needs a
// new door, changes it here first.
package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// room is what one top-level folder may do.
type room struct {
	doors    []string // rooms it may import
	all      bool     // it may import every room
	foreign  []string // libraries that are named here
	programs bool     // it knows agent programs by name
	words    []string // unfinished-work words that are its subject
}

// everywhere is the one foreign library that every room may name.
const everywhere = "github.com/rs/zerolog"

// The bounds of the house.
const (
	module       = "orchestrator-cc"
	maxDepth     = 5 // doors in a row
	maxFileLines = 500
	maxFuncLines = 80
)

func plan() map[string]room {
	return map[string]room{
		"protocol":      {foreign: []string{"github.com/google/uuid"}},
		"tmux":          {},
		"investigate":   {foreign: []string{"github.com/go-git/go-git/v5/plumbing/format/gitignore"}, words: []string{"todo", "fixme"}},
		"personalities": {doors: []string{"protocol"}},
		// config looks up the embedded brief that stands in for a missing file.
		"config":    {doors: []string{"protocol", "personalities"}, foreign: []string{"gopkg.in/yaml.v3"}, programs: true},
		"ledger":    {doors: []string{"protocol"}},
		"bus":       {doors: []string{"protocol"}, foreign: []string{"github.com/gofrs/flock"}},
		"logs":      {doors: []string{"protocol"}},
		"agents":    {doors: []string{"protocol", "config"}, programs: true},
		"builtin":   {doors: []string{"protocol", "investigate"}, words: []string{"todo", "fixme"}},
		"hub":       {doors: []string{"protocol", "tmux", "investigate", "personalities", "config", "ledger", "bus", "logs", "agents"}, foreign: []string{"golang.org/x/sync"}},
		"api":       {doors: []string{"protocol", "logs"}, foreign: []string{"github.com/danielgtaylor/huma/v2", "github.com/coder/websocket", "github.com/prometheus/common"}},
		"mcpserver": {doors: []string{"protocol"}, foreign: []string{"github.com/modelcontextprotocol/go-sdk"}},
		"cmd":       {all: true, foreign: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "charm.land/lipgloss/v2", "github.com/mattn/go-isatty", "golang.org/x/sys", "golang.org/x/term"}},
		"e2e":       {all: true, foreign: []string{"github.com/rogpeppe/go-internal"}},
		"engines":   {all: true, programs: true},
		"web":       {},
	}
}

func TestHouse(t *testing.T) {
	t.Parallel()
	files, err := goFiles(".")
	if err != nil {
		t.Fatal(err)
	}
	h, complaints := build(files)
	for _, c := range complaints {
		t.Error(c)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, complaint := range r.find(h) {
				t.Error(complaint)
			}
		})
	}
}

// goFiles reads every Go file below root that the go command would look at.
func goFiles(root string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			hidden := path != root && strings.ContainsRune("._", rune(name[0]))
			if hidden || slices.Contains([]string{"testdata", "node_modules", "vendor"}, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(path)] = string(text)
		return err
	})
	return files, err
}
