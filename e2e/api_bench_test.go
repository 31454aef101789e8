package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/api"
)

// benchConfig has room for everything that is submitted and never delivered.
const benchConfig = `engine: builtin
limits: {open_tasks: 1000000}
agents:
  - {name: grand_boss, role: grand_boss, marker: GRAND BOSS OK}
`

// newBenchWeb is a hub with a paused boss, so that only the interface and the
// stream work, and with more keys than one client can use up.
func newBenchWeb(b *testing.B, keys int) (*web, []string) {
	b.Helper()
	c := newProject(b, benchConfig)
	c.run("up", "--port", "0")
	c.run("pause", "grand_boss")
	w := &web{company: c, url: c.address()}
	file := api.NewKeys(filepath.Join(c.project, stateFolder, "keys.json"))
	var all []string
	for i := range keys {
		key, err := file.Add(fmt.Sprint("bench", i), []api.Scope{api.ScopeRead, api.ScopeSubmit}, 0)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, key)
	}
	w.key = all[0]
	return w, all
}

// BenchmarkHTTPSubmit is how long a submit takes over TCP with a key, on disk
// when it returns, with so many clients at once.
func BenchmarkHTTPSubmit(b *testing.B) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			w, keys := newBenchWeb(b, 300)
			each := max(3000/clients, 20)
			transport := &http.Transport{MaxIdleConnsPerHost: clients}
			defer transport.CloseIdleConnections()
			var mu sync.Mutex
			var took []time.Duration
			began := time.Now()
			var hands sync.WaitGroup
			for i := range clients {
				hands.Go(func() {
					for n := range each {
						// A key may make 500 requests a second, so they take turns.
						d, err := w.timeSubmit(transport, keys[(i+n*clients)%len(keys)])
						if err != nil {
							b.Error(err)
							return
						}
						mu.Lock()
						took = append(took, d)
						mu.Unlock()
					}
				})
			}
			hands.Wait()
			rate := float64(len(took)) / time.Since(began).Seconds()
			report(b, took)
			b.ReportMetric(rate, "submits/s")
		})
	}
}

func (w *web) timeSubmit(transport *http.Transport, key string) (time.Duration, error) {
	req, err := http.NewRequest("POST", w.url+"/submit_task", strings.NewReader(`{"sessionId":"bench","userPrompt":"hello","taskType":"chat"}`))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("got %d %s", resp.StatusCode, body)
	}
	return time.Since(began), err
}

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	ms := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(0.50), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
}

// BenchmarkFanOut has a thousand readers of one session: how long an event
// takes to each, and what an idle reader costs the hub.
func BenchmarkFanOut(b *testing.B) {
	const readers, events = 1000, 20
	w, keys := newBenchWeb(b, 1)
	card, _ := w.card()
	before := residentKB(b, card.PID)
	ctx, cancel := context.WithCancel(b.Context())
	seen := make(chan time.Duration, readers*events)
	var reading sync.WaitGroup
	transport := &http.Transport{}
	for range readers {
		body := w.openEvents(b, ctx, transport, keys[0])
		reading.Go(func() { receive(body, seen) })
	}
	idle := float64(residentKB(b, card.PID)-before) / readers
	client := &http.Transport{}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for range events {
		if _, err := w.timeSubmit(client, keys[0]); err != nil {
			b.Fatal(err)
		}
		for range readers {
			select {
			case d := <-seen:
				took = append(took, d)
			case <-time.After(30 * time.Second):
				b.Fatalf("got %d receipts, want one for each reader and event", len(took))
			}
		}
	}
	cancel()
	reading.Wait()
	report(b, took)
	b.ReportMetric(idle, "KB/reader")
}

func (w *web) openEvents(b *testing.B, ctx context.Context, transport *http.Transport, key string) io.ReadCloser {
	b.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", w.url+"/events?sessionId=bench", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("got %s, want a stream", resp.Status)
	}
	return resp.Body
}

// receive reads one stream and tells how old each request was when it came. It
// takes the time out of the line and decodes nothing: a thousand readers share
// the machine with the hub that is measured.
func receive(body io.ReadCloser, seen chan<- time.Duration) {
	defer body.Close()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		_, rest, ok := strings.Cut(lines.Text(), `,"time":"`)
		if !ok || !strings.Contains(rest, `"type":"request"`) {
			continue
		}
		text, _, _ := strings.Cut(rest, `"`)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			seen <- time.Since(at)
		}
	}
}

// residentKB is the memory of a process.
func residentKB(b *testing.B, pid int) int {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("the memory of a process is read from /proc")
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return kb
		}
	}
	b.Fatal("got no VmRSS")
	return 0
}
