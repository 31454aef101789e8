package investigate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// StaticQuery analyses declarations: what they depend on, what depends on them,
// how large and how tested they are. Without targets it surveys the whole tree.
type StaticQuery struct {
	// Targets are names (Retry, Policy.Retry), places (a/b.go:12) or files (a/b.go).
	Targets []string `json:"targets,omitempty"`
	Where
	Locale string `json:"locale,omitempty"` // "ja": notes and names of relations in Japanese
	Skip   int    `json:"skip,omitempty"`
	Limits Limits `json:"limits,omitzero"`
}

// Ref is a place in the code that backs a statement.
type Ref struct {
	Path string `json:"path,omitempty"` // empty: outside the tree
	Line int    `json:"line,omitempty"`
	Name string `json:"name,omitempty"` // of the declaration around it, or of what is meant
	Text string `json:"text,omitempty"`
}

// Call is one line of a call tree.
type Call struct {
	Depth int `json:"depth"`
	Ref
}

// Subject is one declaration under analysis.
type Subject struct {
	Signature
	Lines      int    `json:"lines"`
	Complexity int    `json:"complexity,omitempty"`
	DependsOn  []Ref  `json:"depends_on,omitempty"` // imports of its file or package
	Dependents []Ref  `json:"dependents,omitempty"` // where its file or package is imported
	Callers    []Ref  `json:"callers,omitempty"`
	Callees    []Ref  `json:"callees,omitempty"`
	CallTree   []Call `json:"call_tree,omitempty"` // what it calls, and what those call
	Variables  []Ref  `json:"variables,omitempty"` // package variables it uses
	Related    []Ref  `json:"related,omitempty"`   // implementers of an interface, or interfaces of a type
	Tests      []Ref  `json:"tests,omitempty"`
	Todos      []Ref  `json:"todos,omitempty"`
	// Typed is true where calls were resolved by the type checker, false where
	// they were matched by name.
	Typed bool `json:"typed,omitempty"`
}

// StaticResult is the analysis of all subjects, or the survey.
type StaticResult struct {
	Subjects []Subject `json:"subjects,omitempty"`
	Survey   *Survey   `json:"survey,omitempty"`
	Total    int       `json:"total"`
	Notes    []string  `json:"notes,omitempty"` // what could not be found out, and why
	Problems []Problem `json:"problems,omitempty"`
	Partial  string    `json:"partial,omitempty"`
}

const (
	maxSubjects = 6
	maxRefs     = 25 // of one kind per subject; the rest is counted in Notes
)

// Static analyses the targets, or surveys the tree where there are none.
func (r *Root) Static(ctx context.Context, q StaticQuery) (StaticResult, error) {
	q.Limits = q.Limits.orDefault()
	limited, cancel := q.Limits.context(ctx)
	defer cancel()
	var res StaticResult
	say := labelsOf(q.Locale).Notes
	if len(q.Targets) == 0 {
		survey, err := r.survey(limited, q)
		if err != nil {
			return res, err
		}
		return StaticResult{Survey: &survey, Total: 1}, nil
	}
	found, err := r.resolve(limited, q)
	if err != nil {
		return res, err
	}
	res.Total = len(found)
	shown := page(found, q.Skip, min(maxSubjects, q.Limits.Lines))
	if len(shown) < len(found)-q.Skip {
		res.Notes = append(res.Notes, fmt.Sprintf(say.Analysed, len(shown), len(found)))
	}
	if len(found) == 0 {
		res.Notes = append(res.Notes, fmt.Sprintf(say.NoMatch, strings.Join(q.Targets, ", ")))
	}
	a := &analysis{root: r, ctx: limited, res: &res, say: say}
	for _, sig := range shown {
		res.Subjects = append(res.Subjects, Subject{Signature: sig, Lines: sig.End - sig.Line + 1})
	}
	a.run()
	if ctx.Err() != nil {
		return StaticResult{}, fmt.Errorf("static analysis: %w", context.Cause(ctx))
	}
	if limited.Err() != nil {
		res.Partial = fmt.Sprintf("time limit of %s reached", q.Limits.Time)
	}
	return res, nil
}

// resolve finds the declarations that the targets mean, best first.
func (r *Root) resolve(ctx context.Context, q StaticQuery) ([]Signature, error) {
	var all []Signature
	var names []string
	for _, target := range q.Targets {
		switch at, err := r.at(target); {
		case err != nil:
			return nil, err
		case at != nil:
			all = append(all, at...)
		default:
			names = append(names, target)
		}
	}
	if len(names) > 0 {
		byName, err := r.byName(ctx, names, q)
		if err != nil {
			return nil, err
		}
		all = append(all, byName...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s Signature) bool {
		key := s.Path + ":" + strconv.Itoa(s.Line) + s.Name
		double := seen[key]
		seen[key] = true
		return double
	}), nil
}

// at reads a target that names a file or a line; nil means that it names neither.
func (r *Root) at(target string) ([]Signature, error) {
	path, number, hasLine := strings.Cut(target, ":")
	line, err := strconv.Atoi(number)
	i, ok := slices.BinarySearchFunc(r.files, path, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok || hasLine && err != nil {
		return nil, nil
	}
	facts, _, err := r.facts(&r.files[i])
	if err != nil {
		return nil, fmt.Errorf("analyse %s: %s", path, reason(err))
	}
	out := []Signature{}
	if hasLine {
		if d := enclosing(facts.Decls, line); d != nil {
			out = append(out, Signature{Path: path, Decl: *d})
		}
		return out, nil
	}
	for _, d := range facts.Decls {
		out = append(out, Signature{Path: path, Decl: d})
	}
	slices.SortStableFunc(out, func(a, b Signature) int { return cmp.Compare(b.End-b.Line, a.End-a.Line) })
	return out, nil
}

// byName looks for declarations with exactly these names, and where none of a
// name exists for names that contain it.
func (r *Root) byName(ctx context.Context, names []string, q StaticQuery) ([]Signature, error) {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n[strings.LastIndexByte(n, '.')+1:])
	}
	res, err := r.Signatures(ctx, SignatureQuery{
		Pattern: strings.Join(quoted, "|"), IgnoreCase: true, Where: q.Where, Limits: Limits{Lines: maxLines, Time: q.Limits.Time},
	})
	if err != nil {
		return nil, err
	}
	type ranked struct {
		Signature
		rank int
	}
	var all []ranked
	for _, s := range res.Signatures {
		if rank := nameRank(s, names); rank > 0 {
			all = append(all, ranked{s, rank})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	out := make([]Signature, 0, len(all))
	for _, s := range all {
		if all[0].rank >= exactName && s.rank < exactName {
			break // exact names exist: what merely contains them is noise
		}
		out = append(out, s.Signature)
	}
	return out, nil
}

// exactName is the least rank of a name that is the one asked for.
const exactName = 800

// nameRank says how well a declaration answers to one of the names; 0: not at all.
func nameRank(s Signature, names []string) int {
	best := 0
	for _, n := range names {
		rank := 0
		switch {
		case s.Qualified() == n || strings.HasSuffix(s.Qualified(), "."+n):
			rank = exactName + 200
		case strings.Contains(n, "."):
		case s.Name == n:
			rank = exactName + 200
		case strings.EqualFold(s.Name, n):
			rank = exactName + 100
		case beginsPart(s.Name, n):
			rank = 500
		}
		best = max(best, rank)
	}
	if best == 0 {
		return 0
	}
	// Among equals the nearest to the top is the one meant most often.
	best -= min(strings.Count(s.Path, "/"), 8)
	if strings.Contains(s.Path, "internal/") {
		best -= 2
	}
	if isTestPath(s.Path) {
		best -= 50
	}
	if isSidePath(s.Path) {
		best -= 300 // so that no exact name there hides the code's own
	}
	if s.Kind == scan.Prototype {
		best -= 10
	}
	return best
}

// enclosing returns the innermost declaration around a line.
func enclosing(decls []scan.Decl, line int) *scan.Decl {
	var best *scan.Decl
	for i := range decls {
		d := &decls[i]
		if d.Line <= line && line <= d.End && (best == nil || d.End-d.Line <= best.End-best.Line) {
			best = d
		}
	}
	return best
}

// facts reads and scans one file.
func (r *Root) facts(f *File) (scan.Facts, []byte, error) {
	var buf bytes.Buffer
	if err := source(r.abs(f.Path), &buf); err != nil {
		return scan.Facts{}, nil, err
	}
	return scan.File(f.Language, buf.Bytes()), buf.Bytes(), nil
}
