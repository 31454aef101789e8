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

	"orchestrator-cc/e2e/hometest"
)

// example is one code block of docs/API.md and what it must print.
type example struct {
	line    int
	section string
	lang    string
	script  string
	want    []string
}

// readExamples takes the fenced blocks of a document; a block of text is what
// the one before it prints, and a first one of a language is what the later
// ones begin with.
func readExamples(t *testing.T, file string) []example {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []example
	lang, block, section := "", []string(nil), ""
	first := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case lang == "" && strings.HasPrefix(line, "```"):
			lang, block = strings.TrimPrefix(line, "```"), nil
		case lang == "" && strings.HasPrefix(line, "#"):
			section = line
		case lang == "":
		case line != "```":
			block = append(block, line)
		case lang == "text":
			out[len(out)-1].want = block
			lang = ""
		case strings.HasSuffix(lang, " first"):
			first[strings.TrimSuffix(lang, " first")] = strings.Join(block, "\n") + "\n"
			lang = ""
		default:
			out = append(out, example{line: i + 1 - len(block), section: section, lang: lang, script: first[lang] + strings.Join(block, "\n")})
			lang = ""
		}
	}
	return out
}

// docsConfig is the company that the examples talk to. The clerk is a program
// that asks in its pane, and that gives up when it is not told enough.
const docsConfig = `engines:
  clerk: {command: [sh, clerk.sh], dialog: ['\(y/n\) *$']}
` + apiConfig + `  - {name: clerk, role: specialist_files, marker: CLERK OK, timeout: 60s, engine: clerk}
`

const clerk = `while IFS= read -r line; do
  case $line in
  *release*staging*) echo 'released with the staging key' ;;
  *release*) exit 1 ;;
  *) printf 'Overwrite the file? (y/n) '; read -r answer; echo "the answer was $answer" ;;
  esac
  echo 'CLERK OK'
done
`

// TestAPIDocsLanguages finds what is shown in one language and not in another.
func TestAPIDocsLanguages(t *testing.T) {
	t.Parallel()
	shown := map[string]map[string]bool{}
	for _, e := range readExamples(t, "../docs/API.md") {
		if shown[e.section] == nil {
			shown[e.section] = map[string]bool{}
		}
		shown[e.section][strings.TrimSuffix(e.lang, " browser")] = true
	}
	if len(shown) < 15 {
		t.Errorf("got examples in %d sections, want one for each thing to do", len(shown))
	}
	for section, langs := range shown {
		for _, lang := range []string{"bash", "js", "python"} {
			if !langs[lang] && !(lang == "bash" && strings.Contains(section, "WebSocket")) { // curl cannot speak it
				t.Errorf("%s: got no example in %s", section, lang)
			}
		}
	}
}

// TestAPIDocs runs each example of the document, in its language, one after
// the other as a reader would.
func TestAPIDocs(t *testing.T) {
	t.Parallel()
	c := newProject(t, docsConfig)
	if err := os.WriteFile(filepath.Join(c.project, "clerk.sh"), []byte(clerk), 0o600); err != nil {
		t.Fatal(err)
	}
	w := c.web()
	w.admin = strings.TrimSpace(c.run("keys", "add", "steers", "--scope", "admin"))
	examples := readExamples(t, "../docs/API.md")
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
	cmd.Env = append(w.command().Env, "URL="+w.url, "KEY="+w.key, "ADMIN="+w.admin, "PATH="+filepath.Dir(hometest.Binary())+":"+os.Getenv("PATH"))
	cmd.WaitDelay = time.Minute
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), diag.String())
	}
	return out.String()
}
