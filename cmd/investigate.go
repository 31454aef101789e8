package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/investigate"
)

type investigateOptions struct {
	question, path string
	format, output string
}

func newInvestigateCommand(a *app) *cobra.Command {
	var o investigateOptions
	c := &cobra.Command{
		Use:     "investigate QUESTION [PATH]",
		Short:   "A report on a code base, without a model and without tmux",
		Example: "  orchestrator-cc investigate \"where is the retry policy implemented?\" ./src -o report.html",
		GroupID: groupWork,
		Args:    takes(false),
		RunE: func(c *cobra.Command, args []string) error {
			o.question, o.path = args[0], a.dir
			if len(args) > 1 {
				o.path = args[1]
			}
			return runInvestigate(c.Context(), a, o)
		},
	}
	c.Flags().StringVar(&o.format, "format", "", "md, json or html; by default by the file's name, else md")
	c.Flags().StringVarP(&o.output, "output", "o", "", "write the report to this file")
	return c
}

func runInvestigate(ctx context.Context, a *app, o investigateOptions) error {
	format, err := reportFormat(o.format, o.output)
	if err != nil {
		return err
	}
	if strings.TrimSpace(o.question) == "" {
		return usagef("the question is empty; ask for example: orchestrator-cc investigate \"what is in here?\"")
	}
	options := investigate.Options{}
	if a.err.terminal {
		options.Progress = func(line string) { a.err.printf("%s\n", a.err.paint(faint, line)) }
	}
	report, _, err := investigate.Investigate(ctx, o.question, o.path, options)
	if errors.Is(err, fs.ErrNotExist) {
		return withHint(err, "name a folder that is there, or none for this one; a question of several words needs quotes")
	}
	if err != nil {
		return err
	}
	text, err := render(report, format)
	if err != nil {
		return err
	}
	if o.output == "" {
		a.out.printf("%s", text)
		return nil
	}
	if err := os.WriteFile(o.output, text, 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	a.err.printf("the report is in %s\n", o.output)
	return nil
}

// reportFormat is the one that was asked for, or the one the file's name says.
func reportFormat(format, output string) (string, error) {
	if format == "" {
		format = strings.TrimPrefix(filepath.Ext(output), ".")
	}
	switch format {
	case "", "md", "markdown", "txt":
		return "md", nil
	case "json", "html":
		return format, nil
	}
	return "", usagef("there is no report in %q; use --format md, json or html", format)
}

func render(r investigate.Report, format string) ([]byte, error) {
	switch format {
	case "json":
		return r.JSON()
	case "html":
		return r.HTML()
	}
	return []byte(r.Markdown()), nil
}
