package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// brief writes declarations as "line-end kind scope.name", which a table can hold.
func brief(decls []Decl) []string {
	var out []string
	for _, d := range decls {
		out = append(out, fmt.Sprintf("%d-%d %s %s", d.Line, d.End, d.Kind, join(d.Scope, d.Name)))
	}
	return out
}

func TestFileFindsDeclarations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lang Language
		src  string
		want []string
	}{
		{"go", Go, "package p\n\ntype T[E any] struct {\n\tx int\n}\n\ntype I interface {\n\tM(a int) error\n}\n\nfunc (t *T[E]) M(a int) error {\n\treturn nil\n}\n\nfunc f(\n\ta int,\n) {\n}\n\nfunc oneLine() {}\n", []string{
			"3-5 struct T", "7-9 interface I", "8-8 method I.M", "11-13 method T.M", "15-18 function f", "20-20 function oneLine",
		}},
		{"go with a closing brace inside a raw string", Go, "package p\n\nfunc f() string {\n\treturn `\n}\n`\n}\n\nfunc g() {\n}\n", []string{"3-7 function f", "9-10 function g"}},
		{"go with a note behind the closing brace", Go, "package p\n\nfunc f() {\n\tg()\n} // note\nfunc g() {\n}\n", []string{"3-5 function f", "6-7 function g"}},
		{"go that does not compile", Go, "package p\n\nfunc f() {\n\tif {\n}\n\nfunc g() {}\n", []string{"3-5 function f", "7-7 function g"}},
		{"python", Python, "import os\n\nclass A(Base):\n    '''def no(): pass'''\n    @deco\n    async def m(self, x=(1,\n                         2)):\n        def inner():\n            pass\n\ndef f(): return 'def g():'\n", []string{
			"3-9 class A", "6-9 method A.m", "8-9 function A.m.inner", "11-11 function f",
		}},
		{"typescript", TypeScript, "export interface Opts { run(x: number): void }\ntype Id<T> = T | { go(): void };\nenum E { A }\nexport abstract class C<T> extends B<{a: 1}> implements Opts {\n  private x: Map<string, {a: number}> = new Map()\n  constructor(private y = 1) { super() }\n  get v(): { a: number } { return { a: 1 } }\n  handler = async (e: Event): Promise<void> => { this.run(1) }\n  #secret() {}\n}\nexport const arrow = <T,>(x: T): x is T => true\nfunction* gen(): Iterator<number> { yield 1 / 2 }\nnamespace N { export function inner() {} }\n", []string{
			"1-1 interface Opts", "1-1 method Opts.run", "2-2 type Id", "2-2 method Id.go", "3-3 enum E", "4-10 class C",
			"6-6 method C.constructor", "7-7 method C.v", "8-8 method C.handler", "9-9 method C.#secret", "11-11 function arrow", "12-12 function gen",
			"13-13 module N", "13-13 function N.inner",
		}},
		{"javascript", JavaScript, "const a = function () {}, s = `${(() => { return `}` })()}`\nmodule.exports.b = x => x\nA.prototype.c = function () { return /[/]function d(){}/ }\nconst o = { m() {}, n: async () => {}, 'q-r': function () {} }\nif (x) { y() }\nclass K { static async *z() {} }\n", []string{
			"1-1 function a", "2-2 function b", "3-3 function c", "4-4 method m", "4-4 function n", "4-4 function q-r", "4-4 constant o", "6-6 class K", "6-6 method K.z",
		}},
		{"java", Java, "package a.b;\nimport java.util.*;\n@Deco(x = \"class No {\")\npublic final class C<T extends Map<K, V>> extends D implements E {\n  private final int x = f();\n  public C() { this(1); }\n  @Override public <R> List<R> go(int a, Map<String, int[]> b) throws X {\n    return new Run() { public void run() { if (x) { } } };\n  }\n  enum Kind { A { void m() {} }, B; abstract void m(); }\n  record P(int a) {}\n  interface I { default int q() { return 1; } }\n}\n", []string{
			"4-13 class C", "6-6 method C.C", "7-9 method C.go", "8-8 method C.go.Run.run", "10-10 enum C.Kind", "10-10 method C.Kind.m", "10-10 method C.Kind.m",
			"11-11 class C.P", "12-12 interface C.I", "12-12 method C.I.q",
		}},
		{"rust", Rust, "use crate::a::B;\n/* fn no() /* nested */ {} */\n#[derive(Debug)]\npub struct S<'a> { x: &'a str }\nimpl<'a> Tr for S<'a> where S<'a>: Sized {\n    fn m(&self, c: char) -> char { let q = '{'; let s = r#\"fn no() {}\"#; c }\n}\npub trait Tr { type T; fn d(&self) -> i32 { 1 } }\nmod tests { fn t() { fn inner() {} } }\nmacro_rules! mac { () => { fn hidden() {} } }\npub const fn k() {}\n", []string{
			"4-4 struct S", "6-6 method S.m", "8-8 interface Tr", "8-8 type Tr.T", "8-8 method Tr.d", "9-9 module tests", "9-9 function tests.t", "9-9 function tests.t.inner",
			"10-10 macro mac", "11-11 function k",
		}},
		{"c", C, "#include \"a.h\"\n#define MAX(a, b) \\\n  ((a) > (b))\nstruct point { int x; };\ntypedef struct { int y; } pair_t;\ntypedef int (*callback)(void *);\nint declared(int);\n#ifdef A\nstatic int f(int a) {\n#else\nstatic int f(long a) {\n#endif\n  if (a) { return '}'; }\n  return 0;\n}\nstatic enum kind\nold(a)\n  int a;\n{\n}\nint table[] = { 1, 2 };\n", []string{
			"2-3 macro MAX", "4-4 struct point", "5-5 type pair_t", "6-6 type callback", "7-7 prototype declared", "9-15 function f", "17-20 function old",
		}},
		{"c++", CPP, "namespace a::b {\ntemplate <typename T, int N = (1 > 0)>\nclass Box final : public Base<T> {\n public:\n  explicit Box(int n) : n_(n), v_{1, 2} { init(); }\n  ~Box() override = default;\n  bool operator==(const Box& o) const { return true; }\n private:\n  int n_ = 0;\n};\nusing Ints = std::vector<int>;\nint Box<int>::size() const noexcept { return R\"(})\"[0]; }\n}\n", []string{
			"1-13 module a", "1-13 module a.b", "3-10 class a.b.Box", "5-5 method a.b.Box.Box", "6-6 prototype a.b.Box.~Box", "7-7 method a.b.Box.operator ==",
			"11-11 type a.b.Ints", "12-12 method a.b.Box.size",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, brief(File(tt.lang, []byte(tt.src)).Decls)); diff != "" {
				t.Errorf("declarations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileFindsConstantsAndVariables(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lang Language
		src  string
		want []string
	}{
		{"go", Go, "package p\n\nconst Max = 3\n\nconst (\n\ta, b = iota, 2\n\tc\n)\n\nvar table = map[string]int{\n\t\"x\": 1,\n}\n\nvar _ = f\n\nfunc f() {\n\tconst local = 1\n\tvar v int\n}\n", []string{
			"3-3 constant Max: const Max = 3", "6-6 constant a: const a, b = iota, 2", "6-6 constant b: const a, b = iota, 2", "7-7 constant c: const c",
			"10-12 variable table: var table = map[string]int{", "16-19 function f: func f()",
		}},
		{"python", Python, "MAX_RETRIES: int = 3\nnames = [\n  'a',\n]\nnames = None\na.b = 1\nc += 1\nd, e = 1, 2\nif x == 1:\n    y = 2\ndef f(k=1):\n    z = 3\nclass A:\n    LIMIT = 1\nx == 1\n", []string{
			"1-1 constant MAX_RETRIES: MAX_RETRIES: int = 3", "2-4 variable names: names = [", "11-12 function f: def f(k=1)", "13-14 class A: class A",
		}},
		{"typescript", TypeScript, "export const MAX: number = 3;\nlet state = {\n  a: 1,\n}\nconst go = () => { const inner = 1 }\nrun(() => { const x = 1 })\nconst { a, b } = require('c')\nfor (let i = 0; i < 3; i++) {}\nvar later\n", []string{
			"1-1 constant MAX: export const MAX: number = 3", "2-4 variable state: let state = {", "5-5 function go: go = () =>",
		}},
		{"java", Java, "class C {\n  public static final int MAX = f(1,\n    2);\n  static Log log = new Log();\n  private final int own = 1;\n  void m() { final int local = 1; }\n}\n", []string{
			"1-7 class C: class C", "2-3 constant C.MAX: public static final int MAX = f(1,", "4-4 variable C.log: static Log log = new Log()", "6-6 method C.m: void m()",
		}},
		{"rust", Rust, "pub const MAX: usize = 3;\nstatic mut STATE: S = S {\n  a: 1,\n};\nconst _: () = ();\nfn f<const N: usize>(p: *const u8) -> &'static str { const LOCAL: u8 = 1; p as *const u8; \"\" }\nimpl S { const ID: u8 = 1; const fn k() {} }\n", []string{
			"1-1 constant MAX: pub const MAX: usize = 3", "2-4 variable STATE: static mut STATE: S = S { a: 1, }", "6-6 function f: fn f<const N: usize>(p: *const u8) -> &'static str",
			"7-7 constant S.ID: const ID: u8 = 1", "7-7 method S.k: const fn k()",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			decls := File(tt.lang, []byte(tt.src)).Decls
			got := brief(decls)
			for i := range got {
				got[i] += ": " + decls[i].Signature
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("declarations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileFindsImports(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lang Language
		src  string
		want []string
	}{
		{"go", Go, "package p\nimport (\n\t\"fmt\"\n\tx \"a/b\"\n)\n", []string{"3 fmt", "4 a/b"}},
		{"python", Python, "import os, sys as s\nfrom .near import thing\nfrom pkg import (a,\n  b)\n", []string{"1 os", "1 sys", "2 .near", "2 .near.thing", "3 pkg", "3 pkg.a", "3 pkg.b"}},
		{"typescript", TypeScript, "import { a } from './a'\nexport * from \"./b\"\nconst c = require('c')\nconst d = await import('./d')\n", []string{"1 ./a", "2 ./b", "3 c", "4 ./d"}},
		{"java", Java, "package p;\nimport static a.B.c;\nimport a.b.*;\n", []string{"2 a.B.c", "3 a.b.*"}},
		{"rust", Rust, "use std::io::{self, Read};\nextern crate serde;\n", []string{"1 std::io::{self,Read}", "2 serde"}},
		{"c", C, "#include <stdio.h>\n#  include \"x/y.h\"\n", []string{"1 stdio.h", "2 x/y.h"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, i := range File(tt.lang, []byte(tt.src)).Imports {
				got = append(got, fmt.Sprintf("%d %s", i.Line, i.Path))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("imports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestComplexityCountsBranches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lang Language
		src  string
		want int
	}{
		{"straight", Go, "func f() {\n}\n", 1},
		{"go", Go, "func f() {\n\tfor a && b || c {\n\t\tif d {\n\t\t}\n\t}\n}\n", 5},
		{"python", Python, "def f():\n    if a and b:\n        pass\n    elif c:\n        x = 'if or and'  # if\n", 4},
		{"rust", Rust, "fn f() {\n match x { _ => loop {} }\n}\n", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Complexity(tt.lang, []byte(tt.src), 1, 99); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestWordsLeaveOutStringsAndComments(t *testing.T) {
	t.Parallel()
	var calls []string
	for _, w := range Words(Python, []byte("x = f(1)  # g(2)\ns = 'h(3)'\nt = '''\nk(4)\n'''\nm (5)\n")) {
		if w.Call {
			calls = append(calls, fmt.Sprintf("%s:%d", w.Text, w.Line))
		}
	}
	if diff := cmp.Diff([]string{"f:1", "m:6"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Any bytes at all give declarations on lines that exist, in every language.
func TestFileSurvivesAnyBytes(t *testing.T) {
	t.Parallel()
	langs := []Language{Go, Python, TypeScript, JavaScript, Java, Rust, C, CPP}
	pieces := []string{"{", "}", "(", ")", "<", ">", "[", "]", ";", ":", "::", "=", "=>", "\"", "'", "`", "/*", "*/", "//", "#", "\n", " ", "\\",
		"func ", "def ", "class ", "fn ", "impl ", "enum ", "template", "operator", "typedef ", "struct ", "interface ", "x", "R\"(", "r#\"", "${", "#if 0\n", "#else\n", "\xff", "世"}
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
		lang := rapid.SampledFrom(langs).Draw(t, "language")
		lines := strings.Count(src, "\n") + 1
		for _, d := range File(lang, []byte(src)).Decls {
			if d.Line < 1 || d.Line > lines || d.End < d.Line || d.End > lines {
				t.Fatalf("got lines %d-%d of %d, want them inside the file", d.Line, d.End, lines)
			}
		}
		Complexity(lang, []byte(src), 1, lines)
	})
}

func TestDeepNestingIsSurvived(t *testing.T) {
	t.Parallel()
	for _, lang := range []Language{Python, TypeScript, Java, Rust, CPP} {
		File(lang, []byte(strings.Repeat("class a { fn f() { ", 20_000)))
		File(lang, []byte(strings.Repeat("class a { void f() { ", 3_000)+strings.Repeat("} } ", 3_000)))
	}
}
