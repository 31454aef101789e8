package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSecondOpenerIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{})
	_, err := Open(dir, Options{})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint("pid ", os.Getpid())) {
		t.Errorf("got %v, want ErrLocked with our pid", err)
	}
	short, cancel := context.WithTimeout(bounded(t), 10*time.Millisecond)
	defer cancel()
	if err := Wait(short, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait while held: got %v, want deadline", err)
	}
	free := make(chan error)
	go func() { free <- Wait(bounded(t), dir) }()
	closeLog(t, l)
	if err := <-free; err != nil {
		t.Errorf("wait: %v", err)
	}
	if err := Wait(bounded(t), filepath.Join(dir, "none")); err != nil {
		t.Errorf("wait without a stream: %v", err)
	}
	open(t, dir, Options{})
}
