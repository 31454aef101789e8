// Package crashtest lets a test binary play parts of its own in other
// processes: some are killed in the middle of a write, others meet a disk that
// refuses them. It is for the tests of whatever must survive that.
package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// variable tells a process that it is a child, with its part and its folder.
const variable = "CRASHTEST_CHILD"

// Parts are what children can play, by name; each gets a folder.
type Parts map[string]func(dir string) error

// Main is a TestMain: it runs the tests, or in a child its part.
func Main(m *testing.M, parts Parts) {
	name, dir, ok := strings.Cut(os.Getenv(variable), ":")
	if !ok {
		os.Exit(m.Run())
	}
	if err := parts[name](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Child is a process that will play a part in a folder.
func Child(ctx context.Context, part, dir string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+part+":"+dir)
	return cmd
}

// Play lets a child play a part to its end, in a folder of its own.
func Play(ctx context.Context, t *testing.T, part string) {
	t.Helper()
	if out, err := Child(ctx, part, t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// LimitFiles makes hurt, which lets the system refuse every byte of a file
// beyond a limit that is step higher each time, and heal, which lifts it. It is
// for a child: the limit holds for the whole process.
func LimitFiles(step uint64) (hurt, heal func() error, err error) {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return nil, nil, err
	}
	limit := before
	limit.Cur = 0
	hurt = func() error {
		limit.Cur += step
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	return hurt, func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }, nil
}

// BecomeNobody gives up the rights of root, who is never refused anything, and
// goes to dir: the folders above it may be closed to nobody.
func BecomeNobody(dir string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if os.Getuid() != 0 {
		return nil
	}
	const nobody = 65534
	if err := os.Chown(".", nobody, nobody); err != nil {
		return err
	}
	return errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody))
}
