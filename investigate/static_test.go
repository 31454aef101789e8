package investigate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func static(t *testing.T, r *Root, targets ...string) StaticResult {
	t.Helper()
	res, err := r.Static(t.Context(), StaticQuery{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func briefRefs(refs []Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, fmt.Sprintf("%s %s", r.place(), r.Name))
	}
	return out
}

// Packages that are not there, that import each other, or that are written for
// another system do not keep the rest from being checked.
func TestStaticToleratesWhatDoesNotBuild(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"go.mod":           "module m\n",
		"a/a.go":           "package a\n\nimport (\n\t\"gone.example/x\"\n\t\"m/b\"\n)\n\nfunc A() { x.Gone(b.B()); undefined() }\n",
		"b/b.go":           "package b\n\n// B counts.\n\nfunc B() int { return c() }\n\nfunc c() int { return 1 }\n",
		"b/other.go":       "//go:build plan9\n\npackage b\n\nfunc OnPlan9() { c() }\n",
		"d/d.go":           "package d\n\nimport _ \"m/e\"\n",
		"e/e.go":           "package e\n\nimport (\n\t\"m/b\"\n\t_ \"m/d\"\n)\n\nfunc E() { b.B() }\n",
		"b/broken_test.go": "package b\n\nfunc TestB( {\n",
		"c/c.go":           "package c\n\nimport bee \"m/b\"\n\nvar V = bee.B()\n\ntype T struct{}\n\nfunc (T) M() { bee.B() }\n",
	})
	res := static(t, r, "B")
	if len(res.Subjects) != 1 || !res.Subjects[0].Typed {
		t.Fatalf("got subjects %+v and notes %v, want B by types", res.Subjects, res.Notes)
	}
	s := res.Subjects[0]
	if diff := cmp.Diff([]string{"a/a.go:8 a.A", "c/c.go:5 package level", "c/c.go:9 c.T.M", "e/e.go:8 e.E"}, briefRefs(s.Callers)); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b/b.go:5 b.c"}, briefRefs(s.Callees)); diff != "" {
		t.Errorf("callees (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/a.go:5 a", "c/c.go:3 c", "e/e.go:4 e"}, briefRefs(s.Dependents)); diff != "" {
		t.Errorf("dependents (-want +got):\n%s", diff)
	}
	elsewhere := static(t, r, "OnPlan9")
	if elsewhere.Subjects[0].Typed || !strings.Contains(strings.Join(elsewhere.Notes, "\n"), "not type-checked") {
		t.Errorf("got %+v, want a note that the file is another platform's", elsewhere)
	}
}

func TestStaticTargets(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"a.py": "class Box:\n    def open(self):\n        # TO" + "DO: lock\n        return self\n\ndef opened():\n    pass\n", "vendor/b.py": "def open():\n    pass\n",
	})
	tests := []struct {
		name   string
		target string
		want   []string
	}{
		{"name, own code before vendored", "open", []string{"Box.open"}},
		{"scope and name", "Box.open", []string{"Box.open"}},
		{"part of a name", "opene", []string{"opened"}},
		{"line", "a.py:3", []string{"Box.open"}},
		{"file, longest first", "a.py", []string{"Box", "Box.open", "opened"}},
		{"nothing", "nowhere", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range static(t, r, tt.target).Subjects {
				got = append(got, s.Qualified())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("subjects (-want +got):\n%s", diff)
			}
		})
	}
	if todos := static(t, r, "Box.open").Subjects[0].Todos; len(todos) != 1 || todos[0].Line != 3 {
		t.Errorf("got %+v, want the marked line 3", todos)
	}
}

func TestGenericsAndEmbeddedMethods(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"go.mod": "module m\n",
		"a.go":   "package m\n\ntype List[T any] struct{ items []T }\n\nfunc (l *List[T]) Add(x T) { l.items = append(l.items, x) }\n\ntype Names struct{ List[string] }\n\nfunc use() {\n\tvar n Names\n\tn.Add(\"x\")\n\tnew(List[int]).Add(1)\n}\n",
	})
	s := static(t, r, "List.Add").Subjects[0]
	if diff := cmp.Diff([]string{"a.go:11 m.use"}, briefRefs(s.Callers)); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
}
