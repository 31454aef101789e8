package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/e2e/hometest"
	"orchestrator-cc/logs"
	"orchestrator-cc/protocol"
)

// Every benchmark takes its samples within one iteration, so that one round of
// them all gives every figure.

// samples are durations of which the middle and the worst hundredth count.
type samples []time.Duration

func (s samples) at(percent int) float64 {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return float64(s[min(len(s)*percent/100, len(s)-1)].Microseconds()) / 1e3
}

func (s samples) report(b *testing.B, prefix string) {
	b.ReportMetric(s.at(50), prefix+"p50-ms")
	b.ReportMetric(s.at(99), prefix+"p99-ms")
}

// BenchmarkSend measures from the end of an answer, as the program in the pane
// reports it, to the end of the send that waited for it; and the whole of it.
func BenchmarkSend(b *testing.B) {
	c := newCompany(b)
	spool := filepath.Join(c.project, stateFolder, "run", "testing_specialist.spool")
	for b.Loop() {
		var tail, whole samples
		for i := range 100 {
			began := time.Now()
			c.run("send", "testing_specialist", fmt.Sprintf("/say %d", i))
			ended := time.Now()
			said := reports(spool)
			tail, whole = append(tail, ended.Sub(said[len(said)-1].Time)), append(whole, ended.Sub(began))
		}
		tail.report(b, "")
		whole.report(b, "whole-")
	}
}

// BenchmarkUp measures from nothing to five ready agents.
func BenchmarkUp(b *testing.B) {
	c := newProject(b, "")
	for b.Loop() {
		var took samples
		for range 7 {
			began := time.Now()
			c.run("up", "--engine", "builtin")
			took = append(took, time.Since(began))
			c.run("down")
		}
		took.report(b, "")
	}
}

// BenchmarkVersion measures the start of the program.
func BenchmarkVersion(b *testing.B) {
	for b.Loop() {
		var took samples
		for range 50 {
			began := time.Now()
			if err := exec.Command(hometest.Binary(), "version").Run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		took.report(b, "")
	}
}

// BenchmarkDelivery measures from the claim of a prompt to the program's word
// that it took it, by the size of the prompt.
func BenchmarkDelivery(b *testing.B) {
	for _, size := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			c := newCompany(b)
			client := c.client()
			prompt := "/say " + strings.Repeat("x", size)
			for b.Loop() {
				var took samples
				for range 5 {
					id := c.ask(client, "testing_specialist", prompt)
					until(b, time.Minute, func(ctx context.Context) (bool, string) {
						task, err := client.Task(ctx, id)
						return err == nil && task.State == protocol.TaskCompleted, fmt.Sprint(task.State, err)
					})
					task, err := client.Task(b.Context(), id)
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, between(task, protocol.Claimed, protocol.Taken))
				}
				took.report(b, "")
			}
		})
	}
}

func between(t protocol.Task, from, to protocol.StepName) time.Duration {
	var began, ended time.Time
	for _, m := range t.Attempts[len(t.Attempts)-1].Steps {
		switch m.Step {
		case from:
			began = m.Time
		case to:
			ended = m.Time
		}
	}
	return ended.Sub(began)
}

// ask gives an agent a task without waiting for it.
func (c *company) ask(client *api.Client, agent, text string) string {
	c.t.Helper()
	m := protocol.New(protocol.FromUser(), protocol.Identifier{AgentID: agent}, protocol.TaskRequest(text))
	r, err := client.Post(c.t.Context(), m, false)
	if err != nil {
		c.t.Fatal(err)
	}
	return r.MessageID
}

// BenchmarkSubmit measures messages of 256 bytes from the call to the receipt,
// when they are on disk: one client alone, then many at once; beside them a
// plain write and fsync on the same disk.
func BenchmarkSubmit(b *testing.B) {
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprintf("%dclients", clients), func(b *testing.B) {
			c := newCompany(b)
			c.run("pause", "testing_specialist") // accepted, not delivered
			for b.Loop() {
				each := max(2000/clients, 50)
				began := time.Now()
				took := submitMany(c, clients, each)
				b.ReportMetric(float64(len(took))/time.Since(began).Seconds(), "messages/s")
				took.report(b, "")
				raw := rawSyncs(b, c.project, 200)
				raw.report(b, "raw-")
				b.ReportMetric(took.at(50)/raw.at(50), "p50-x-raw")
			}
		})
	}
}

// news is an event for an agent; unlike tasks, any number may wait.
func news(text string) protocol.Message {
	return protocol.New(protocol.FromUser(), protocol.Identifier{AgentID: "testing_specialist"}, protocol.Info(text))
}

func submitMany(c *company, clients, each int) (all samples) {
	var mu sync.Mutex
	var group sync.WaitGroup
	text := strings.Repeat("x", 256)
	for range clients {
		client := c.client()
		group.Go(func() {
			var mine samples
			for range each {
				began := time.Now()
				if _, err := client.Post(c.t.Context(), news(text), false); err != nil {
					c.t.Error(err)
					return
				}
				mine = append(mine, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	group.Wait()
	return all
}

func rawSyncs(t testing.TB, dir string, n int) (took samples) {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := []byte(strings.Repeat("x", 600)) // about what such a message takes in the stream
	for range n {
		began := time.Now()
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// BenchmarkJournal measures from the call that submits a message to the moment
// at which somebody who follows the journal sees its line.
func BenchmarkJournal(b *testing.B) {
	c := newCompany(b)
	c.run("pause", "testing_specialist")
	client := c.client()
	lines := make(chan logs.Line)
	go logs.Follow(b.Context(), filepath.Join(c.project, "logs", "messages.jsonl"), func(l logs.Line) error {
		select {
		case lines <- l:
		case <-b.Context().Done():
		}
		return nil
	}, logs.FollowOptions{})
	for b.Loop() {
		var took samples
		for range 300 {
			m := news("hello")
			m.Header.MessageID = protocol.NewID()
			began := time.Now()
			if _, err := client.Post(b.Context(), m, false); err != nil {
				b.Fatal(err)
			}
			for l := range lines {
				if l.ID == m.Header.MessageID {
					break
				}
			}
			took = append(took, time.Since(began))
		}
		took.report(b, "")
	}
}
