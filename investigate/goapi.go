package investigate

import "bytes"

// withoutBodies cuts the bodies out of a Go file in gofmt's layout, where a
// function begins and ends in the first column. The parser then reads a third of
// the text. Where the layout is another, the result does not parse and the
// caller takes the whole file.
func withoutBodies(src []byte) []byte {
	out := make([]byte, 0, len(src)/2)
	for len(src) > 0 {
		line, rest := cutLine(src)
		out = append(out, line...)
		src = rest
		if !bytes.HasPrefix(line, []byte("func ")) {
			continue
		}
		for endsWith(line, '(') || endsWith(line, ',') {
			line, src = cutLine(src)
			out = append(out, line...)
			if len(src) == 0 {
				break
			}
		}
		if !endsWith(line, '{') {
			continue
		}
		end := bytes.Index(src, []byte("\n}\n"))
		if bytes.HasPrefix(src, []byte("}\n")) {
			end = -1
		} else if end < 0 {
			continue
		}
		src = src[end+1:]
	}
	return out
}

func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n') + 1
	if i == 0 {
		i = len(b)
	}
	return b[:i], b[i:]
}

func endsWith(line []byte, c byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	return len(line) > 0 && line[len(line)-1] == c
}
