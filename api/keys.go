package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator-cc/protocol"
)

// Scope is something a key may do.
type Scope string

// The scopes. Admin includes none of the others: a key has what it was given.
const (
	ScopeRead    Scope = "read"    // look at its own sessions
	ScopeSubmit  Scope = "submit"  // give work in them
	ScopeApprove Scope = "approve" // answer what their agents ask
	ScopeAdmin   Scope = "admin"   // steer the company, and oversee every session
)

// Scopes lists them all.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeSubmit, ScopeApprove, ScopeAdmin} }

// Key is what is kept of a key: its hash, never the key itself.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Hash    string    `json:"hash"`
	Scopes  []Scope   `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

// May tells whether the key has a scope.
func (k Key) May(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Expired tells whether the key's time is over.
func (k Key) Expired(now time.Time) bool { return !k.Expires.IsZero() && !now.Before(k.Expires) }

// Keys is the file of keys. Every question looks at the file first, so that a
// key which is revoked by another process is refused from then on.
type Keys struct {
	path string

	mu    sync.Mutex
	known []Key
	seen  os.FileInfo
	asked time.Time // when the file was last looked at
}

// NewKeys names the file; it need not exist, and without it there are no keys.
func NewKeys(path string) *Keys { return &Keys{path: path} }

// keyPrefix makes a key recognisable where it should not be, as in a commit.
const keyPrefix = "occ_"

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Add makes a key and returns it: the only time that it is seen. A lifetime of
// zero means for ever.
func (k *Keys) Add(name string, scopes []Scope, lifetime time.Duration) (string, error) {
	if !keyName.MatchString(name) {
		return "", protocol.Invalid("name", "is %q; use up to 64 letters, digits, dots, dashes and underscores", name)
	}
	if len(scopes) == 0 {
		return "", protocol.Invalid("scope", "is missing").Cure("add --scope with one of %s", scopeList())
	}
	for _, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			return "", protocol.Invalid("scope", "is %q", s).Cure("use %s", scopeList())
		}
	}
	if lifetime < 0 {
		return "", protocol.Invalid("expires", "is %s; it must be above 0", lifetime)
	}
	raw := make([]byte, 4+32)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	id := hex.EncodeToString(raw[:4])
	text := keyPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(raw[4:])
	now := time.Now().UTC()
	key := Key{ID: id, Name: name, Hash: hashOf(text), Scopes: scopes, Created: now}
	if lifetime > 0 {
		key.Expires = now.Add(lifetime)
	}
	return text, k.change(func(keys []Key) ([]Key, error) {
		if slices.ContainsFunc(keys, func(old Key) bool { return old.Name == name }) {
			return nil, protocol.Faultf(protocol.CodeConflict, "there is a key named %s already", name).Cure("orchestrator-cc keys revoke %s", name)
		}
		return append(keys, key), nil
	})
}

// Revoke removes a key by its name or id; from then on it is refused.
func (k *Keys) Revoke(name string) error {
	return k.change(func(keys []Key) ([]Key, error) {
		left := slices.DeleteFunc(slices.Clone(keys), func(old Key) bool { return old.Name == name || old.ID == name })
		if len(left) == len(keys) {
			return nil, protocol.Faultf(protocol.CodeNotFound, "there is no key named %s", name).Cure("orchestrator-cc keys list")
		}
		return left, nil
	})
}

// List returns every key, the expired ones too.
func (k *Keys) List() ([]Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.refresh(); err != nil {
		return nil, err
	}
	return slices.Clone(k.known), nil
}

// find looks a key up. Every stored hash is compared, each in constant time,
// so that the time taken tells nothing about which one came near.
func (k *Keys) find(text string) (Key, bool, error) {
	keys, err := k.List()
	if err != nil {
		return Key{}, false, err
	}
	hash := []byte(hashOf(text))
	var found Key
	ok := false
	for _, key := range keys {
		if subtle.ConstantTimeCompare(hash, []byte(key.Hash)) == 1 {
			found, ok = key, true
		}
	}
	return found, ok, nil
}

// byID finds a key again that was proved before.
func (k *Keys) byID(id string) (Key, bool) {
	keys, err := k.List()
	if err != nil {
		return Key{}, false
	}
	i := slices.IndexFunc(keys, func(key Key) bool { return key.ID == id })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// staleness is how long streams trust what they last saw of the file: a
// thousand of them must not look at it for each event.
const staleness = 50 * time.Millisecond

// recent is byID for streams, which ask again and again.
func (k *Keys) recent(id string) (Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.asked) > staleness {
		if err := k.refresh(); err != nil {
			return Key{}, false
		}
	}
	i := slices.IndexFunc(k.known, func(key Key) bool { return key.ID == id })
	if i < 0 {
		return Key{}, false
	}
	return k.known[i], true
}

// refresh reads the file again when it is another than the one last read. It
// is called with the lock held.
func (k *Keys) refresh() error {
	k.asked = time.Now()
	info, err := os.Stat(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		k.known, k.seen = nil, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	if k.seen != nil && os.SameFile(k.seen, info) && k.seen.ModTime().Equal(info.ModTime()) && k.seen.Size() == info.Size() {
		return nil
	}
	keys, err := readKeys(k.path)
	if err != nil {
		return err
	}
	k.known, k.seen = keys, info
	return nil
}

type keyFile struct {
	Keys []Key `json:"keys"`
}

func readKeys(path string) ([]Key, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	var file keyFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read the keys %s: %w", path, err)
	}
	return file.Keys, nil
}

// change edits the file: alone, by a lock beside it, and as a whole, so that a
// reader sees the old keys or the new ones.
func (k *Keys) change(edit func([]Key) ([]Key, error)) error {
	lock, err := os.OpenFile(k.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the keys: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the keys: %w", err)
	}
	keys, err := readKeys(k.path)
	if err != nil {
		return err
	}
	if keys, err = edit(keys); err != nil {
		return err
	}
	data, err := json.MarshalIndent(keyFile{Keys: keys}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the keys: %w", err)
	}
	return replaceFile(k.path, append(data, '\n'))
}

// replaceFile writes a file that only its owner may read, in one step.
func replaceFile(path string, data []byte) error {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// hashOf needs no salt and no slow function: a key is 256 random bits.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func scopeList() string {
	var names []string
	for _, s := range Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
