package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// permit is a tool call that a person has allowed, of a program that asks about
// it once more by itself. It is a file in the program's folder, and not in its
// memory, because the hooks of several calls may run at once:
//
//	hook before the call: allowed -> Permit
//	hook before its dialog        -> claimed, and the dialog is known for what it asks about
//	the call is over, or a turn begins -> gone
type permit struct {
	ID    string          `json:"id"` // of the confirmation
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

func (p Program) permitsFolder() string { return filepath.Join(p.Folder, "permits") }

// Permit keeps what a person has allowed by a confirmation until the program
// asks about it itself.
func (p Program) Permit(confirmation string, q Question) error {
	err := os.MkdirAll(p.permitsFolder(), 0o700)
	if err == nil {
		err = writeJSON(filepath.Join(p.permitsFolder(), confirmation+".json"), permit{confirmation, q.Tool, q.Input})
	}
	if err != nil {
		return fmt.Errorf("keep what was allowed to %s: %w", p.Agent, err)
	}
	return nil
}

// claim takes the first permit that matches and returns its confirmation, ""
// where there is none. Of two who claim the same, one gets it.
func (p Program) claim(matches func(permit) bool) (string, error) {
	files, err := filepath.Glob(filepath.Join(p.permitsFolder(), "*.json"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		var allowed permit
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &allowed) != nil || !matches(allowed) {
			continue // claimed meanwhile, or of another call
		}
		if err := os.Remove(file); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", fmt.Errorf("use what was allowed to %s: %w", p.Agent, err)
		}
		return allowed.ID, nil
	}
	return "", nil
}

func (p Program) forgetPermits() error { return os.RemoveAll(p.permitsFolder()) }

// sameJSON says that two values are written alike, blanks apart.
func sameJSON(a, b json.RawMessage) bool {
	var left, right bytes.Buffer
	return json.Compact(&left, a) == nil && json.Compact(&right, b) == nil && bytes.Equal(left.Bytes(), right.Bytes())
}
