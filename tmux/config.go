package tmux

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
)

// conf is what our private server loads: only what concerns the server as a whole, and defaults for windows which a
// person opens there. Everything about our own windows is set on them, so that it also holds on the user's server.
//
//go:embed orchestrator.conf
var conf []byte

func (s *Server) confPath() string { return filepath.Join(s.o.Dir, "tmux.conf") }

// prepare makes the folder and writes the configuration.
func (s *Server) prepare() error {
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return fmt.Errorf("make tmux folder: %w", err)
	}
	if err := os.WriteFile(s.confPath(), conf, 0o600); err != nil {
		return fmt.Errorf("write tmux configuration: %w", err)
	}
	return nil
}
