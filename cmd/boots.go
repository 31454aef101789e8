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
	mostWait  = 10 * time.Second
)

func bootsOf(p place) boots { return boots{filepath.Join(p.run(), "boots")} }

// count tells how many starts did not last.
func (b boots) count() int {
	data, err := os.ReadFile(b.path)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return n
}

// begin counts this start, and forgets them all once it has lasted. A counter
// that cannot be kept only costs the pause.
func (b boots) begin() (end func()) {
	b.write(b.count() + 1)
	timer := time.AfterFunc(lasting, b.lasted)
	return func() { timer.Stop() }
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
