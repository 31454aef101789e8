package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator-cc/protocol"
)

// tally counts the requests that were answered, for GET /metrics.
type tally struct {
	mu       sync.Mutex
	answered map[answerKind]int
	seconds  float64
	streams  int // open event streams and WebSockets
}

// answerKind keeps the number of series small: paths hold ids, so only the
// method and the status are told apart.
type answerKind struct {
	method string
	status int
}

func newTally() *tally { return &tally{answered: map[answerKind]int{}} }

func (t *tally) note(method string, status int, took time.Duration) {
	if !slices.Contains([]string{http.MethodGet, http.MethodPost}, method) {
		method = "other" // What callers make up must not become series.
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered[answerKind{method, status}]++
	t.seconds += took.Seconds()
}

// stream counts an open stream until the returned function is called.
func (t *tally) stream() (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.streams--
	})
}

// metrics answers in the text format of Prometheus, version 0.0.4. The figures
// are of the whole company; none names a task or a session.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var page exposition
	s.companyFigures(&page)
	s.requestFigures(&page)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(page.text.String())) // A reader who went away needs no answer.
}

func (s *Server) companyFigures(page *exposition) {
	m, o := s.hub.Metrics(), s.hub.Overview()
	page.family("messages_total", "counter", "Messages accepted, by type.")
	for _, kind := range sorted(m.ByType) {
		page.sample("messages_total", m.ByType[kind], "type", string(kind))
	}
	page.family("agent_messages_total", "counter", "Messages sent, by agent.")
	for _, name := range sorted(m.ByAgent) {
		page.sample("agent_messages_total", m.ByAgent[name], "agent", name)
	}
	page.family("tokens_total", "counter", "Tokens that models took, by agent; cached ones were read from a cache.")
	for _, name := range sorted(m.Tokens.ByAgent) {
		took := m.Tokens.ByAgent[name]
		page.sample("tokens_total", took.Input, "agent", name, "kind", "input")
		page.sample("tokens_total", took.Output, "agent", name, "kind", "output")
		page.sample("tokens_total", took.Cached, "agent", name, "kind", "cached")
	}
	page.family("agent_up", "gauge", "1 for an agent that can take work, now or later.")
	for _, a := range o.Agents {
		page.sample("agent_up", truth(a.State != protocol.Dead && a.State != protocol.Degraded), "agent", a.Name)
	}
	page.family("agent_queue", "gauge", "Messages that wait for an agent.")
	for _, a := range o.Agents {
		page.sample("agent_queue", a.Queue, "agent", a.Name)
	}
	states := map[protocol.TaskState]int{}
	for _, t := range s.hub.Tasks() {
		states[t.State]++
	}
	page.family("tasks", "gauge", "Tasks that are remembered, by state.")
	for _, state := range sorted(states) {
		page.sample("tasks", states[state], "state", string(state))
	}
	for _, figure := range []struct {
		name, help string
		value      float64
	}{
		{"latency_average_seconds", "Mean time from a request to its answer.", m.AvgLatencyMS / 1000},
		{"error_ratio", "Requests that ended in an error.", m.ErrorRate},
		{"retry_ratio", "Requests that were tried again.", m.RetryRate},
		{"timeout_ratio", "Requests that timed out.", m.TimeoutRate},
		{"stream_entries", "The stream's last sequence number.", float64(o.Hub.Seq)},
		{"problems", "What the hub complains about; see orchestrator-cc status.", float64(len(o.Hub.Problems))},
	} {
		page.family(figure.name, "gauge", figure.help)
		page.sample(figure.name, figure.value)
	}
}

func (s *Server) requestFigures(page *exposition) {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	page.family("http_requests_total", "counter", "Requests answered, by method and status.")
	kinds := slices.SortedFunc(maps.Keys(s.tally.answered), func(a, b answerKind) int {
		return cmp.Or(strings.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	for _, k := range kinds {
		page.sample("http_requests_total", s.tally.answered[k], "method", k.method, "status", fmt.Sprint(k.status))
	}
	page.family("http_request_seconds_total", "counter", "Time spent on them, streams included.")
	page.sample("http_request_seconds_total", s.tally.seconds)
	page.family("http_streams", "gauge", "Event streams and WebSockets that are open.")
	page.sample("http_streams", s.tally.streams)
}

// exposition is a page of metrics: each family's head, then all its samples.
type exposition struct{ text strings.Builder }

const metricPrefix = "orchestrator_cc_"

func (e *exposition) family(name, kind, help string) {
	fmt.Fprintf(&e.text, "# HELP %s%s %s\n# TYPE %s%s %s\n", metricPrefix, name, help, metricPrefix, name, kind)
}

// sample writes one value; labels come as name, value, name, value.
func (e *exposition) sample(name string, value any, labels ...string) {
	e.text.WriteString(metricPrefix + name)
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for i := 0; i < len(labels); i += 2 {
		sign := ","
		if i == 0 {
			sign = "{"
		}
		fmt.Fprintf(&e.text, `%s%s="%s"`, sign, labels[i], escape.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		e.text.WriteString("}")
	}
	fmt.Fprintf(&e.text, " %v\n", value)
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}
