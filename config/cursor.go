package config

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// maxItems bounds every list and map, so that aliases cannot multiply a small
// file into a huge one.
const maxItems = 1000

// cursor is one value of a document, with the path that leads to it.
type cursor struct {
	doc  *document
	node *yaml.Node
	path string
}

// field reads the value of one key into its place. What is wrong is reported
// and leaves the place as it was.
type field func(at cursor)

// fields are the keys an object may have.
type fields map[string]field

func (c cursor) wrong(cure, format string, args ...any) {
	c.doc.complain(c.path, cure, format, args...)
}

func (c cursor) child(path string, node *yaml.Node) cursor {
	child := cursor{doc: c.doc, node: resolve(node), path: strings.TrimPrefix(path, ".")}
	c.doc.nodes[child.path] = child.node
	return child
}

// object reads a mapping. Keys without a value count as absent, which is what
// is left of a block whose lines are all commented out.
func (c cursor) object(known fields) {
	c.entries(func(key *yaml.Node, value cursor) {
		read, ok := known[key.Value]
		if !ok {
			cure := suggest(key.Value, slices.Collect(maps.Keys(known)))
			if key.Tag == "!!merge" {
				cure = "merge keys are not supported: write the keys out"
			}
			c.doc.at(key.Line, key.Column, value.path, "this key is unknown", cure)
			return
		}
		if !isNull(value.node) {
			read(value)
		}
	})
}

// entries calls each for every key of a mapping and refuses a repeated key.
func (c cursor) entries(each func(key *yaml.Node, value cursor)) {
	if c.node.Kind != yaml.MappingNode {
		c.wrong(`write lines of the form "key: value"`, "got %s, want keys with values", kind(c.node))
		return
	}
	if len(c.node.Content)/2 > maxItems {
		c.wrong("", "got %d keys, at most %d are possible", len(c.node.Content)/2, maxItems)
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(c.node.Content); i += 2 {
		key := c.node.Content[i]
		path := c.path + "." + key.Value
		if first, again := lines[key.Value]; again {
			c.doc.at(key.Line, key.Column, strings.TrimPrefix(path, "."),
				fmt.Sprintf("this key stands already in line %d", first), "keep one of them")
			continue
		}
		lines[key.Value] = key.Line
		each(key, c.child(path, c.node.Content[i+1]))
	}
}

// items calls each for every item of a list.
func (c cursor) items(each func(i int, item cursor)) {
	if c.node.Kind != yaml.SequenceNode {
		c.wrong(`write a list, such as ["one", "two"]`, "got %s, want a list", kind(c.node))
		return
	}
	if len(c.node.Content) > maxItems {
		c.wrong("", "got %d items, at most %d are possible", len(c.node.Content), maxItems)
		return
	}
	for i, node := range c.node.Content {
		each(i, c.child(c.path+"["+strconv.Itoa(i)+"]", node))
	}
}

// word returns a text value and whether there is one.
func (c cursor) word() (string, bool) {
	if c.node.Kind != yaml.ScalarNode || c.node.Tag != "!!str" {
		c.wrong("put it in quotes", "got %s, want text", kind(c.node))
		return "", false
	}
	if strings.ContainsRune(c.node.Value, 0) {
		c.wrong("remove it", "the text has a NUL character")
		return "", false
	}
	return c.node.Value, true
}

func text(dst *string) field {
	return func(at cursor) {
		if word, ok := at.word(); ok {
			*dst = word
		}
	}
}

func choice(dst *string, allowed ...string) field {
	return func(at cursor) {
		word, ok := at.word()
		if ok && !slices.Contains(allowed, word) {
			at.wrong(suggest(word, allowed), "%q is not possible here", word)
			return
		}
		if ok {
			*dst = word
		}
	}
}

func toggle(dst *bool) field {
	return func(at cursor) {
		if at.node.Tag != "!!bool" || at.node.Decode(dst) != nil {
			at.wrong("write true or false", "got %s, want true or false", kind(at.node))
		}
	}
}

func number(dst *int, least, most int) field {
	return func(at cursor) {
		var n int
		if at.node.Tag != "!!int" || at.node.Decode(&n) != nil {
			at.wrong(fmt.Sprintf("write a number from %d to %d", least, most), "got %s, want a whole number", kind(at.node))
			return
		}
		if n < least || n > most {
			at.wrong(fmt.Sprintf("write a number from %d to %d", least, most), "%d is out of range", n)
			return
		}
		*dst = n
	}
}

func factor(dst *float64, least, most float64) field {
	return func(at cursor) {
		var f float64
		cure := fmt.Sprintf("write a number from %g to %g", least, most)
		if at.node.Tag == "!!str" || at.node.Decode(&f) != nil {
			at.wrong(cure, "got %s, want a number", kind(at.node))
			return
		}
		if math.IsNaN(f) || f < least || f > most {
			at.wrong(cure, "%g is out of range", f)
			return
		}
		*dst = f
	}
}

func duration(dst *time.Duration, least, most time.Duration) field {
	return func(at cursor) {
		const cure = "write a number with its unit, such as 500ms, 30s or 60m"
		if at.node.Kind != yaml.ScalarNode {
			at.wrong(cure, "got %s, want a duration", kind(at.node))
			return
		}
		d, err := time.ParseDuration(at.node.Value)
		if err != nil {
			at.wrong(cure, "%q is not a duration", at.node.Value)
			return
		}
		if d < least || d > most {
			at.wrong(fmt.Sprintf("write one from %s to %s", least, most), "%s is out of range", d)
			return
		}
		*dst = d
	}
}

func words(dst *[]string) field {
	return func(at cursor) {
		list := []string{}
		at.items(func(_ int, item cursor) {
			if word, ok := item.word(); ok {
				list = append(list, word)
			}
		})
		*dst = list
	}
}

// patterns reads a list of regular expressions, each of which must compile.
func patterns(dst *[]string) field {
	return func(at cursor) {
		words(dst)(at)
		at.items(func(_ int, item cursor) { item.compiles() })
	}
}

func pattern(dst *string) field {
	return func(at cursor) {
		text(dst)(at)
		at.compiles()
	}
}

func (c cursor) compiles() {
	if _, err := regexp.Compile(c.node.Value); err != nil {
		c.wrong("see https://pkg.go.dev/regexp/syntax for what can be written", "%q is not a regular expression: %v", c.node.Value, err)
	}
}

// pairs reads a map whose values may be any scalar, as it is spelled, over what
// is there already.
func pairs(dst *map[string]string) field {
	return func(at cursor) {
		read := map[string]string{}
		maps.Copy(read, *dst)
		at.entries(func(key *yaml.Node, value cursor) {
			if value.node.Kind != yaml.ScalarNode || strings.ContainsRune(value.node.Value, 0) {
				value.wrong("put it in quotes", "got %s, want text", kind(value.node))
				return
			}
			read[key.Value] = value.node.Value
		})
		*dst = read
	}
}

// kind names what stands in the file, for a reader who expected something else.
func kind(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "keys with values"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Tag == "!!str":
		return fmt.Sprintf("the text %q", node.Value)
	case node.Value == "":
		return "nothing"
	}
	return node.Value
}
