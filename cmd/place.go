package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// The names of the state folder and of what tells programs in panes where they are.
const (
	stateFolder = ".orchestrator-cc"
	envDir      = "ORCHESTRATOR_CC_DIR"    // the project's root
	envSecret   = "ORCHESTRATOR_CC_SECRET" // proves which agent's pane this is
	envAgent    = "ORCHESTRATOR_CC_AGENT"  // that agent's name
	envSpool    = "ORCHESTRATOR_CC_SPOOL"  // where the program in it reports
	envURL      = "ORCHESTRATOR_CC_URL"    // a hub elsewhere
	envKey      = "ORCHESTRATOR_CC_KEY"    // the key for it
	envKeyFile  = "ORCHESTRATOR_CC_KEY_FILE"
	envSession  = "ORCHESTRATOR_CC_SESSION" // the session there; the default one where it is not set
	// envFingerprint is the SHA-256 of its certificate, where that is self-made.
	envFingerprint = "ORCHESTRATOR_CC_FINGERPRINT"
)

// maxSocketPath keeps below the 104 bytes that macOS allows for the path of a
// unix socket, its closing zero included.
const maxSocketPath = 103

// place is a project's root folder; everything else has its place by it.
type place struct{ root string }

// newPlace makes the place of a folder, which must exist. Links are followed,
// so that a project has one name however it is reached.
func newPlace(dir string) (place, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return place{}, fmt.Errorf("find the project folder %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return place{}, fmt.Errorf("find the project folder %s: %w", dir, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return place{}, fmt.Errorf("find the project folder %s: not a folder", dir)
	}
	return place{root: real}, nil
}

// findPlace looks for a project: the one named by the pane's environment, else
// the nearest folder from dir upwards where a hub has left its card. found
// tells whether there is one; without, the place is dir itself.
func findPlace(dir string, getenv func(string) string) (p place, found bool, err error) {
	if named := getenv(envDir); named != "" {
		p, err = newPlace(named)
		return p, err == nil, err
	}
	here, err := newPlace(dir)
	if err != nil {
		return place{}, false, err
	}
	for at := here.root; ; at = filepath.Dir(at) {
		candidate := place{root: at}
		if _, err := os.Stat(candidate.hubFile()); err == nil {
			return candidate, true, nil
		}
		if at == filepath.Dir(at) {
			return here, false, nil
		}
	}
}

func (p place) state() string       { return filepath.Join(p.root, stateFolder) }
func (p place) hubFile() string     { return filepath.Join(p.state(), "hub.json") }
func (p place) stream() string      { return filepath.Join(p.state(), "stream") }
func (p place) run() string         { return filepath.Join(p.state(), "run") }
func (p place) reports() string     { return filepath.Join(p.state(), "reports") }
func (p place) diary() string       { return filepath.Join(p.state(), "diary.log") }
func (p place) attachments() string { return filepath.Join(p.state(), "attachments") }
func (p place) keys() string        { return filepath.Join(p.state(), "keys.json") }
func (p place) tls() string         { return filepath.Join(p.state(), "tls") }

// hash names the project where a path would be too long: sockets, tmux servers.
func (p place) hash() string {
	sum := sha256.Sum256([]byte(p.root))
	return hex.EncodeToString(sum[:5])
}

// makeState makes the state folders, closed to everybody else. The folder
// ignores itself in git, because it is nobody's source.
func (p place) makeState() error {
	for _, dir := range []string{p.state(), p.run(), p.reports()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the state folder: %w", err)
		}
	}
	if err := os.Chmod(p.state(), 0o700); err != nil {
		return fmt.Errorf("close the state folder to others: %w", err)
	}
	ignore := filepath.Join(p.state(), ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
			return fmt.Errorf("make the state folder: %w", err)
		}
	}
	return nil
}

// apiSocket is where the project's hub listens: below the runtime directory,
// because a path inside the project may be longer than a socket's may be.
func (p place) apiSocket(getenv func(string) string) string {
	name := p.hash() + ".sock"
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		path := filepath.Join(dir, "orchestrator-cc", name)
		if _, err := os.Stat(dir); err == nil && len(path) <= maxSocketPath {
			return path
		}
	}
	return filepath.Join("/tmp", "orchestrator-cc-"+strconv.Itoa(os.Getuid()), name)
}

// makeSocketDir makes the folder of a socket and refuses one that is not ours
// alone: in /tmp anybody may have made it first.
func makeSocketDir(socket string) error {
	dir := filepath.Dir(socket)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the socket folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check the socket folder: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("check the socket folder %s: it belongs to somebody else; remove it or set XDG_RUNTIME_DIR", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("close the socket folder to others: %w", err)
		}
	}
	return nil
}

// hubCard is what a hub leaves in hub.json for those who look for it.
type hubCard struct {
	PID        int       `json:"pid"`
	Socket     string    `json:"socket"`
	TmuxSocket string    `json:"tmux_socket"`
	Session    string    `json:"session"`
	Project    string    `json:"project"`
	Config     string    `json:"config,omitempty"`
	Auto       string    `json:"auto,omitempty"` // what the engine auto stands for
	Started    time.Time `json:"started"`
	Version    string    `json:"version"`
	// URL is where the HTTP interface is, and Fingerprint the one of its
	// certificate; both are empty without it.
	URL         string `json:"url,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// readHubCard reads the card; found is false where there is none.
func (p place) readHubCard() (card hubCard, found bool, err error) {
	data, err := os.ReadFile(p.hubFile())
	if errors.Is(err, fs.ErrNotExist) {
		return hubCard{}, false, nil
	}
	if err != nil {
		return hubCard{}, false, fmt.Errorf("read the hub's card: %w", err)
	}
	if err := json.Unmarshal(data, &card); err != nil {
		return hubCard{}, false, fmt.Errorf("read the hub's card %s: %w", p.hubFile(), err)
	}
	return card, true, nil
}

// writeHubCard replaces the card as a whole: a reader never sees half of it.
func (p place) writeHubCard(card hubCard) error {
	data, err := json.MarshalIndent(card, "", "  ")
	if err != nil {
		return fmt.Errorf("write the hub's card: %w", err)
	}
	temp := p.hubFile() + ".new"
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the hub's card: %w", err)
	}
	if err := os.Rename(temp, p.hubFile()); err != nil {
		return fmt.Errorf("write the hub's card: %w", err)
	}
	return nil
}

// dropHubCard removes the card, but only the one of the given process.
func (p place) dropHubCard(pid int) error {
	card, found, err := p.readHubCard()
	if err != nil || !found || card.PID != pid {
		return err
	}
	return os.Remove(p.hubFile())
}
