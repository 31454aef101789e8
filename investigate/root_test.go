package investigate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeTree makes files below a new folder and opens it.
func writeTree(t *testing.T, files map[string]string) *Root {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		writeFile(t, dir, name, content)
	}
	return open(t, dir)
}

func open(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func paths(r *Root) []string {
	var out []string
	for _, f := range r.Files() {
		out = append(out, f.Path)
	}
	return out
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"missing", filepath.Join(t.TempDir(), "nowhere"), "no such file or directory"},
		{"file", file, "not a folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(t.Context(), tt.path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("got error %v, want the path and %q", err, tt.want)
			}
		})
	}
}

func TestOpenSkipsVersionControlAndReportsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"a/b", ".git/objects"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a/b/x.go", ".git/objects/1.go", ".hidden.py"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"a/b/up": "../..", "self": "self", "dead": "nowhere", "a/file": "b/x.go"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, dir)
	if diff := cmp.Diff([]string{".hidden.py", "a/b/x.go"}, paths(r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := []Problem{
		{"a/b/up", "symbolic link loop: it leads back to a folder around it"},
		{"a/file", "symbolic link, not followed"},
		{"dead", "symbolic link to nothing"},
		{"self", "symbolic link loop"},
	}
	if diff := cmp.Diff(want, r.Problems()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Git itself says which of these paths are ignored.
func TestIgnoreAgreesWithGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed for this test")
	}
	dir := t.TempDir()
	ignores := map[string]string{
		".gitignore":      "# note\n*.log\n!keep.log\n/build\nout/\ndoc/*.txt\n**/gen/**\na/**/z\ntmp?/\n[!a]bc\n\\#hash\ntrail \nspaced\\ \nq/r/\n",
		"sub/.gitignore":  "!important.log\n/only\nsecret.*\n",
		"deep/.gitignore": "*\n!*.go\n!*/\n",
	}
	files := []string{
		"x.log", "keep.log", "sub/y.log", "sub/important.log", "build/a", "sub/build/a", "out/b", "src/out/b", "src/out.go", "doc/a.txt", "doc/sub/a.txt",
		"gen/a", "x/gen/a/b", "a/z", "a/b/c/z", "b/z", "tmp1/f", "tmp/f", "xbc", "abc", "#hash", "trail", "sub/only", "sub/in/only", "sub/secret.key",
		"deep/a.go", "deep/a.txt", "deep/in/b.go", "deep/in/b.md", "q/r/s", "q/r2", "plain.go",
	}
	for name, content := range ignores {
		writeFile(t, dir, name, content)
	}
	for _, name := range files {
		writeFile(t, dir, name, "")
	}
	run := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("init", "-q")
	for _, under := range []string{"", "sub", "deep/in"} {
		t.Run("under "+under, func(t *testing.T) {
			r := open(t, filepath.Join(dir, under))
			want := strings.Fields(run("-C", filepath.Join(dir, under), "ls-files", "--others", "--exclude-standard"))
			if diff := cmp.Diff(want, paths(r)); diff != "" {
				t.Errorf("files (-git +ours):\n%s", diff)
			}
		})
	}
}

func writeFile(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTreeAndFind(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"main.go": "package main\n", "a/UserController.ts": "x", "a/b/c/deep.py": "", "a/b/c/d/deeper.py": "", "a/user_test.go": "package a\n",
	})
	tree, err := r.Tree(t.Context(), TreeQuery{Depth: 2})
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, f := range tree.Folders {
		folders = append(folders, f.Path)
	}
	if diff := cmp.Diff([]string{"a", "a/b"}, folders); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	if tree.Files != 5 || tree.Languages["python"] != 2 || tree.Folders[0].Files != 4 {
		t.Errorf("got %d files, %v, folder a with %d; want 5, python 2, 4", tree.Files, tree.Languages, tree.Folders[0].Files)
	}
	tests := []struct {
		name  string
		where Where
		want  []string
	}{
		{"contains, any case", Where{Name: "controller"}, []string{"a/UserController.ts"}},
		{"wildcard", Where{Name: "*.py"}, []string{"a/b/c/d/deeper.py", "a/b/c/deep.py"}},
		{"wildcard with folder", Where{Name: "a/*.go"}, []string{"a/user_test.go"}},
		{"folder and language", Where{Under: "a/b", Language: "python"}, []string{"a/b/c/d/deeper.py", "a/b/c/deep.py"}},
		{"without tests", Where{Name: ".go", NoTests: true}, []string{"main.go"}},
		{"outside the root", Where{Under: "../.."}, []string{"a/UserController.ts", "a/b/c/d/deeper.py", "a/b/c/deep.py", "a/user_test.go", "main.go"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res, err := r.Find(t.Context(), FindQuery{Where: tt.where})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range res.Files {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := r.Find(t.Context(), FindQuery{Where: Where{Name: "[a"}}); err == nil {
		t.Error("got no error for a broken file pattern, want one")
	}
}

// What this program writes is never evidence, also where no .gitignore says so.
func TestOwnBooksAreNoEvidence(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"a.go": "package a // needle\n", "logs/messages.jsonl": "needle\n", "logs/messages.jsonl.1": "needle\n",
		".orchestrator-cc/reports/report-1.json": "needle\n", "logs/app.log": "needle\n", "sub/logs/messages.jsonl": "needle\n",
	})
	if diff := cmp.Diff([]string{"a.go", "logs/app.log", "sub/logs/messages.jsonl"}, paths(r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := grep(t, r, GrepQuery{Pattern: "needle"}); got.Total != 3 {
		t.Errorf("got %d lines, want 3", got.Total)
	}
}
