package hub

import (
	"path/filepath"
	"slices"

	"orchestrator-cc/agents"
)

// mostSources bounds what one turn may name.
const mostSources = 200

// sources are the files an answer rests on, in order: those below the agent's
// folder by their relative paths.
func (w *worker) sources(a agents.Answer) (out []string) {
	for _, path := range a.Sources {
		if rel, err := filepath.Rel(w.Pane.Dir, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
			path = rel
		}
		out = append(out, path)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), mostSources)]
}
