package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Version is what `tmux -V` says. A build from the main branch says "master" and counts as newer than any release.
type Version struct {
	Major, Minor int
	Raw          string
}

// installHint names the command that helps where tmux is missing or too old.
const installHint = "install it with `sudo apt install tmux` (Debian, Ubuntu) or `brew install tmux` (macOS)"

// Probe asks the tmux program for its version; ErrMissing and ErrTooOld are worded for the person who has to act.
func Probe(ctx context.Context, bin string) (Version, error) {
	if bin == "" {
		bin = "tmux"
	}
	ctx, cancel := context.WithTimeout(ctx, execTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, bin, "-V").Output()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return Version{}, fmt.Errorf("look for %s: %w: %s", bin, ErrMissing, installHint)
	}
	if err != nil {
		return Version{}, fmt.Errorf("ask %s for its version: %w", bin, err)
	}
	v, err := parseVersion(strings.TrimSpace(string(out)))
	if err != nil {
		return v, err
	}
	if !v.atLeast(3, 2) {
		return v, fmt.Errorf("%s is %s, 3.2 or newer is needed: %w: %s", bin, v.Raw, ErrTooOld, installHint)
	}
	return v, nil
}

func (v Version) atLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// parseVersion reads "tmux 3.3a", "tmux 3.5-rc2", "tmux next-3.6", "tmux openbsd-7.4" and "tmux master".
func parseVersion(raw string) (Version, error) {
	v := Version{Raw: raw}
	name, found := strings.CutPrefix(raw, "tmux ")
	switch {
	case !found:
		return v, fmt.Errorf("read tmux version: %q is not the answer of tmux", raw)
	case name == "master" || strings.HasPrefix(name, "openbsd-"):
		// OpenBSD numbers its tmux like the system; every release of the last years carries a recent one.
		v.Major = 99
		return v, nil
	}
	m := regexp.MustCompile(`^(?:next-)?(\d+)\.(\d+)`).FindStringSubmatch(name)
	if m == nil {
		return v, fmt.Errorf("read tmux version: %q has no number", raw)
	}
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	return v, nil
}
