package config

import (
	"bytes"
	_ "embed" // for the two files below
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed cc-cluster.yaml
var defaultYAML []byte

//go:embed engines.yaml
var enginesYAML []byte

// Load reads and checks the file at path. Mistakes in it come back as
// *Problems, all of them; a file that cannot be read as the system's error.
// Relative paths in it count from the project: the folder above when the file
// stands in a folder named config, and otherwise the file's own folder.
func Load(path string) (Config, error) {
	data, err := readUpTo(path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("read configuration: %w; write one with: orchestrator-cc init", err)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	dir := filepath.Dir(full)
	if filepath.Base(dir) == "config" {
		dir = filepath.Dir(dir)
	}
	return Parse(path, data, dir)
}

// readUpTo reads a file, and of a longer one just enough to tell.
func readUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, most+1))
}

// Parse checks data, which is called name in messages, as the configuration of
// the project in dir. Without a dir the disk is left alone: the work dir stays
// empty, and personalities are the embedded ones.
func Parse(name string, data []byte, dir string) (Config, error) {
	cfg := embedded()
	doc, root := open(name, data)
	if root != nil {
		root.read(&cfg)
	}
	if len(doc.problems) > 0 && root == nil {
		return Config{}, doc.err()
	}
	doc.check(&cfg, dir)
	if err := doc.err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// Default is the embedded configuration, in no folder yet.
func Default() Config {
	cfg, err := Parse("cc-cluster.yaml", nil, "")
	if err != nil {
		panic("embedded configuration: " + err.Error())
	}
	return cfg
}

// DefaultYAML is the commented file that a project starts from.
func DefaultYAML() []byte { return DefaultYAMLIn("en") }

// DefaultYAMLIn is DefaultYAML with another language for the briefs.
func DefaultYAMLIn(lang string) []byte {
	return bytes.Replace(defaultYAML, []byte("\n  language: en "), []byte("\n  language: "+lang+" "), 1)
}

// embedded reads the two embedded files. They are part of the program, so a
// mistake in them is one in the program.
func embedded() Config {
	cfg := Config{Engines: map[string]Engine{}}
	doc, root := open("engines.yaml", enginesYAML)
	readEngines(*root, cfg.Engines)
	if err := doc.err(); err != nil {
		panic("embedded engines: " + err.Error())
	}
	doc, root = open("cc-cluster.yaml", defaultYAML)
	root.read(&cfg)
	if err := doc.err(); err != nil {
		panic("embedded configuration: " + err.Error())
	}
	return cfg
}
