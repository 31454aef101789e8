package logs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A refused line is tried again after firstWait, then less and less often:
// soon enough that nobody waits for the journal, seldom enough to cost nothing.
const (
	firstWait = 20 * time.Millisecond
	lastWait  = time.Second
)

// write puts one line into the journal, however long the disk refuses it; it
// returns false when ctx ended before.
func (j *Journal) write(ctx context.Context, line []byte) bool {
	wait := firstWait
	for {
		err := j.rotate(int64(len(line)))
		if err == nil {
			err = j.pen.put(line)
		}
		if errors.Is(err, errGone) && ctx.Err() == nil {
			continue // at once, into a new file: the pen sees that its own is gone
		}
		j.setProblem(err)
		if err == nil {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		wait = min(2*wait, lastWait)
	}
}

// rotate moves the journal aside when a line of n bytes would be too much for
// it. Half a line is finished first.
func (j *Journal) rotate(n int64) error {
	if j.limit <= 0 || j.pen.file == nil || j.pen.half > 0 {
		return nil
	}
	info, err := j.pen.file.Stat()
	if err != nil || info.Size() == 0 || info.Size()+n <= j.limit {
		return err
	}
	for i := j.keep; i > 0; i-- {
		from := j.path
		if i > 1 {
			from = moved(j.path, i-1)
		}
		if err := os.Rename(from, moved(j.path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// moved names the i-th file behind the journal; 1 is the youngest.
func moved(path string, i int) string { return fmt.Sprintf("%s.%d", path, i) }
