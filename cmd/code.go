package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator-cc/investigate"
	"orchestrator-cc/investigate/scan"
)

// codeOptions are common to the five commands.
type codeOptions struct {
	path  string
	json  bool
	lines int
	where investigate.Where
	skip  int
}

// newCodeCommand offers the five commands of an investigation one by one.
func newCodeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "code",
		Short:   "Look into a code base: tree, find, grep, signatures, static",
		GroupID: groupWork,
	}
	onlyVerbs(c)
	c.AddCommand(newCodeTree(a), newCodeFind(a), newCodeGrep(a), newCodeSignatures(a), newCodeStatic(a))
	return c
}

func newCodeTree(a *app) *cobra.Command {
	var o codeOptions
	var depth int
	c := codeCommand("tree", "The folders, with what lies below each", "orchestrator-cc code tree --depth 2")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return runCode(c.Context(), a, o, investigate.TreeQuery{Under: o.where.Under, Depth: depth, Skip: o.skip, Limits: o.limits()})
	}
	o.flags(c.Flags())
	c.Flags().IntVar(&depth, "depth", 3, "levels of folders")
	return c
}

func newCodeFind(a *app) *cobra.Command {
	var o codeOptions
	c := codeCommand("find NAME", "Files by name: a part of the path, or a pattern such as *.go", "orchestrator-cc code find retry")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.where.Name = args[0]
		return runCode(c.Context(), a, o, investigate.FindQuery{Where: o.where, Skip: o.skip, Limits: o.limits()})
	}
	o.flags(c.Flags())
	return c
}

func newCodeGrep(a *app) *cobra.Command {
	var o codeOptions
	var q investigate.GrepQuery
	c := codeCommand("grep PATTERN", "Lines that match a regular expression", "orchestrator-cc code grep -i 'retry(er)?' -C 2")
	c.RunE = func(c *cobra.Command, args []string) error {
		q.Pattern, q.Where, q.Skip, q.Limits = args[0], o.where, o.skip, o.limits()
		return runCode(c.Context(), a, o, q)
	}
	o.flags(c.Flags())
	c.Flags().BoolVarP(&q.Literal, "literal", "F", false, "the pattern is plain text")
	c.Flags().BoolVarP(&q.IgnoreCase, "ignore-case", "i", false, "small and capital letters are alike")
	c.Flags().IntVarP(&q.Context, "context", "C", 0, "lines shown before and after each hit")
	return c
}

func newCodeSignatures(a *app) *cobra.Command {
	var o codeOptions
	var q investigate.SignatureQuery
	c := codeCommand("signatures [PATTERN]", "Functions, methods, classes and types, with their signatures", "orchestrator-cc code signatures '^Parse'")
	c.RunE = func(c *cobra.Command, args []string) error {
		q.Pattern, q.Where, q.Skip, q.Limits = phrase(args), o.where, o.skip, o.limits()
		return runCode(c.Context(), a, o, q)
	}
	o.flags(c.Flags())
	c.Flags().BoolVarP(&q.IgnoreCase, "ignore-case", "i", false, "small and capital letters are alike")
	return c
}

func newCodeStatic(a *app) *cobra.Command {
	var o codeOptions
	c := codeCommand("static [TARGET]", "What a declaration depends on, what depends on it, its size and its tests", "orchestrator-cc code static Retry")
	c.RunE = func(c *cobra.Command, args []string) error {
		return runCode(c.Context(), a, o, investigate.StaticQuery{Targets: args, Where: o.where, Skip: o.skip, Limits: o.limits()})
	}
	o.flags(c.Flags())
	return c
}

func codeCommand(use, short, example string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: takes(false)}
}

func (o *codeOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.path, "path", ".", "the folder to look into")
	f.BoolVar(&o.json, "json", false, "for programs")
	f.IntVar(&o.lines, "lines", 0, "show at most this many entries")
	f.IntVar(&o.skip, "skip", 0, "leave out the first entries: asks for more")
	f.StringVar(&o.where.Under, "under", "", "only below this folder or file")
	f.StringVar((*string)(&o.where.Language), "language", "", "only this language, such as go or python")
	f.BoolVar(&o.where.NoTests, "no-tests", false, "leave tests out")
}

func (o codeOptions) limits() investigate.Limits { return investigate.Limits{Lines: o.lines} }

func runCode(ctx context.Context, a *app, o codeOptions, query any) error {
	root, err := investigate.Open(ctx, o.path)
	if err != nil {
		return err
	}
	command, err := investigate.NewCommand(query)
	if err != nil {
		return err
	}
	outcome, err := root.Run(ctx, command, investigate.Limits{})
	if err != nil {
		return err
	}
	if o.json {
		return a.out.json(outcome)
	}
	a.out.printf("%s", outcomeText(outcome, strings.Join(targets(query), " ")))
	a.err.printf("%s\n", a.err.paint(faint, outcome.Summary()))
	for _, p := range outcome.Problems() {
		a.err.printf("%s: %s\n", p.Path, p.Reason)
	}
	if d := outcome.Digest; d != nil {
		a.err.printf("%d of %d shown; for more add: --skip %d\n", d.Shown, d.Total, o.skip+d.Shown)
	}
	return nil
}

// targets is what an analysis was asked about.
func targets(query any) []string {
	if q, ok := query.(investigate.StaticQuery); ok {
		return q.Targets
	}
	return nil
}

// outcomeText shows a result to a person, in the forms that editors jump to.
func outcomeText(o investigate.Outcome, asked string) string {
	var b strings.Builder
	switch {
	case o.Tree != nil:
		for _, f := range o.Tree.Folders {
			depth := strings.Count(f.Path, "/")
			fmt.Fprintf(&b, "%s%s  %s  %s\n", strings.Repeat("  ", depth), f.Path, count(f.Files, "file"), strings.Join(f.Languages, " "))
		}
	case o.Find != nil:
		for _, f := range o.Find.Files {
			b.WriteString(f.Path + "\n")
		}
	case o.Grep != nil:
		writeHits(&b, o.Grep.Hits)
	case o.Signatures != nil:
		for _, s := range o.Signatures.Signatures {
			fmt.Fprintf(&b, "%s:%d  %s  %s\n", s.Path, s.Line, s.Kind, inScope(s.Decl))
		}
	case o.Static != nil:
		b.WriteString(investigate.Merge(investigate.ParseQuestion(asked), []investigate.Outcome{o}).Markdown())
	}
	return b.String()
}

func writeHits(b *strings.Builder, hits []investigate.Hit) {
	for i, h := range hits {
		around := len(h.Before)+len(h.After) > 0
		if around && i > 0 {
			b.WriteString("--\n")
		}
		for k, line := range h.Before {
			fmt.Fprintf(b, "%s-%d-%s\n", h.Path, h.Line-len(h.Before)+k, line)
		}
		fmt.Fprintf(b, "%s:%d:%s\n", h.Path, h.Line, h.Text)
		for k, line := range h.After {
			fmt.Fprintf(b, "%s-%d-%s\n", h.Path, h.Line+1+k, line)
		}
	}
}

func inScope(d scan.Decl) string {
	if d.Scope == "" {
		return d.Signature
	}
	return d.Signature + "  (in " + d.Scope + ")"
}
