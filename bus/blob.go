package bus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bodies above inlineLimit are files in blobFolder, named by the SHA-256 of
// what they hold; the line says "@" and the name. A blob is durable before the
// line that refers to it is written.
const (
	blobFolder  = "blobs"
	blobMark    = '@'
	tempPattern = "unfinished-*"
)

// blobOf returns the blob's name where the body of a line refers to one.
func blobOf(body []byte) (string, bool) {
	if len(body) != 1+2*sha256.Size || body[0] != blobMark {
		return "", false
	}
	return string(body[1:]), true
}

// keepBodies writes the large bodies to files and puts references in their place.
func (l *Log) keepBodies(bodies [][]byte) error {
	for i, body := range bodies {
		if len(body) <= inlineLimit {
			continue
		}
		sum := sha256.Sum256(body)
		name := hex.EncodeToString(sum[:])
		dir := filepath.Join(l.dir, blobFolder)
		if err := l.replace(dir, filepath.Join(dir, name), body); err != nil {
			return err
		}
		bodies[i] = append([]byte{blobMark}, name...)
	}
	return nil
}

// bodyOf returns the body a line stands for.
func bodyOf(dir string, n line) ([]byte, error) {
	name, ok := blobOf(n.body)
	if !ok {
		return n.body, nil
	}
	body, err := os.ReadFile(filepath.Join(dir, blobFolder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("its content %s is missing", name)
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != name {
		return nil, fmt.Errorf("its content %s is damaged", name)
	}
	return body, nil
}

// sweep removes what a crash left: files half written, and blobs whose line
// never came to be. Where the stream is damaged it removes no blob, because a
// damaged line may be the one that refers to it.
func (l *Log) sweep() error {
	leftovers, err := filepath.Glob(filepath.Join(l.dir, tempPattern))
	if err != nil {
		return err
	}
	dir := filepath.Join(l.dir, blobFolder)
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list large entries: %w", err)
	}
	used := blobNames(l.segments)
	for _, f := range files {
		unfinished := strings.HasPrefix(f.Name(), strings.TrimSuffix(tempPattern, "*"))
		if unfinished || (!used[f.Name()] && len(l.damage) == 0) {
			leftovers = append(leftovers, filepath.Join(dir, f.Name()))
		}
	}
	for _, path := range leftovers {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove an unfinished file: %w", err)
		}
	}
	return nil
}

func blobNames(segments []*segment) map[string]bool {
	used := map[string]bool{}
	for _, s := range segments {
		for _, name := range s.blobs {
			used[name] = true
		}
	}
	return used
}
