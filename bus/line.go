package bus

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"orchestrator-cc/protocol"
)

// One entry is one line of a segment:
//
//	6f1c2a90 41 1/2 {"time":"2026-02-01T10:30:00Z","kind":"message",...}
//	6f1c2a90 42 2/2 @<sha-256 of an entry too large for a line>
//
// The CRC-32C covers everything behind it. The sequence number stands in the
// line alone, so that line and body cannot disagree. "2/2" is the entry's place
// in its batch, by which a batch with a missing member is known from either end.
type line struct {
	seq      uint64
	part, of int
	body     []byte
}

// inlineLimit is the largest body that stands in a line; what is larger goes
// into a file of its own, so that scanning stays cheap.
const inlineLimit = 64 << 10

const crcWidth = 8

// minLine is shorter than any line can be.
const minLine = int64(len("00000000 1 1/1 {}\n"))

func appendLine(dst []byte, n line) []byte {
	start := len(dst)
	dst = append(dst, "00000000 "...)
	dst = strconv.AppendUint(dst, n.seq, 10)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(n.part), 10)
	dst = append(dst, '/')
	dst = strconv.AppendInt(dst, int64(n.of), 10)
	dst = append(dst, ' ')
	dst = append(dst, n.body...)
	putChecksum(dst[start:], dst[start+crcWidth+1:])
	return append(dst, '\n')
}

// putChecksum writes the checksum of b as text.
func putChecksum(dst, b []byte) {
	crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	hex.Encode(dst, binary.BigEndian.AppendUint32(nil, crc))
}

// parseLine reads a line without its newline; ok is false for a damaged one.
func parseLine(b []byte) (n line, ok bool) {
	if len(b) <= crcWidth || b[crcWidth] != ' ' {
		return n, false
	}
	rest := b[crcWidth+1:]
	var sum [crcWidth]byte
	if putChecksum(sum[:], rest); !bytes.Equal(sum[:], b[:crcWidth]) {
		return n, false
	}
	seq, rest, ok1 := bytes.Cut(rest, []byte{' '})
	part, rest, ok2 := bytes.Cut(rest, []byte{'/'})
	of, body, ok3 := bytes.Cut(rest, []byte{' '})
	if !ok1 || !ok2 || !ok3 {
		return n, false
	}
	var err1, err2, err3 error
	n.seq, err1 = strconv.ParseUint(string(seq), 10, 64)
	n.part, err2 = strconv.Atoi(string(part))
	n.of, err3 = strconv.Atoi(string(of))
	n.body = body
	return n, err1 == nil && err2 == nil && err3 == nil && n.part >= 1 && n.part <= n.of
}

// encode writes an entry without its sequence number, which the line carries.
func encode(e protocol.Entry) ([]byte, error) {
	e.Seq = 0
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	body, ok := bytes.CutPrefix(bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), []byte(`{"seq":0,`))
	if !ok {
		return nil, fmt.Errorf("the entry does not begin with its sequence number")
	}
	return append([]byte{'{'}, body...), nil
}
