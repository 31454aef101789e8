package engines

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A test process that is killed leaves its companies running. So each process
// holds a lock on a file in its companies' folders, which ends with the process
// however that ends, and the next run ends what nobody holds any more.

// ownerFile names the company's sockets, and is locked by whoever tests it.
const ownerFile = "owner"

// claim makes a company's folder this process's own.
func (c *company) claim() error {
	f, err := os.OpenFile(filepath.Join(c.dir, ownerFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	c.owner = f
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	_, err = f.WriteString(c.sockets)
	return err
}

// sweep ends the companies of processes that are no longer there.
func sweep(programs string) {
	homes, _ := filepath.Glob(filepath.Join(homesOf(programs), "*", ownerFile))
	short, _ := filepath.Glob(filepath.Join(socketsBase+"*", "*", ownerFile))
	for _, file := range append(homes, short...) {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			f.Close()
			continue
		}
		sockets, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(sockets), socketsBase) {
			c := &company{dir: filepath.Dir(file), sockets: string(sockets), owner: f}
			c.project = filepath.Join(c.dir, "project")
			c.env = c.environment(programs)
			c.end()
		}
		f.Close()
	}
}

// What a killed test has left is ended by the next run, and a company that is
// being tested is not.
func TestSweep(t *testing.T) {
	t.Parallel()
	programs := filepath.Join(t.TempDir(), "bin")
	left, held := leave(t, programs), leave(t, programs)
	left.owner.Close() // as the kernel does it for a process that is killed
	sweep(programs)
	if _, err := os.Stat(left.dir); err == nil {
		t.Errorf("got %s, want it ended and removed", left.dir)
	}
	if out := held.tmux("list-sessions"); !strings.Contains(out, "test") {
		t.Errorf("got %q, want the company that is held to go on", out)
	}
}

// leave starts a company of our own engine.
func leave(t *testing.T, programs string) *company {
	c := &company{t: t}
	c.makeFolders(homesOf(programs))
	t.Cleanup(func() { c.end() })
	c.env = c.environment(programs)
	c.write("project/config/cc-cluster.yaml", "cluster: {name: test, session_name: test}\nengine: builtin\n"+one())
	c.must("up")
	return c
}
