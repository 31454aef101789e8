package investigate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// Run executes a command by name within the limits. The size of its result is
// estimated first: where it is over the limit the outcome holds a digest, the
// whole goes to a file below limits.Spill, and Digest.More asks for what follows.
// A mistake in the command is an error; so is a cancelled context.
func (r *Root) Run(ctx context.Context, c Command, limits Limits) (Outcome, error) {
	q, err := c.query()
	if err != nil {
		return Outcome{}, err
	}
	start := time.Now()
	o := Outcome{Command: c, Attempts: 1}
	limits = limitsOf(q).or(limits).orDefault()
	if o.Estimate, err = r.estimate(ctx, q); err != nil {
		return Outcome{}, err
	}
	ask := limits
	if limits.Spill != "" && (o.Estimate.Lines > limits.Lines || o.Estimate.Bytes > limits.Bytes) {
		ask.Lines = maxLines // the spilled file is to hold everything
	}
	if err := r.execute(ctx, q, ask, &o); err != nil {
		return Outcome{}, err
	}
	if err := o.fit(q, limits); err != nil {
		return Outcome{}, err
	}
	o.Elapsed = time.Since(start).Round(time.Millisecond)
	return o, nil
}

func limitsOf(q any) Limits {
	switch q := q.(type) {
	case TreeQuery:
		return q.Limits
	case FindQuery:
		return q.Limits
	case GrepQuery:
		return q.Limits
	case SignatureQuery:
		return q.Limits
	case StaticQuery:
		return q.Limits
	}
	return Limits{}
}

func (r *Root) execute(ctx context.Context, q any, limits Limits, o *Outcome) error {
	switch q := q.(type) {
	case TreeQuery:
		q.Limits = limits
		res, err := r.Tree(ctx, q)
		o.Tree = &res
		return err
	case FindQuery:
		q.Limits = limits
		res, err := r.Find(ctx, q)
		o.Find = &res
		return err
	case GrepQuery:
		q.Limits = limits
		res, err := r.Grep(ctx, q)
		o.Grep = &res
		return err
	case SignatureQuery:
		q.Limits = limits
		res, err := r.Signatures(ctx, q)
		o.Signatures = &res
		return err
	case StaticQuery:
		q.Limits = limits
		res, err := r.Static(ctx, q)
		o.Static = &res
		return err
	}
	return fmt.Errorf("run %T: not a query", q)
}

// entries is the list in a result that can be cut, as lines of text and as
// something to shorten.
type entries struct {
	lines func(i int) string
	n     int
	cut   func(n int)
	skip  int
	more  func(skip int) any
}

// fit cuts the result to the limits, spills the whole, and fills in the digest.
func (o *Outcome) fit(q any, limits Limits) error {
	e := o.entries(q)
	if e.n == 0 {
		return nil
	}
	keep, size := 0, 0
	for keep < min(e.n, limits.Lines) {
		if size += len(e.lines(keep)) + 1; size > limits.Bytes && keep > 0 {
			break
		}
		keep++
	}
	total := max(o.Total(), e.n) - e.skip
	if keep >= total {
		return nil
	}
	d := &Digest{Shown: keep, Total: total + e.skip}
	if limits.Spill != "" && e.n > keep {
		path, err := spill(limits.Spill, o.Command, e)
		if err != nil {
			return err
		}
		d.Spill = path
	}
	more, err := NewCommand(e.more(e.skip + keep))
	if err != nil {
		return err
	}
	d.More = more.String()
	e.cut(keep)
	o.Digest = d
	return nil
}

// entries describes the list of whichever result the outcome holds.
func (o *Outcome) entries(q any) entries {
	switch q := q.(type) {
	case TreeQuery:
		t := o.Tree
		return entries{n: len(t.Folders), skip: q.Skip, cut: func(n int) { t.Folders = t.Folders[:n] },
			lines: func(i int) string { return jsonLine(t.Folders[i]) }, more: func(s int) any { q.Skip = s; return q }}
	case FindQuery:
		f := o.Find
		return entries{n: len(f.Files), skip: q.Skip, cut: func(n int) { f.Files = f.Files[:n] },
			lines: func(i int) string { return jsonLine(f.Files[i]) }, more: func(s int) any { q.Skip = s; return q }}
	case GrepQuery:
		g := o.Grep
		return entries{n: len(g.Hits), skip: q.Skip, cut: func(n int) { g.Hits = g.Hits[:n] },
			lines: func(i int) string { return jsonLine(g.Hits[i]) }, more: func(s int) any { q.Skip = s; return q }}
	case SignatureQuery:
		g := o.Signatures
		return entries{n: len(g.Signatures), skip: q.Skip, cut: func(n int) { g.Signatures = g.Signatures[:n] },
			lines: func(i int) string { return jsonLine(g.Signatures[i]) }, more: func(s int) any { q.Skip = s; return q }}
	case StaticQuery:
		s := o.Static
		return entries{n: len(s.Subjects), skip: q.Skip, cut: func(n int) { s.Subjects = s.Subjects[:n] },
			lines: func(i int) string { return jsonLine(s.Subjects[i]) }, more: func(k int) any { q.Skip = k; return q }}
	}
	return entries{}
}

// jsonLine is an entry on one line. The results' types always encode.
func jsonLine(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// spill writes all entries to a new file, one JSON object a line.
func spill(dir string, c Command, e entries) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("spill result of %s: %w", c.Name, err)
	}
	f, err := os.CreateTemp(dir, c.Name+"-*.jsonl")
	if err != nil {
		return "", fmt.Errorf("spill result of %s: %w", c.Name, err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("spill result of %s to %s: %w", c.Name, f.Name(), err)
		}
	}()
	w := bufio.NewWriter(f)
	for i := range e.n {
		if _, err := w.WriteString(e.lines(i) + "\n"); err != nil {
			return "", err
		}
	}
	return f.Name(), w.Flush()
}
