package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	// execTimeout bounds every command; a healthy one takes about 3 ms.
	execTimeout = 5 * time.Second
	// startWindow is how long a server that is just going away may disturb its successor; 107 ms was the longest seen.
	startWindow = time.Second
	startRetry  = 20 * time.Millisecond
)

// errDying is tmux's answer while the last server of that name is on its way out.
var errDying = fmt.Errorf("server is going away: %w", ErrGone)

// errDuplicate is tmux's answer when another process made the session first.
var errDuplicate = errors.New("duplicate session")

// base is how every command begins: UTF-8 whatever the locale, our server, our configuration.
func (s *Server) base() []string {
	argv := []string{"-u", "-L", s.o.Socket}
	if s.private() && !s.o.UserConfig {
		argv = append(argv, "-f", s.confPath())
	}
	return argv
}

// run executes one tmux command line and returns what it printed.
func (s *Server) run(ctx context.Context, args ...string) (string, error) {
	return s.exec(ctx, "", args)
}

// script executes commands given on standard input. They may be of any length, and no other user of the machine can
// read them in the process list, which matters for environments. Commands that belong together stand on one line: an
// error skips the rest of its line only.
func (s *Server) script(ctx context.Context, lines ...string) (string, error) {
	return s.exec(ctx, strings.Join(lines, "\n")+"\n", []string{"source-file", "-"})
}

func (s *Server) exec(ctx context.Context, stdin string, args []string) (string, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, execTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.o.Bin, append(s.base(), args...)...)
	cmd.Env = s.env
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return out.String(), fmt.Errorf("tmux %s: %w", args[0], ctx.Err())
	}
	return out.String(), fmt.Errorf("tmux %s: %w", args[0], classify(err, errOut.String()))
}

// classify turns tmux's own words on standard error, which hold no text of agents, into the errors callers branch on.
func classify(err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrMissing, installHint)
	}
	said = strings.TrimSpace(said)
	for prefix, kind := range map[string]error{
		"no server running on":       ErrGone,
		"error connecting to":        ErrGone,
		"can't find ":                ErrGone,
		"no such window":             ErrGone,
		"lost server":                ErrGone,
		"no sessions":                ErrGone,
		"server exited unexpectedly": errDying,
		"duplicate session":          errDuplicate,
	} {
		if strings.HasPrefix(said, prefix) {
			return fmt.Errorf("%w (%s)", kind, said)
		}
	}
	if said == "" {
		return err
	}
	return errors.New(said)
}

// settle repeats do while the last server of our name is on its way out, for at most startWindow.
func (s *Server) settle(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startWindow+execTimeout)
	defer cancel()
	end := time.Now().Add(startWindow)
	for {
		err := do()
		if !errors.Is(err, errDying) || time.Now().After(end) {
			return err
		}
		if !pause(ctx, startRetry) {
			return ctx.Err()
		}
	}
}

// pause waits and says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// until asks cond at short intervals, for at most limit, and returns its last answer.
func until(ctx context.Context, limit time.Duration, cond func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !cond() {
		if !pause(ctx, 10*time.Millisecond) {
			return cond()
		}
	}
	return true
}

// cleanEnv is the environment of the server and so of every pane. What marks the inside of another tmux or of a
// pane of ours must not be inherited, and text must be UTF-8 even where the locale is plain C.
func cleanEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "TMUX", name == "TMUX_PANE", name == "STY", name == "LINES", name == "COLUMNS":
		case strings.HasPrefix(name, "ORCHESTRATOR_CC_"):
		default:
			out = append(out, kv)
		}
	}
	locale := lookup(out, "LC_ALL")
	for _, name := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = lookup(out, name)
		}
	}
	locale = strings.ToLower(locale)
	if strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
		return out
	}
	utf8 := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		utf8 = "en_US.UTF-8"
	}
	return append(without(without(out, "LC_ALL"), "LC_CTYPE"), "LC_CTYPE="+utf8)
}

// lookup finds a variable; the last setting counts.
func lookup(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

func without(env []string, name string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			out = append(out, kv)
		}
	}
	return out
}

// token is a name nobody else has: 48 random bits.
func token() string {
	var b [6]byte
	rand.Read(b[:]) // never returns an error
	return hex.EncodeToString(b[:])
}

func uid() string { return strconv.Itoa(os.Getuid()) }
