package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// example is one code block of docs/API.md and what it must print.
type example struct {
	line   int
	lang   string
	script string
	want   []string
}

// readExamples takes the fenced blocks of a document; a block of text is what
// the one before it prints.
func readExamples(t *testing.T, file string) []example {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []example
	lang, block := "", []string(nil)
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case lang == "" && strings.HasPrefix(line, "```"):
			lang, block = strings.TrimPrefix(line, "```"), nil
		case lang == "":
		case line != "```":
			block = append(block, line)
		case lang == "text":
			out[len(out)-1].want = block
			lang = ""
		default:
			out = append(out, example{line: i + 1 - len(block), lang: lang, script: strings.Join(block, "\n")})
			lang = ""
		}
	}
	return out
}

// TestAPIDocs runs each example of the document, in its language, one after
// the other as a reader would.
func TestAPIDocs(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	examples := readExamples(t, "../docs/API.md")
	if len(examples) < 15 {
		t.Fatalf("got %d examples, want all of them", len(examples))
	}
	var page *browser
	for _, e := range examples {
		t.Run(fmt.Sprintf("%s line %d", e.lang, e.line), func(t *testing.T) {
			var got string
			switch e.lang {
			case "bash":
				got = w.example(t, "bash", "-euc", e.script)
			case "python":
				got = w.example(t, "python3", "-c", e.script)
			case "js":
				got = w.example(t, "node", "--input-type=module", "-e", e.script)
			case "js browser":
				if page == nil {
					page = newBrowser(w.t, w.url+"/docs")
				}
				got = page.eval("(async () => { const KEY = " + fmt.Sprintf("%q", w.key) + ";\n" + e.script + "\n})()")
			default:
				t.Fatalf("got the language %q, want one that is run", e.lang)
			}
			for _, line := range e.want {
				if !strings.Contains(got, line) {
					t.Errorf("got %q, want %q in it", got, line)
				}
			}
			if len(e.want) == 0 {
				t.Error("got an example that says nothing, want what it prints below it")
			}
		})
	}
}

// example runs one program with the address and the key in its environment.
func (w *web) example(t *testing.T, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		leaveOut(t, name+" is not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = w.project
	cmd.Env = append(w.command().Env, "URL="+w.url, "KEY="+w.key, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	cmd.WaitDelay = time.Minute
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), diag.String())
	}
	return out.String()
}
