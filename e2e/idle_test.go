package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// watched is how long a company is watched for its use of the processor.
const watched = 20 * time.Second

// ticksPerSecond is the unit of the times in /proc, the same on every Linux.
const ticksPerSecond = 100

// BenchmarkIdle measures what a company that does nothing costs: tmux, its
// event client, and the hub with every program it starts.
func BenchmarkIdle(b *testing.B) {
	for _, agents := range []int{5, 50} {
		b.Run(fmt.Sprintf("%dagents", agents), func(b *testing.B) {
			c := crowd(b, agents)
			for b.Loop() {
				c.watchCost(b)
			}
		})
	}
}

// BenchmarkBusy measures the same while everybody works and shows it.
func BenchmarkBusy(b *testing.B) {
	c := crowd(b, 50)
	for b.Loop() {
		client := c.client()
		for i := range 50 {
			c.ask(client, fmt.Sprintf("worker_%d", i), "/think 10m")
		}
		for i := range 50 {
			spool := filepath.Join(c.project, stateFolder, "run", fmt.Sprintf("worker_%d.spool", i))
			until(b, time.Minute, func(context.Context) (bool, string) { return atWork(spool), spool + " tells of no work" })
		}
		c.watchCost(b)
	}
}

// crowd starts a company of so many specialists.
func crowd(b *testing.B, n int) *company {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("the cost of a process is read from /proc")
	}
	var config strings.Builder
	config.WriteString("engine: builtin\nagents:\n")
	for i := range n {
		fmt.Fprintf(&config, "  - {name: worker_%d, role: specialist_%d, marker: W%03d OK, personality_prompt_path: brief.txt}\n", i, i, i)
	}
	c := newProject(b, config.String())
	if err := os.WriteFile(filepath.Join(c.project, "brief.txt"), []byte("You are one of many.\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	c.run("up")
	return c
}

// watchCost reports the share of one core that the company took while it was
// watched, and the hub's memory.
func (c *company) watchCost(b *testing.B) {
	b.Helper()
	card, ok := c.card()
	if !ok {
		b.Fatal("the hub left no card")
	}
	server, client := c.serverPID(), readPID(b, filepath.Join(c.project, stateFolder, "run", "events.pid"))
	cost := func() (hub, tmux time.Duration) {
		own, children := cpu(b, card.PID)
		hub = own + children // the tmux commands it runs
		for _, pid := range []int{server, client} {
			own, _ := cpu(b, pid)
			tmux += own
		}
		return hub, tmux
	}
	time.Sleep(3 * time.Second) // what was started comes to rest
	hub, tmux := cost()
	began := time.Now()
	time.Sleep(watched)
	hubAfter, tmuxAfter := cost()
	span := float64(time.Since(began)) / 100
	b.ReportMetric(float64(hubAfter-hub)/span, "hub-%core")
	b.ReportMetric(float64(tmuxAfter-tmux)/span, "tmux-%core")
	b.ReportMetric(float64(hubAfter-hub+tmuxAfter-tmux)/span, "both-%core")
	b.ReportMetric(rss(b, card.PID), "hub-MB")
}

func readPID(t testing.TB, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// cpu is the time that a process, and the children it has waited for, took.
func cpu(t testing.TB, pid int) (own, children time.Duration) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name in parentheses may hold blanks; utime is the 12th field after it.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	ticks := func(i int) time.Duration {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * time.Second / ticksPerSecond
	}
	return ticks(11) + ticks(12), ticks(13) + ticks(14)
}

// rss is a process's memory in megabytes.
func rss(t testing.TB, pid int) float64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(data, []byte("VmRSS:"))
	var kb float64
	if _, err := fmt.Sscan(string(after), &kb); err != nil {
		t.Fatal(err)
	}
	return kb / 1024
}
