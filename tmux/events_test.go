package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

// woken says whether a notice comes in time.
func woken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(tmuxtest.Wait):
		return false
	}
}

// drain takes a notice that is waiting.
func drain(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

func TestOutputWakesOnlyItsOwnPane(t *testing.T) {
	t.Parallel()
	s := tmux.New(tmuxtest.Options(t))
	panes := build(t, s, five())
	tmuxtest.Run(t, s)
	boss, manager := s.Pane(panes[1]), s.Pane(panes[2])
	bossOut, managerOut := boss.Output(), manager.Output()
	if err := boss.Press(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if !woken(bossOut) {
		t.Error("boss: got no notice, want one")
	}
	select {
	case <-managerOut:
		t.Error("manager: got a notice, want none")
	default:
	}
}

func TestChangesTellOfDeathKillAndReturn(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	panes := build(t, s, five())
	tmuxtest.Run(t, s)
	told := func(cond func([]tmux.PaneInfo, error) bool) bool {
		end := time.Now().Add(tmuxtest.Wait)
		for time.Now().Before(end) && woken(s.Changes()) {
			if cond(s.Panes(t.Context())) {
				return true
			}
		}
		return false
	}
	seen := func(what string, cond func([]tmux.PaneInfo, error) bool) {
		t.Helper()
		if !told(cond) {
			t.Errorf("%s: got no notice after which it shows, want one", what)
		}
	}
	// tmux itself misses the death of a child now and then, which is why
	// callers look at the panes from time to time as well: one of three.
	died := false
	for range 3 {
		drain(s.Changes())
		raw(t, o, "respawn-pane", "-k", "-t", panes[1].ID, "true")
		if died = told(func(p []tmux.PaneInfo, err error) bool { return err == nil && len(p) == 6 && find(p, "boss").Dead }); died {
			break
		}
	}
	if !died {
		t.Error("death: got no notice after which it shows, want one")
	}
	raw(t, o, "kill-pane", "-t", panes[2].ID)
	seen("killed pane", func(p []tmux.PaneInfo, err error) bool { return err == nil && len(p) == 5 })
	raw(t, o, "kill-server")
	seen("server gone", func(_ []tmux.PaneInfo, err error) bool { return err != nil })
	build(t, s, five())
	tmuxtest.Eventually(t, tmuxtest.Wait, s.Connected)
}

func find(panes []tmux.PaneInfo, name string) tmux.PaneInfo {
	for _, p := range panes {
		if p.Name == name {
			return p
		}
	}
	return tmux.PaneInfo{}
}

func TestRunReconnectsAfterItsClientWasKilled(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "cat")
	tmuxtest.Run(t, s)
	for i := range 4 {
		pid := s.ClientPID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		// The text is there whether or not the client is.
		if err := pane.Paste(t.Context(), "n", []byte(fmt.Sprintf("line %d\n", i))); err != nil {
			t.Fatal(err)
		}
		waitText(t, pane, fmt.Sprintf("line %d", i))
		tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return s.Connected() && s.ClientPID() != pid })
	}
	out := pane.Output()
	drain(out)
	if err := pane.Press(t.Context(), "y"); err != nil {
		t.Fatal(err)
	}
	if !woken(out) {
		t.Error("got no notice after reconnecting, want one")
	}
}

// program writes a script that can be run. Another process writes it: were it this one, a command that a parallel test
// starts at that moment would inherit the open file, and the script could not be run while it has it.
func program(t *testing.T, path, script string) {
	t.Helper()
	write := exec.Command("sh", "-c", `cat > "$0" && chmod 700 "$0"`, path)
	write.Stdin = strings.NewReader(script)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("write %s: %v\n%s", path, err, out)
	}
}

// wedgeable is a tmux whose control clients neither speak nor end while the returned file exists.
func wedgeable(t *testing.T) (bin, flag string) {
	t.Helper()
	bin, flag = filepath.Join(t.TempDir(), "tmux"), filepath.Join(t.TempDir(), "wedged")
	script := fmt.Sprintf("#!/bin/sh\nif [ -e '%s' ]; then case \" $* \" in *\" -C \"*) exec sleep 1000;; esac; fi\nexec tmux \"$@\"\n", flag)
	program(t, bin, script)
	return bin, flag
}

func TestEverythingWorksWithoutControlMode(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	bin, flag := wedgeable(t)
	o.Bin = bin
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := tmux.New(o)
	s.SetPing(50*time.Millisecond, 200*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		within(t, 5*time.Second, "run", func() error { return <-done })
	}()
	pane := s.Pane(build(t, s, five())[1])
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return s.ClientPID() != 0 })
	first := s.ClientPID()
	for i := range 5 {
		if err := pane.Paste(t.Context(), "n", []byte(fmt.Sprintf("line %d\n", i))); err != nil {
			t.Fatal(err)
		}
		waitText(t, pane, fmt.Sprintf("line %d", i))
	}
	if s.Connected() {
		t.Error("connected: got true, want false while the client says nothing")
	}
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool { return tmuxtest.Gone(first) })
	if err := os.Remove(flag); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, tmuxtest.Wait, s.Connected)
}

func TestStoppedClientDoesNotFreezeThePanes(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "sh", "-c", "i=0; while :; do i=$((i+1)); echo count $i.; seq 1 200; sleep 0.02; done")
	s.SetPing(50*time.Millisecond, 300*time.Millisecond)
	tmuxtest.Run(t, s)
	pid := s.ClientPID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := capture(t, pane)
	tmuxtest.Eventually(t, tmuxtest.Wait, func() bool {
		now := capture(t, pane)
		return now.HistorySize > before.HistorySize+2000
	})
	within(t, 4*time.Second, "shutdown", func() error { return s.Shutdown(t.Context()) })
	if !tmuxtest.Gone(pid) {
		t.Errorf("stopped client %d: got alive, want it gone", pid)
	}
}

func TestRunEndsInGoodOrderUnderLoad(t *testing.T) {
	t.Parallel()
	s, _ := tmuxtest.Start(t, "sh", "-c", flood)
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		tmuxtest.Eventually(t, tmuxtest.Wait, s.Connected)
		pid := s.ClientPID()
		cancel()
		within(t, 3*time.Second, "run", func() error { return <-done })
		if !tmuxtest.Gone(pid) {
			t.Errorf("event client %d: got alive, want it gone", pid)
		}
	}
	if s.Connected() {
		t.Error("connected: got true, want false")
	}
	if _, err := s.Panes(t.Context()); err != nil {
		t.Errorf("server: got %v, want it alive", err)
	}
}

// A control client told to send no output does not go by itself when its input closes under load.
func TestClientWithoutOutputIsEnded(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	s := tmux.New(o)
	spec := five()
	spec.Agents[0].Argv = []string{"sh", "-c", flood}
	build(t, s, spec)
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		tmuxtest.Eventually(t, tmuxtest.Wait, s.Connected)
		pid := s.ClientPID()
		raw(t, o, "refresh-client", "-t", fmt.Sprintf("client-%d", pid), "-f", "no-output")
		cancel()
		within(t, 4*time.Second, "run", func() error { return <-done })
		if !tmuxtest.Gone(pid) {
			t.Errorf("event client %d: got alive, want it gone", pid)
		}
	}
}

// A reader that nobody empties must not hold up tmux: the panes of the whole session would freeze.
func TestNobodyListeningDoesNotHoldUpThePanes(t *testing.T) {
	t.Parallel()
	s, pane := tmuxtest.Start(t, "sh", "-c", "read go; seq 1 100000; echo finished; exec cat")
	tmuxtest.Run(t, s)
	_ = pane.Output()
	if err := pane.Press(t.Context(), "Enter"); err != nil {
		t.Fatal(err)
	}
	waitText(t, pane, "finished")
}

// tmux crashes when it has news for a control client that is just introducing itself. Here each client takes long to:
// it has an environment of a megabyte, which it sends variable by variable.
func TestNewsWhileTheClientAttachesDoNotCrashTheServer(t *testing.T) {
	t.Parallel()
	o := tmuxtest.Options(t)
	dir := t.TempDir()
	sizes := filepath.Join(dir, "sizes")
	o.Bin = slowClient(t, dir, sizes)
	s := tmux.New(o)
	s.SetGreet(tmuxtest.Wait) // it is slow on purpose, and slower on a busy machine
	panes := build(t, s, five())
	tmuxtest.Run(t, s)
	pid := serverPID(t, s)
	for round := range 3 {
		if err := syscall.Kill(s.ClientPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for i := 0; len(lines(t, sizes)) < round+2 || !s.Connected(); i++ {
			if err := s.Command(t.Context(), "select-pane", "-t", panes[1+i%5].ID); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
	if got := serverPID(t, s); got != pid {
		t.Errorf("server: got pid %d, want %d still", got, pid)
	}
	// The driver's own share in the length of an introduction.
	for _, size := range lines(t, sizes) {
		if n, err := strconv.Atoi(strings.TrimSpace(size)); err != nil || n > 2000 {
			t.Errorf("environment of the client: got %s bytes, want little", size)
		}
	}
}

// slowClient is a tmux whose control clients note the size of their environment and then get a large one.
func slowClient(t *testing.T, dir, sizes string) string {
	t.Helper()
	path := filepath.Join(dir, "tmux")
	script := `#!/bin/sh
case " $* " in
*' -C '*)
  env | wc -c >> ` + sizes + `
  i=0; while [ $i -lt 5000 ]; do export FAT$i=` + strings.Repeat("x", 200) + `; i=$((i+1)); done ;;
esac
exec tmux "$@"
`
	program(t, path, script)
	return path
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}
