package ledger

import (
	"slices"
	"time"
	"unicode/utf8"

	"orchestrator-cc/protocol"
)

const (
	// keepClosed is how long a closed tree can be looked up.
	keepClosed = 30 * 24 * time.Hour
	// wholeTexts is how many bytes of text closed trees may hold before the
	// oldest are shortened; the stream has them in full.
	wholeTexts = 2 << 20
	// shortText is what is left of a text, enough for a line on a screen.
	shortText = 120
)

// shelf keeps closed trees in the order they closed. Those before whole have
// had their texts shortened.
type shelf struct {
	trees []shelved
	whole int
	bytes int
}

type shelved struct {
	id   string
	seq  uint64 // of its closing; a tree that was opened again has another
	at   int64
	size int
}

// stillClosed finds the root of a shelved tree, unless it was opened again or
// is gone.
func (l *Ledger) stillClosed(t shelved) *node {
	n := l.nodes[t.id]
	if n == nil || n.ClosedSeq != t.seq || !n.State.Done() {
		return nil
	}
	return n
}

// putAway shelves a closed tree, and shortens the oldest where that makes too
// much text.
func (l *Ledger) putAway(n *node) {
	s := &l.shelf
	t := shelved{id: n.ID, seq: n.ClosedSeq, at: n.Updated, size: n.textSize()}
	s.trees = append(s.trees, t)
	s.bytes += t.size
	for s.bytes > wholeTexts && s.whole < len(s.trees) {
		old := s.trees[s.whole]
		s.whole++
		s.bytes -= old.size
		if n := l.stillClosed(old); n != nil {
			n.shorten()
		}
	}
}

// forget drops the trees that closed too long ago.
func (l *Ledger) forget() {
	s := &l.shelf
	for len(s.trees) > 0 && s.trees[0].at+int64(keepClosed) < l.clock {
		old := s.trees[0]
		s.trees = s.trees[1:]
		if s.whole > 0 {
			s.whole--
		} else {
			s.bytes -= old.size
		}
		n := l.stillClosed(old)
		if n == nil || n.atWork() {
			continue
		}
		l.drop(n)
		if at, found := slices.BinarySearchFunc(l.roots, n, bySeq); found {
			l.roots = slices.Delete(l.roots, at, at+1)
		}
	}
}

// atWork says that some part of the tree is not over.
func (n *node) atWork() bool { return n.open() || slices.ContainsFunc(n.kids, (*node).atWork) }

func (l *Ledger) drop(n *node) {
	delete(l.nodes, n.ID)
	delete(l.dueNodes, n)
	for _, a := range n.Attempts {
		delete(l.byReq, a.Req)
	}
	for _, k := range n.kids {
		l.drop(k)
	}
}

func (n *node) textSize() int {
	size := len(n.Text) + len(n.Result) + len(n.Words)
	for _, k := range n.kids {
		size += k.textSize()
	}
	return size
}

// shorten cuts the texts of a closed tree. What a person may still want to
// retry keeps its request whole.
func (n *node) shorten() {
	if !n.open() && (n.parent != nil || n.State == protocol.TaskCompleted) {
		n.Text, n.Words = short(n.Text), short(n.Words)
	}
	n.Result, n.Reason, n.Results = short(n.Result), short(n.Reason), nil
	for i := range n.Attempts {
		a := &n.Attempts[i]
		a.Marks = append(make([]mark, 0, len(a.Marks)), a.Marks...) // exactly as large as needed
		for _, m := range a.Marks {
			if m.More != nil {
				m.More.Text, m.More.Reason = short(m.More.Text), short(m.More.Reason)
			}
		}
	}
	for _, k := range n.kids {
		k.shorten()
	}
}

// short cuts a text between two runes and lets go of the rest.
func short(s string) string {
	if len(s) <= shortText {
		return s
	}
	cut := shortText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return string([]byte(s[:cut])) + "…"
}
