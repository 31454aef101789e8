package scan

import "bytes"

// GoHeads empties the bodies of functions in a Go file in gofmt's layout, where
// a function begins and ends in the first column. Line numbers stay. The parser
// then reads a third of the text. Where the layout is another, the result does
// not parse, and the caller takes the whole file.
func GoHeads(src []byte) []byte {
	out := make([]byte, 0, len(src)/2)
	for len(src) > 0 {
		line, rest := cutLine(src)
		out = append(out, line...)
		src = rest
		if !bytes.HasPrefix(line, []byte("func ")) {
			continue
		}
		for (endsWith(line, '(') || endsWith(line, ',')) && len(src) > 0 {
			line, src = cutLine(src)
			out = append(out, line...)
		}
		if !endsWith(line, '{') {
			continue
		}
		end := 0
		if !bytes.HasPrefix(src, []byte("}")) {
			if end = bytes.Index(src, []byte("\n}")) + 1; end == 0 {
				continue
			}
		}
		for range bytes.Count(src[:end], []byte{'\n'}) {
			out = append(out, '\n')
		}
		src = src[end:]
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
