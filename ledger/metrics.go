package ledger

import (
	"maps"

	"orchestrator-cc/protocol"
)

// tally counts what the metrics are made of.
type tally struct {
	Sent     int                   `json:"sent"`
	Received int                   `json:"received"`
	Closed   int                   `json:"closed"`
	Failed   int                   `json:"failed"`
	Late     int                   `json:"late"`
	Latency  int64                 `json:"latency"` // milliseconds, summed
	Claims   int                   `json:"claims"`
	Retries  int                   `json:"retries"`
	ByType   map[protocol.Type]int `json:"by_type"`
	ByAgent  map[string]int        `json:"by_agent"`
}

func (t *tally) accepted(m protocol.Message) {
	t.Sent++
	t.ByType[m.Header.Type]++
	t.ByAgent[m.From()]++
}

// restore takes over saved figures; maps that a snapshot lacks stay usable.
func (t *tally) restore(s tally) {
	byType, byAgent := t.ByType, t.ByAgent
	*t = s
	t.ByType, t.ByAgent = byType, byAgent
	maps.Copy(t.ByType, s.ByType)
	maps.Copy(t.ByAgent, s.ByAgent)
}

func (t *tally) closed(c *protocol.Closing) {
	t.Closed++
	t.Latency += c.LatencyMS
	if c.Status == protocol.Failed {
		t.Failed++
	}
	if c.Code == protocol.CodeTimeout || c.Code == protocol.CodeExpired {
		t.Late++
	}
}

// Metrics are the figures of the agent protocol. Sent counts accepted
// messages, received those that reached a pane or are read in the stream.
// Latency, error and timeout rates are over closed requests, the retry rate
// over attempts. ByAgent counts by sender.
func (l *Ledger) Metrics() protocol.Metrics {
	t := l.tally
	return protocol.Metrics{
		MessagesSent:     t.Sent,
		MessagesReceived: t.Received,
		AvgLatencyMS:     ratio(float64(t.Latency), t.Closed),
		ErrorRate:        ratio(float64(t.Failed), t.Closed),
		TimeoutRate:      ratio(float64(t.Late), t.Closed),
		RetryRate:        ratio(float64(t.Retries), t.Claims),
		ByType:           maps.Clone(t.ByType),
		ByAgent:          maps.Clone(t.ByAgent),
		Tokens:           l.tokenStats(),
	}
}

func ratio(part float64, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return part / float64(whole)
}
