//go:build accuracy

package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// The accuracy of the scanners against the parsers that define each language,
// measured on corpora that are not in this repository:
//
//	go test -tags accuracy -run Accuracy -v ./investigate/scan
//
// Each corpus is a folder named by a variable; without it that language is
// skipped and the test says so.
//
//	CORPUS_GO          default: the standard library of the Go installation
//	CORPUS_PYTHON      e.g. the standard library of python3
//	CORPUS_TYPESCRIPT  e.g. npm packages; needs TYPESCRIPT=path of the npm module
//	CORPUS_JAVA        e.g. the unpacked src.zip of a JDK     (reference: universal-ctags)
//	CORPUS_RUST        e.g. the rust-src package              (reference: universal-ctags)
//	CORPUS_C           any C and C++ code                     (reference: universal-ctags)
//
// ACCURACY_SHOW=n prints n disagreements of each kind.

const (
	target = 0.95
	// near is how far apart two lines of one declaration may be: references
	// differ on whether an attribute or a return type begins it.
	near = 3
)

type declaration struct {
	File string `json:"file"`
	Name string `json:"name"`
	Line int    `json:"line"`
}

// reference is the truth: the files it could read, and what they declare.
type reference struct {
	files map[string]bool
	decls []declaration
}

func TestAccuracy(t *testing.T) {
	script := func(name string) string { return filepath.Join("testdata", "reference", name) }
	tests := []struct {
		name   string
		corpus string
		langs  []Language
		read   func(t *testing.T, root string) reference
	}{
		{"go", defaultGo(), []Language{Go}, goReference},
		{"python", os.Getenv("CORPUS_PYTHON"), []Language{Python}, func(t *testing.T, root string) reference {
			return fromLines(t, exec.Command("python3", script("declarations.py"), root))
		}},
		{"typescript", os.Getenv("CORPUS_TYPESCRIPT"), []Language{TypeScript, JavaScript}, func(t *testing.T, root string) reference {
			return fromLines(t, exec.Command("node", script("declarations.js"), root, os.Getenv("TYPESCRIPT")))
		}},
		{"java", os.Getenv("CORPUS_JAVA"), []Language{Java}, ctags("Java", "class interface enum method annotation")},
		{"rust", os.Getenv("CORPUS_RUST"), []Language{Rust}, ctags("Rust", "function method struct enum interface typedef module macro")},
		{"c", os.Getenv("CORPUS_C"), []Language{C, CPP}, ctags("C,C++", "function struct union enum typedef class namespace alias")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.corpus == "" {
				t.Skip("no corpus named; see the comment at the top of this file")
			}
			want := tt.read(t, tt.corpus)
			got := ours(t, tt.corpus, tt.langs, want.files)
			compare(t, got, want.decls)
		})
	}
}

func defaultGo() string {
	if root := os.Getenv("CORPUS_GO"); root != "" {
		return root
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

func fromLines(t *testing.T, cmd *exec.Cmd) reference {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run %s: %v", cmd, err)
	}
	ref := reference{files: map[string]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d declaration
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatalf("read reference: %v", err)
		}
		ref.files[d.File] = true
		if d.Name != "" {
			ref.decls = append(ref.decls, d)
		}
	}
	return ref
}

func ctags(languages, kinds string) func(t *testing.T, root string) reference {
	return func(t *testing.T, root string) reference {
		t.Helper()
		cmd := exec.Command("ctags", "-R", "--output-format=json", "--fields=+nK", "--languages="+languages, "-f", "-", ".")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("run %s: %v", cmd, err)
		}
		ref := reference{}
		for line := range bytes.Lines(out) {
			var tag struct {
				Type             string `json:"_type"`
				Name, Path, Kind string
				Line             int
			}
			if json.Unmarshal(line, &tag) != nil || tag.Type != "tag" || strings.HasPrefix(tag.Name, "__anon") {
				continue
			}
			if strings.Contains(" "+kinds+" ", " "+tag.Kind+" ") {
				ref.decls = append(ref.decls, declaration{filepath.Clean(tag.Path), tag.Name, tag.Line})
			}
		}
		return ref
	}
}

// ours reads the corpus with the scanners; only is nil or the files to read.
func ours(t *testing.T, root string, langs []Language, only map[string]bool) []declaration {
	t.Helper()
	var all []declaration
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		lang := LanguageOf(path)
		wanted := false
		for _, l := range langs {
			wanted = wanted || l == lang
		}
		if !wanted || only != nil && !only[rel] {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, decl := range File(lang, src).Decls {
			switch decl.Kind {
			case Prototype, Constant, Variable: // the references list none
				continue
			case Macro:
				if lang != Rust {
					continue
				}
			}
			all = append(all, declaration{rel, decl.Name, decl.Line})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compare pairs declarations of the same file and name on nearby lines, and
// counts those left over on either side.
func compare(t *testing.T, got, want []declaration) {
	t.Helper()
	type key struct{ file, name string }
	lines := map[key][]int{}
	for _, d := range want {
		k := key{d.File, d.Name}
		lines[k] = append(lines[k], d.Line)
	}
	both := 0
	var extra, missed []declaration
next:
	for _, d := range got {
		k := key{d.File, d.Name}
		for i, line := range lines[k] {
			if line-near <= d.Line && d.Line <= line+near {
				lines[k] = append(lines[k][:i], lines[k][i+1:]...)
				both++
				continue next
			}
		}
		extra = append(extra, d)
	}
	for k, left := range lines {
		for _, line := range left {
			missed = append(missed, declaration{k.file, k.name, line})
		}
	}
	recall, precision := float64(both)/float64(max(len(want), 1)), float64(both)/float64(max(len(got), 1))
	t.Logf("declarations %d, recall %.2f %%, precision %.2f %%", len(want), 100*recall, 100*precision)
	show(t, "missed", missed)
	show(t, "extra", extra)
	if recall < target || precision < target {
		t.Errorf("got recall %.4f and precision %.4f, want at least %.2f each", recall, precision, target)
	}
}

func show(t *testing.T, what string, list []declaration) {
	t.Helper()
	n := 0
	if json.Unmarshal([]byte(os.Getenv("ACCURACY_SHOW")), &n) != nil {
		return
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.File+a.Name < b.File+b.Name
	})
	step := max(len(list)/max(n, 1), 1)
	for i := 0; i < len(list); i += step {
		t.Logf("%s %s:%d %s", what, list[i].File, list[i].Line, list[i].Name)
	}
}
