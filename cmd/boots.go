package cmd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// boots counts the hub's starts that did not last, so that a hub which
// crashes as soon as it runs does not keep the machine busy: tmux starts a
// dead hub again at once.
type boots struct{ path string }

const (
	freeBoots = 3               // starts in a row that need not wait
	lasting   = 5 * time.Second // a hub that ran this long was no crash loop
	mostWait  = 30 * time.Second
)

func bootsOf(p place) boots { return boots{filepath.Join(p.run(), "boots")} }

// begin counts this start and returns how many before it did not last. A
// counter that cannot be kept only costs the pause.
func (b boots) begin() int {
	data, err := os.ReadFile(b.path)
	before := 0
	if err == nil {
		before, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	b.write(before + 1)
	return before
}

// lasted forgets the crashes.
func (b boots) lasted() { b.write(0) }

func (b boots) write(n int) {
	temp := b.path + ".new"
	if os.WriteFile(temp, []byte(strconv.Itoa(n)+"\n"), 0o600) == nil {
		os.Rename(temp, b.path)
	}
}

// pause is how long a start waits after so many that did not last.
func pause(before int) time.Duration {
	if before < freeBoots {
		return 0
	}
	return min(time.Second<<min(before-freeBoots, 5), mostWait)
}
