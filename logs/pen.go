package logs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// pen holds the journal's file and puts whole lines into it.
type pen struct {
	path     string
	file     *os.File
	half     int   // how much of the line under way stands at the end of the file
	end      int64 // where the file ended after that half
	unsynced int64
}

// errGone says that the line went into a file which nobody can find any more.
var errGone = errors.New("the file was deleted")

// makeFolder makes the journal's folder where it is missing. One that we made
// ignores itself in git, because what agents said is nobody's source; one that
// was there is left as it is.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644)
}

// attach opens the file, or makes it with its folder, and cuts a torn end.
func (p *pen) attach() error {
	p.close()
	if err := makeFolder(filepath.Dir(p.path)); err != nil {
		return err
	}
	f, err := os.OpenFile(p.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	keep, _, err := examine(f)
	if err == nil {
		err = cutTo(f, keep)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	p.file = f
	return nil
}

func cutTo(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil || info.Size() <= size {
		return err
	}
	return f.Truncate(size)
}

func (p *pen) close() {
	if p.file == nil {
		return
	}
	// The stream holds every line; syncing only spares the next start some work.
	_ = p.file.Sync()
	_ = p.file.Close()
	p.file, p.half, p.unsynced = nil, 0, 0
}

// put writes the line, or what is still missing of it. A line that was begun
// is finished in the same file: shortening it again would make tail -f show
// everything a second time.
func (p *pen) put(line []byte) error {
	if err := p.ready(); err != nil {
		return err
	}
	if p.unsynced > 0 && p.unsynced+int64(len(line)) > doubtful {
		if err := p.file.Sync(); err != nil {
			return err
		}
		p.unsynced = 0
	}
	n, err := p.file.Write(line[p.half:])
	p.half += n
	p.unsynced += int64(n)
	info, statErr := p.file.Stat()
	if err = errors.Join(err, statErr); err != nil {
		if statErr == nil {
			p.end = info.Size()
		}
		return err
	}
	p.half = 0
	if links(info) == 0 {
		return errGone
	}
	return nil
}

// ready makes sure that the file is the one at path, and that half a line, if
// there is one, still stands at its end.
func (p *pen) ready() error {
	if p.file == nil {
		return p.attach()
	}
	own, err := p.file.Stat()
	if err != nil {
		return err
	}
	if p.half > 0 {
		if links(own) > 0 && own.Size() == p.end {
			return nil
		}
		return p.attach()
	}
	there, err := os.Stat(p.path)
	if err == nil && os.SameFile(own, there) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return p.attach()
}

// links counts the names a file has; one without a name is deleted.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
