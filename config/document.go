package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxBytes bounds a configuration file. The embedded one has a few kilobytes.
const maxBytes = 1 << 20

// maxSearchLines bounds the search for a broken line, which parses the file
// once for each line after it.
const maxSearchLines = 500

// document is one YAML file while it is read: where everything stands in it,
// and what was found wrong so far.
type document struct {
	file     string
	stock    bool                  // it is the embedded file, to the letter
	nodes    map[string]*yaml.Node // by path; the root has the empty path
	problems []Problem
}

// open parses data and returns the cursor at its root. A file that is empty,
// or broken (which is then among the problems), has no root.
func open(file string, data []byte) (*document, *cursor) {
	doc := &document{file: file, stock: bytes.Equal(data, defaultYAML), nodes: map[string]*yaml.Node{}}
	if len(data) > maxBytes {
		doc.at(1, 1, "", fmt.Sprintf("the file has more than %d bytes", maxBytes), "is this the right file?")
		return doc, nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return doc, nil
	case err != nil:
		doc.broken(data, err)
		return doc, nil
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		doc.at(second.Line, second.Column, "", "a second YAML document begins here", `keep one, and remove the "---" between them`)
	case !errors.Is(err, io.EOF):
		doc.broken(data, err)
	}
	root := resolve(first.Content[0])
	if isNull(root) {
		return doc, nil
	}
	doc.nodes[""] = root
	return doc, &cursor{doc: doc, node: root}
}

// broken reports what is not YAML at all. The library names the line on which
// the surrounding block begins; a reader wants the line that breaks it.
func (d *document) broken(data []byte, err error) {
	prefix := regexp.MustCompile(`^yaml: (line (\d+): )?`)
	message := prefix.ReplaceAllString(err.Error(), "")
	cure := "check the indentation and the quotes of this line"
	line := brokenLine(data)
	if line == 0 {
		line = 1
		if m := prefix.FindStringSubmatch(err.Error()); m[2] != "" {
			fmt.Sscan(m[2], &line)
			cure = "check the indentation and the quotes near this line"
		}
	}
	if strings.Contains(message, "cannot start any token") && bytes.Contains(data, []byte("\t")) {
		cure = "indent with blanks, not with tabs"
	}
	d.at(line, 1, "", "this is not valid YAML: "+message, cure)
}

// brokenLine is the line after the longest part from the top that can be read.
// It is 0 where the file is too long to search.
func brokenLine(data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines) > maxSearchLines {
		return 0
	}
	for n := len(lines) - 1; n > 0; n-- {
		if readable(bytes.Join(lines[:n], nil)) {
			return n + 1
		}
	}
	return 1
}

func readable(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// complain reports a mistake in the value at path, or where that is absent, in
// the nearest value above it.
func (d *document) complain(path, cure, format string, args ...any) {
	line, column := 1, 1
	for p := path; ; p = parent(p) {
		if node, ok := d.nodes[p]; ok {
			line, column = node.Line, node.Column
			break
		}
		if p == "" {
			break
		}
	}
	d.at(line, column, path, fmt.Sprintf(format, args...), cure)
}

func (d *document) at(line, column int, path, message, cure string) {
	d.problems = append(d.problems, Problem{
		File: d.file, Line: line, Column: column, Path: path, Message: message, Cure: cure,
	})
}

// has tells whether the file itself says anything at path.
func (d *document) has(path string) bool {
	node, ok := d.nodes[path]
	return ok && !isNull(node)
}

// err is nil, or all problems.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	return &Problems{List: sorted(d.problems)}
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// resolve follows an alias to what it stands for.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Tag == "!!null"
}
