package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A chat keeps its conversation in a file, where it has one, so that a process
// that takes its place goes on with it:
//
//	reply -> the file as a whole, as short as what the model is told
//	start -> Recall
//	Forget -> the file is gone before anybody is told so

// Recall takes up the conversation that a process before this one had, and says
// how many exchanges it has.
func (c *Chat) Recall() (exchanges int, err error) {
	if c.File == "" {
		return 0, nil
	}
	data, err := os.ReadFile(c.File)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c.history)
	}
	if err != nil {
		c.history = nil
		return 0, fmt.Errorf("read the conversation so far: %w", err)
	}
	c.history = shortened(c.history)
	return len(c.history) / 2, nil
}

// keep writes the conversation down.
func (c *Chat) keep() error {
	if c.File == "" {
		return nil
	}
	data, err := json.Marshal(c.history)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(c.File), 0o700)
	}
	if err == nil {
		err = replaceFile(c.File, data)
	}
	if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	return nil
}

// Forget begins the conversation anew. It is called between turns.
func (c *Chat) Forget() error {
	if c.File != "" {
		if err := os.Remove(c.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the conversation: %w", err)
		}
	}
	c.history = nil
	return nil
}
