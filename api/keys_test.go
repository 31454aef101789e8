package api_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

func TestKeysFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys.json")
	keys := api.NewKeys(file)
	key, err := keys.Add("ci", []api.Scope{api.ScopeRead}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(key)) || bytes.Contains(data, []byte(key[13:])) {
		t.Error("got the key in its file, want only its hash")
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %o, want 600", info.Mode().Perm())
	}
	for _, bad := range []struct {
		name     string
		key      string
		scopes   []api.Scope
		lifetime time.Duration
		want     protocol.Code
	}{
		{"the name again", "ci", []api.Scope{api.ScopeRead}, 0, protocol.CodeConflict},
		{"no scope", "x", nil, 0, protocol.CodeInvalid},
		{"an unknown scope", "x", []api.Scope{"all"}, 0, protocol.CodeInvalid},
		{"no name", "", []api.Scope{api.ScopeRead}, 0, protocol.CodeInvalid},
		{"a life in the past", "x", []api.Scope{api.ScopeRead}, -time.Hour, protocol.CodeInvalid},
	} {
		if _, err := keys.Add(bad.key, bad.scopes, bad.lifetime); protocol.CodeOf(err) != bad.want {
			t.Errorf("%s: got %v, want %s", bad.name, err, bad.want)
		}
	}
	if err := keys.Revoke("nobody"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("got %v, want not found", err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.List(); err == nil {
		t.Error("got no error, want a broken file reported")
	}
}

// TestKeysOfManyHands adds keys from many goroutines, each with its own view
// of the file, as several processes would.
func TestKeysOfManyHands(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys.json")
	var hands sync.WaitGroup
	for i := range 20 {
		hands.Go(func() {
			if _, err := api.NewKeys(file).Add(fmt.Sprint("k", i), []api.Scope{api.ScopeRead}, 0); err != nil {
				t.Error(err)
			}
		})
	}
	hands.Wait()
	all, err := api.NewKeys(file).List()
	if err != nil || len(all) != 20 {
		t.Errorf("got %d keys, %v, want 20", len(all), err)
	}
}
