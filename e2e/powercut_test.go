package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrator-cc/bus"
)

// TestPowerCut kills everything at once while tasks run, drops what need not
// have reached the disk, leaves a torn write behind, and starts again: nothing
// that was acknowledged is lost, doubled or torn. ORCHESTRATOR_CC_CUTS makes it
// longer, ORCHESTRATOR_CC_SEED repeats a run.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts := setting("CUTS", 3)
	seed := uint64(setting("SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("seed %d: %d power cuts", seed, cuts)
	c := newCompany(t)
	random := rand.New(rand.NewPCG(seed, 3))
	var ids []string
	for range cuts {
		var safe int64 // what is surely on disk: the stream's length at the last receipt
		for i := range 4 {
			ids = append(ids, c.submitTasks(random, 1)...)
			safe = c.segmentSize()
			if i < 3 {
				time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
			}
		}
		c.cutPower(random, safe)
		c.run("up", "--engine", "builtin")
	}
	c.awaitAll(ids)
	c.count(ids)
}

// segments are the stream's files that hold entries, oldest first.
func (c *company) segments() []string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.project, stateFolder, "stream", "*.log"))
	if err != nil || len(files) == 0 {
		c.t.Fatalf("find the stream's files: %v, %d of them", err, len(files))
	}
	slices.Sort(files)
	return files
}

func (c *company) segmentSize() int64 {
	files := c.segments()
	info, err := os.Stat(files[len(files)-1])
	if err != nil {
		c.t.Fatal(err)
	}
	return info.Size()
}

// cutPower ends every process and lets the files be as after a power cut: the
// stream may have lost what came after the last receipt and may end in the
// middle of a write, the journal may have lost its end.
func (c *company) cutPower(random *rand.Rand, safe int64) {
	c.t.Helper()
	card, _ := c.card()
	panes, err := c.tmux("list-panes", "-s", "-F", "#{pane_pid}")
	if err != nil {
		c.t.Fatal(err)
	}
	server := c.serverPID()
	for _, pid := range append([]int{card.PID, server}, fields(panes)...) {
		kill(pid)
	}
	free, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	if err := bus.Wait(free, filepath.Join(c.project, stateFolder, "stream")); err != nil {
		c.t.Fatal(err)
	}
	files := c.segments()
	last := files[len(files)-1]
	size := c.segmentSize()
	if size > safe {
		size = safe + random.Int64N(size-safe+1)
	}
	torn := fmt.Appendf(nil, "%d torn in the middle of", random.Uint64())
	c.rewriteEnd(last, size, torn[:random.IntN(len(torn))])
	journal := filepath.Join(c.project, "logs", "messages.jsonl")
	if info, err := os.Stat(journal); err == nil && info.Size() > 0 {
		c.rewriteEnd(journal, info.Size()-random.Int64N(min(info.Size(), 300)), nil)
	}
}

// rewriteEnd cuts a file and leaves rubbish at its end.
func (c *company) rewriteEnd(path string, size int64, rubbish []byte) {
	c.t.Helper()
	if err := os.Truncate(path, size); err != nil {
		c.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(rubbish); err != nil {
		c.t.Fatal(err)
	}
}
