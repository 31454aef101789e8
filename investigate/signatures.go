package investigate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// SignatureQuery looks for declarations.
type SignatureQuery struct {
	Pattern    string      `json:"pattern,omitempty"` // matches the name or the signature
	Words      []string    `json:"words,omitempty"`   // these too, as in GrepQuery; without either: all
	IgnoreCase bool        `json:"ignore_case,omitempty"`
	Kinds      []scan.Kind `json:"kinds,omitempty"`
	Skip       int         `json:"skip,omitempty"`
	Where
	Limits Limits `json:"limits,omitzero"`
}

// Signature is one declaration and where it stands.
type Signature struct {
	Path string `json:"path"`
	scan.Decl
}

// SignatureResult lists declarations in the order of files and lines; where a
// pattern is given, those whose name it fits best come first.
type SignatureResult struct {
	Signatures []Signature    `json:"signatures"`
	Total      int            `json:"total"`
	Kinds      map[string]int `json:"kinds,omitempty"` // declarations per kind
	Scanned    int            `json:"scanned"`         // files read
	Partial    string         `json:"partial,omitempty"`
	Problems   []Problem      `json:"problems,omitempty"`
}

// Signatures reads the declarations of every source file, one goroutine per
// core. Files that cannot contain the pattern's text are not parsed.
func (r *Root) Signatures(ctx context.Context, q SignatureQuery) (SignatureResult, error) {
	match, err := q.matcher()
	if err != nil {
		return SignatureResult{}, err
	}
	chosen, err := r.choose(q.Where)
	if err != nil {
		return SignatureResult{}, err
	}
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return r.files[i].Language == scan.None })
	q.Limits = q.Limits.orDefault()
	limited, cancel := q.Limits.context(ctx)
	defer cancel()
	found := make([]fileDecls, len(chosen))
	parallelWorkers(len(chosen), func(next func() (int, bool)) {
		var buf bytes.Buffer
		for i, ok := next(); ok && limited.Err() == nil; i, ok = next() {
			found[i] = r.declsIn(&r.files[chosen[i]], &buf, match)
		}
	})
	if ctx.Err() != nil {
		return SignatureResult{}, fmt.Errorf("search for signatures: %w", context.Cause(ctx))
	}
	res := SignatureResult{Kinds: map[string]int{}}
	for i, f := range found {
		res.take(r.files[chosen[i]].Path, f)
	}
	match.bestFirst(res.Signatures)
	res.Signatures = page(res.Signatures, q.Skip, q.Limits.Lines)
	if limited.Err() != nil {
		res.Partial = fmt.Sprintf("time limit of %s reached after %d of %d files", q.Limits.Time, res.Scanned, len(chosen))
	}
	return res, nil
}

// fileDecls is what one file contributes.
type fileDecls struct {
	decls []scan.Decl
	err   error
	read  bool
}

func (r *SignatureResult) take(path string, f fileDecls) {
	if f.err != nil && !errors.Is(f.err, errBinary) && len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, Problem{Path: path, Reason: reason(f.err)})
	}
	if f.read {
		r.Scanned++
	}
	for _, d := range f.decls {
		r.Total++
		r.Kinds[string(d.Kind)]++
		if len(r.Signatures) < maxLines {
			r.Signatures = append(r.Signatures, Signature{Path: path, Decl: d})
		}
	}
}

// declsIn parses one file and keeps the declarations that match.
func (r *Root) declsIn(f *File, buf *bytes.Buffer, match *declMatcher) fileDecls {
	if err := source(r.abs(f.Path), buf); err != nil {
		return fileDecls{err: err}
	}
	if !match.possible(buf.Bytes()) {
		return fileDecls{read: true}
	}
	var kept []scan.Decl
	for _, d := range scan.File(f.Language, buf.Bytes()).Decls {
		if match.matches(&d) {
			kept = append(kept, d)
		}
	}
	slices.SortStableFunc(kept, func(a, b scan.Decl) int { return cmp.Compare(a.Line, b.Line) })
	return fileDecls{decls: kept, read: true}
}

// declMatcher is a compiled SignatureQuery.
type declMatcher struct {
	pattern *pattern // nil: every declaration
	kinds   []scan.Kind
}

func (q SignatureQuery) matcher() (*declMatcher, error) {
	m := &declMatcher{kinds: q.Kinds}
	if q.Pattern == "" && len(q.Words) == 0 {
		return m, nil
	}
	p, err := compilePattern(q.Pattern, false, q.IgnoreCase, q.Words...)
	if err != nil {
		return nil, err
	}
	m.pattern = p
	return m, nil
}

// possible is false where the file's text rules out a match. A needle with a
// blank in it says nothing, because signatures have their blanks squeezed.
func (m *declMatcher) possible(src []byte) bool {
	if m.pattern == nil || m.pattern.needles == nil {
		return true
	}
	for i := range m.pattern.needles {
		n := &m.pattern.needles[i]
		if bytes.ContainsAny(n.text, " …") || n.foldsBeyondASCII() && hasFoldedVariant(src) || n.occurs(src) {
			return true
		}
	}
	return false
}

// occurs looks for the needle; where it is a whole name, for a whole word.
func (n *needle) occurs(src []byte) bool {
	for from := 0; from < len(src); {
		i := n.index(src[from:])
		if i < 0 {
			return false
		}
		at := from + i
		end := at + len(n.text)
		inWord := at > 0 && isNameByte(src[at-1]) || end < len(src) && isNameByte(src[end])
		if !n.whole || !inWord {
			return true
		}
		from = at + 1
	}
	return false
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// bestFirst sorts by how much of the name the pattern matches, code before tests.
func (m *declMatcher) bestFirst(found []Signature) {
	if m.pattern == nil {
		return
	}
	rank := make(map[string]int, 64) // names repeat: Close, String, New
	of := func(s *Signature) int {
		n, ok := rank[s.Name]
		if !ok {
			if at := findWord(m.pattern.re, []byte(s.Name)); at != nil {
				n = 100 * (at[1] - at[0]) / len(s.Name)
			}
			rank[s.Name] = n
		}
		if isTestPath(s.Path) || isSidePath(s.Path) {
			n /= 2
		}
		return n
	}
	slices.SortStableFunc(found, func(a, b Signature) int { return cmp.Compare(of(&b), of(&a)) })
}

func (m *declMatcher) matches(d *scan.Decl) bool {
	if len(m.kinds) > 0 && !slices.Contains(m.kinds, d.Kind) {
		return false
	}
	if m.pattern == nil {
		return true
	}
	// Few declarations hold a needle, and the expression costs a hundred times more.
	text := append(make([]byte, 0, 2*maxShownLine), d.Name...)
	text = append(append(text, '\n'), d.Signature...)
	return m.possible(text) && (m.pattern.re.MatchString(d.Name) || m.pattern.re.MatchString(d.Signature))
}

// Qualified is the name with its scope: Type.Method.
func (s Signature) Qualified() string {
	if s.Scope == "" {
		return s.Name
	}
	return strings.TrimSuffix(s.Scope, ".") + "." + s.Name
}
