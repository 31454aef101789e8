package bus

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"orchestrator-cc/bus/crashtest"
)

// TestFullDiskRefusesCleanly runs the child on a tiny file system of its own.
// It lives in a mount namespace that ends with the child, so that nothing of
// it can be left behind.
func TestFullDiskRefusesCleanly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inner := crashtest.Child(bounded(t), "full", dir)
	script := `mount -t tmpfs -o size=1m tmpfs "$1" || exit 77; exec "$2"`
	cmd := exec.CommandContext(bounded(t), "/bin/sh", "-c", script, "sh", dir, inner.Path)
	cmd.Env = inner.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("this system gives no file system of one's own: %v: %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
