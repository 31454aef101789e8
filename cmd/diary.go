package cmd

import (
	"fmt"
	"os"
	"sync"

	"github.com/rs/zerolog"
)

// diary is the file of the hub's diary. It is moved aside when it is full, so
// that a hub which runs for months keeps the last two files and no more.
type diary struct {
	mu    sync.Mutex
	path  string
	limit int64
	file  *os.File
	size  int64
}

// diaryLimit holds weeks of an ordinary company.
const diaryLimit = 8 << 20

func openDiary(path string) (*diary, error) {
	d := &diary{path: path, limit: diaryLimit}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("open the diary: %w", err)
	}
	return d, nil
}

func (d *diary) open() error {
	f, err := os.OpenFile(d.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	d.file, d.size = f, info.Size()
	return nil
}

// logger writes into the diary what whoever repairs the house needs to know.
func (d *diary) logger() zerolog.Logger {
	return zerolog.New(d).Level(zerolog.InfoLevel).With().Timestamp().Int("pid", os.Getpid()).Logger()
}

// Write appends one line. A diary that cannot be begun anew goes on in the old
// file: a line too many is better than a line lost.
func (d *diary) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size > 0 && d.size+int64(len(line)) > d.limit && os.Rename(d.path, d.path+".1") == nil {
		full := d.file
		if d.open() == nil {
			full.Close()
		}
	}
	n, err := d.file.Write(line)
	d.size += int64(n)
	return n, err
}

func (d *diary) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.Close()
}
