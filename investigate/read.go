package investigate

import (
	"bytes"
	"errors"
	"io"
	"os"
)

const (
	// blockSize fits the second-level cache of one core, and bounds the memory
	// that a file of any size takes.
	blockSize = 256 << 10
	// blockOverlap is how much of a line longer than a block is searched again
	// with the next block, so that a match across the edge is found.
	blockOverlap = 4 << 10
	// maxSource is the largest file that is read whole, to be parsed. Source
	// files people write are far smaller; generated ones are named as a Problem.
	maxSource = 4 << 20
	// binaryProbe is how much of a file must be free of zero bytes to be parsed.
	binaryProbe = 8 << 10
)

var (
	errBinary   = errors.New("binary file")
	errTooLarge = errors.New("larger than 4 MB, only searched as text")
)

// block is a run of whole lines of a file. Only a line longer than blockSize is
// torn: its further parts have continued set.
type block struct {
	data      []byte
	line      int // number of the first line
	offset    int // of data within its first line
	continued bool
}

// blockReader reads files block by block into one buffer.
type blockReader struct{ buf []byte }

func newBlockReader() *blockReader { return &blockReader{buf: make([]byte, blockSize)} }

// each calls visit with the blocks of a file until it returns false. A zero byte
// anywhere makes the file binary, and the reading ends with errBinary.
func (r *blockReader) each(path string, visit func(block) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	kept := 0
	b := block{line: 1}
	for {
		n, err := io.ReadFull(f, r.buf[kept:])
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		data := r.buf[:kept+n]
		if bytes.IndexByte(data[kept:], 0) >= 0 {
			return errBinary
		}
		cut := len(data)
		if !last {
			cut = bytes.LastIndexByte(data, '\n') + 1
		}
		torn := cut == 0 && !last
		if torn {
			cut = len(data)
		}
		b.data = data[:cut]
		if len(b.data) > 0 && !visit(b) || last {
			return nil
		}
		rest := data[cut:]
		if torn {
			rest = data[cut-blockOverlap:]
			b.offset += cut - blockOverlap
		} else {
			b.offset = 0
			b.line += bytes.Count(b.data, []byte{'\n'})
		}
		b.continued = torn
		kept = copy(r.buf, rest)
	}
}

// source reads a whole file of text into buf, growing it as needed.
func source(path string, buf *bytes.Buffer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// Of a giant only the head is read, to tell whether it is text at all.
	most, giant := info.Size()+1, info.Size() > maxSource
	if giant {
		most = binaryProbe
	}
	buf.Reset()
	buf.Grow(int(most) + bytes.MinRead)
	if _, err := io.Copy(buf, io.LimitReader(f, most)); err != nil {
		return err
	}
	if bytes.IndexByte(buf.Bytes()[:min(buf.Len(), binaryProbe)], 0) >= 0 {
		return errBinary
	}
	if giant {
		return errTooLarge
	}
	return nil
}
