package api

import "encoding/json"

// CheckCommand lets the fuzz target reach the decoder of frames.
func CheckCommand(data []byte) error {
	_, err := readCommand(data)
	return err
}

// CheckContext lets the fuzz target reach the reader of a task's context.
func CheckContext(data []byte) error {
	var in map[string]any
	if json.Unmarshal(data, &in) != nil {
		return nil
	}
	_, err := readContext(in)
	return err
}
