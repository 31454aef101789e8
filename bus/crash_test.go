package bus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator-cc/bus/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, crashtest.Parts{
		"append":   appendForEver,
		"limit":    meetTheLimit,
		"readonly": meetReadOnly,
		"full":     meetFullDisk,
	})
}

// appendForEver prints each acknowledged batch and ends by being killed, or
// when its reader is gone.
func appendForEver(dir string) error {
	l, err := Open(dir, Options{SegmentBytes: 16 << 10})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				s := fmt.Sprint(os.Getpid(), ".", w, ".", i, ".")
				if i%10 == 9 {
					s += strings.Repeat("x", inlineLimit)
				}
				last, err := l.Append(ctx, say(s+"a"), say(s+"b"))
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					cancel()
					return
				}
				if _, err := fmt.Println(last, s); err != nil {
					cancel()
				}
			}
		})
	}
	wg.Wait()
	return errors.New("nobody killed the child")
}

// TestKillNine kills a writing process again and again over one stream.
func TestKillNine(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	dir := t.TempDir()
	acked := map[uint64]string{}
	for range rounds {
		killWhileWriting(t, dir, 1+rnd.IntN(60), time.Duration(rnd.IntN(3000))*time.Microsecond, acked)
		l := open(t, dir, Options{})
		checkAcked(t, all(t, l, 0), acked)
		want(t, "damage", l.Damage(), []string(nil))
		closeLog(t, l)
	}
	t.Log("acknowledged batches:", len(acked))
}

// killWhileWriting lets a child write, kills it a moment after some batches
// were acknowledged, and notes all that were.
func killWhileWriting(t *testing.T, dir string, enough int, then time.Duration, acked map[uint64]string) {
	t.Helper()
	cmd := crashtest.Child(bounded(t), "append", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a line without its end was cut by the kill
		}
		number, s, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		last, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			t.Fatalf("child said %.80q", line)
		}
		if _, twice := acked[last]; twice {
			t.Errorf("number %d was given twice", last)
		}
		acked[last] = s
		if n == enough {
			timer := time.AfterFunc(then, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
	}
	if err := cmd.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("child ended by itself: %v %s", err, complaint.String())
	}
}
