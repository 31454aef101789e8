package investigate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// The commands, by the names that the messages between agents use.
const (
	CommandTree       = "tree"
	CommandFind       = "find"
	CommandGrep       = "grep"
	CommandSignatures = "signature_search"
	CommandStatic     = "static_analysis"
)

// Command is a query by name, as it travels in messages and on command lines.
// Its text form is the name and the query as one JSON object:
//
//	grep {"pattern":"retry","literal":true}
type Command struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// maxCommand bounds the text of a command.
const maxCommand = 64 << 10

// NewCommand makes a command of a query, one of the five query types.
func NewCommand(query any) (Command, error) {
	var name string
	switch query.(type) {
	case TreeQuery:
		name = CommandTree
	case FindQuery:
		name = CommandFind
	case GrepQuery:
		name = CommandGrep
	case SignatureQuery:
		name = CommandSignatures
	case StaticQuery:
		name = CommandStatic
	default:
		return Command{}, fmt.Errorf("make command: %T is not a query", query)
	}
	// A pattern is for people too, so its < and & stay as they are.
	var args bytes.Buffer
	enc := json.NewEncoder(&args)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(query); err != nil {
		return Command{}, fmt.Errorf("make command %s: %w", name, err)
	}
	return Command{Name: name, Args: bytes.TrimSpace(args.Bytes())}, nil
}

// String is the text form; ParseCommand reads it back.
func (c Command) String() string {
	if len(c.Args) == 0 || string(c.Args) == "{}" {
		return c.Name
	}
	return c.Name + " " + string(c.Args)
}

// ParseCommand reads a command and checks that its arguments are known.
func ParseCommand(line string) (Command, error) {
	if len(line) > maxCommand {
		return Command{}, fmt.Errorf("read command: %d bytes, at most %d", len(line), maxCommand)
	}
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	c := Command{Name: name}
	if args = strings.TrimSpace(args); args != "" {
		c.Args = json.RawMessage(args)
	}
	if _, err := c.query(); err != nil {
		return Command{}, err
	}
	return c, nil
}

// query decodes the arguments into the command's query type.
func (c Command) query() (any, error) {
	switch c.Name {
	case CommandTree:
		return decodeArgs[TreeQuery](c)
	case CommandFind:
		return decodeArgs[FindQuery](c)
	case CommandGrep:
		return decodeArgs[GrepQuery](c)
	case CommandSignatures:
		return decodeArgs[SignatureQuery](c)
	case CommandStatic:
		return decodeArgs[StaticQuery](c)
	}
	return nil, fmt.Errorf("command %q is unknown; use tree, find, grep, signature_search or static_analysis", clip(c.Name, 40))
}

func decodeArgs[T any](c Command) (any, error) {
	var q T
	if len(c.Args) == 0 {
		return q, nil
	}
	dec := json.NewDecoder(bytes.NewReader(c.Args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", c.Name, err)
	}
	if dec.More() {
		return nil, fmt.Errorf("arguments of %s: text behind the JSON object", c.Name)
	}
	return q, nil
}
