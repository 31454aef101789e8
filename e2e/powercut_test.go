package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrator-cc/bus"
)

// TestPowerCut kills everything at once while tasks run, leaves a torn write at
// the stream's end and takes away the journal's, which is not synced, and starts
// again: nothing that was acknowledged is lost, doubled or torn. (That the
// stream syncs before it acknowledges is tested where the syncs can be seen, in
// its own room.) ORCHESTRATOR_CC_CUTS makes it longer, ORCHESTRATOR_CC_SEED
// repeats a run.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts := setting("CUTS", 3)
	seed := uint64(setting("SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("seed %d: %d power cuts", seed, cuts)
	c := newCompany(t)
	random := rand.New(rand.NewPCG(seed, 3))
	var ids []string
	for range cuts {
		ids = append(ids, c.submitTasks(random, 4)...)
		c.cutPower(random)
		c.run("up", "--engine", "builtin")
	}
	c.awaitAll(ids)
	c.count(ids)
}

// lastSegment is the file of the stream that is being written.
func (c *company) lastSegment() string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.project, stateFolder, "stream", "*.log"))
	if err != nil || len(files) == 0 {
		c.t.Fatalf("find the stream's files: %v, %d of them", err, len(files))
	}
	return slices.Max(files)
}

// cutPower ends every process and lets the files be as after a power cut: the
// stream may end in the middle of a write, the journal may have lost its end.
func (c *company) cutPower(random *rand.Rand) {
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
	torn := fmt.Appendf(nil, "%d torn in the middle of", random.Uint64())
	c.damageEnd(c.lastSegment(), 0, torn[:random.IntN(len(torn))])
	journal := filepath.Join(c.project, "logs", "messages.jsonl")
	if info, err := os.Stat(journal); err == nil && info.Size() > 0 {
		c.damageEnd(journal, random.Int64N(min(info.Size(), 300)), nil)
	}
}

// damageEnd cuts so many bytes off a file and leaves rubbish in their place.
func (c *company) damageEnd(path string, cut int64, rubbish []byte) {
	c.t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	end, err := f.Seek(-cut, io.SeekEnd)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Write(rubbish)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}
