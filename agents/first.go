package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// homemaker is a skill whose program makes something in a new home at its first
// start, which others that start at that moment would make again.
type homemaker interface {
	// settled says that the home has what the program makes there.
	settled(getenv func(string) string) bool
}

const (
	// firstStart bounds the wait for the first program in a home: what it
	// fetches may be out of reach, and it gives up after a while itself.
	firstStart = 2 * time.Minute
	// lookAgain is how often it is looked for, and shown that it is.
	lookAgain = time.Second
)

// Await returns once the program may start: where it makes something in its
// home, one of the company's agents goes first, and the others follow when that
// one says that it runs.
//
//	home has it      -> start
//	nobody is at it  -> leave a mark, start; the mark goes with the program's first word
//	somebody is      -> wait until the mark goes, or for too long; where its process dies, the next goes first
//
// Where the home lacks it even then, it is out of reach, and nobody waits again.
func (p Program) Await(ctx context.Context, getenv func(string) string, out io.Writer) error {
	maker, ok := skillOf(p.Skill).(homemaker)
	if !ok {
		return nil
	}
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	waited := false
	for end := time.Now().Add(firstStart); time.Now().Before(end); {
		first, err := p.first()
		switch {
		case err != nil:
			return err
		case first == nobody && (waited || maker.settled(getenv)):
			return nil
		case first != running:
			mine, err := p.goFirst()
			if mine || err != nil {
				return err
			}
		}
		if !waited {
			fmt.Fprintf(out, "The first %s of the company prepares its home; this one follows.\r\n", p.Engine)
		}
		fmt.Fprint(out, ".") // a screen that rests is taken for one that hangs
		waited = true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// mark is the file that holds the process of the first program.
func (p Program) mark() string { return filepath.Join(filepath.Dir(p.Folder), p.Skill+".first") }

// How the first program is doing.
type firstState int

const (
	nobody  firstState = iota // is at it, or no longer
	running                   // and not yet heard
	gone                      // died before it was
)

// first tells how the first program is doing. The mark of one that died is
// taken away.
func (p Program) first() (firstState, error) {
	data, err := os.ReadFile(p.mark())
	if errors.Is(err, fs.ErrNotExist) {
		return nobody, nil
	}
	if err != nil {
		return nobody, fmt.Errorf("look for the first %s: %w", p.Engine, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err == nil && syscall.Kill(pid, 0) == nil {
		return running, nil
	}
	return gone, p.ready()
}

// goFirst leaves the mark, in the name of this process, which becomes the
// program. It says false where another was quicker.
func (p Program) goFirst() (bool, error) {
	temp, err := os.CreateTemp(filepath.Dir(p.mark()), "."+p.Skill+"-*")
	if err != nil {
		return false, fmt.Errorf("go first: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = fmt.Fprintln(temp, os.Getpid())
	if err = errors.Join(err, temp.Close()); err != nil {
		return false, fmt.Errorf("go first: %w", err)
	}
	err = os.Link(temp.Name(), p.mark()) // whole, and only where there is none
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("go first: %w", err)
	}
	return true, nil
}

// ready takes the mark away.
func (p Program) ready() error {
	if err := os.Remove(p.mark()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("let the others follow: %w", err)
	}
	return nil
}
