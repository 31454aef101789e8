package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/config"
	"orchestrator-cc/personalities"
)

type initOptions struct {
	lang  string
	force bool
}

func newInitCommand(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:     "init",
		Short:   "Write the configuration and the agents' briefs here, to edit",
		Example: "  orchestrator-cc init --lang ja",
		GroupID: groupStart,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runInit(c.Context(), a, o) },
	}
	c.Flags().StringVar(&o.lang, "lang", "en", "language of the briefs: en or ja")
	c.Flags().BoolVar(&o.force, "force", false, "replace files that are there already; each is kept as NAME.bak")
	return c
}

func runInit(_ context.Context, a *app, o initOptions) error {
	if !slices.Contains(personalities.Languages(), o.lang) {
		return usagef("--lang is %q; use %s", o.lang, strings.Join(personalities.Languages(), " or "))
	}
	p, err := newPlace(a.dir)
	if err != nil {
		return err
	}
	files := []personalities.File{{Name: filepath.Join("config", "cc-cluster.yaml"), Text: string(config.DefaultYAMLIn(o.lang))}}
	for _, f := range personalities.Files(o.lang) {
		files = append(files, personalities.File{Name: filepath.Join("personalities", f.Name), Text: f.Text})
	}
	for _, f := range files {
		done, backup, err := writeOnce(filepath.Join(p.root, f.Name), f.Text, o.force)
		if err != nil {
			return err
		}
		if backup != "" {
			backup = fmt.Sprintf("  (the old one is %s)", filepath.Join(filepath.Dir(f.Name), filepath.Base(backup)))
		}
		a.out.printf("%-7s %s%s\n", done, f.Name, backup)
	}
	a.err.printf("Edit them, then start with: orchestrator-cc up\n")
	return nil
}

// writeOnce writes a file unless one is there, which a person may have edited:
// that one stays, or with replace is moved to a backup.
func writeOnce(path, text string, replace bool) (done, backup string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", "", fmt.Errorf("make the folder: %w", err)
	}
	if old, err := os.ReadFile(path); err == nil && replace && string(old) != text {
		if backup, err = setAside(path); err != nil {
			return "", "", err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return "kept", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("write a file to edit: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", "", fmt.Errorf("write a file to edit: %w", err)
	}
	return "wrote", backup, nil
}

// mostBackups is far more than anybody keeps of one file.
const mostBackups = 100

// setAside moves a file to the first free name of a backup.
func setAside(path string) (backup string, err error) {
	backup = path + ".bak"
	for n := 2; n <= mostBackups; n++ {
		if _, err := os.Lstat(backup); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(path, backup); err != nil {
				return "", fmt.Errorf("keep the old file: %w", err)
			}
			return backup, nil
		}
		backup = fmt.Sprintf("%s.bak%d", path, n)
	}
	return "", withHint(fmt.Errorf("keep the old file %s: there are too many backups of it", path), "remove some of %s.bak*", path)
}
