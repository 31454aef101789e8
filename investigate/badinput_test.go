package investigate

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
)

// peakHeap returns the largest heap seen while work runs, above what was there
// before. Tests that use it do not run in parallel.
func peakHeap(work func()) uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	now := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := now()
	peak := before
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				peak = max(peak, now())
			}
		}
	})
	work()
	close(done)
	watch.Wait()
	return peak - before
}

// everyCommand runs the five commands and fails on an error.
func everyCommand(t *testing.T, r *Root) {
	t.Helper()
	for _, line := range []string{
		`tree`, `find {"name":"a"}`, `grep {"pattern":"needle","context":2}`, `grep {"pattern":"n[a-z]+e","ignore_case":true}`, `signature_search {"pattern":"needle"}`,
		`signature_search`, `static_analysis {"targets":["needle"]}`, `static_analysis`,
	} {
		c, err := ParseCommand(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), c, Limits{}); err != nil {
			t.Errorf("%s: got error %v, want a result", line, err)
		}
	}
}

func TestHugeSparseFile(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "needle.go", "package a\n\nfunc needle() {}\n")
	for _, name := range []string{"zeros.go", "text_then_zeros.py"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "text") {
			_, err = f.WriteString(strings.Repeat("def needle(): pass\n", 20_000))
		}
		if err == nil {
			err = f.Truncate(2 << 30)
		}
		if err != nil || f.Close() != nil {
			t.Fatal("make sparse file: ", err)
		}
	}
	r := open(t, dir)
	start := time.Now()
	if n := peakHeap(func() { everyCommand(t, r) }); n > 200<<20 {
		t.Errorf("got %d MB of heap for files of 2 GB, want less than 200", n>>20)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("got %s, want the files left alone as binaries", d)
	}
	if res := grep(t, r, GrepQuery{Pattern: "needle"}); res.Binary != 2 || res.Total != 1 {
		t.Errorf("got %d binaries and %d hits, want 2 and 1", res.Binary, res.Total)
	}
}

func TestOneLineOf50MB(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "min.js", strings.Repeat("function f(){return 1};", 50<<20/23)+"needle()")
	r := open(t, dir)
	if n := peakHeap(func() { everyCommand(t, r) }); n > 200<<20 {
		t.Errorf("got %d MB of heap for a line of 50 MB, want less than 200", n>>20)
	}
	res := grep(t, r, GrepQuery{Pattern: "needle", Context: 1})
	if res.Total != 1 || res.Hits[0].Line != 1 || len(res.Hits[0].Text) > 2*maxShownLine {
		t.Errorf("got %d hits %+v, want one short text on line 1", res.Total, res.Hits)
	}
	sig, err := r.Signatures(t.Context(), SignatureQuery{})
	if err != nil || len(sig.Problems) != 1 {
		t.Errorf("got problems %v and error %v, want the file named as too large", sig.Problems, err)
	}
}

func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{
		"a.go": "package a\n\n// \xff\xfe needle\nfunc needle() {}\n", "b.py": "# \x80\ndef needle(): pass\n", "c.ts": "const needle = () => '\xc3'\n",
	})
	everyCommand(t, r)
	res := grep(t, r, GrepQuery{Pattern: "needle"})
	if res.Total != 4 || !strings.Contains(res.Hits[0].Text, "\uFFFD") {
		t.Errorf("got %d hits, first %q, want 4 with the bad bytes replaced", res.Total, res.Hits[0].Text)
	}
	o, err := r.Run(t.Context(), mustCommand(t, `grep {"pattern":"needle"}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := EncodeOutcome(o); err != nil {
		t.Error(err)
	}
}

func TestEmptyTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	everyCommand(t, open(t, dir))
	for _, question := range []string{"where is the retry policy?", "what is this code base?"} {
		rep, _, err := Investigate(t.Context(), question, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		md := rep.Markdown()
		if !strings.Contains(md, "anything at all: there are no files to read") {
			t.Errorf("got report without the word that the tree is empty:\n%s", md)
		}
		for _, never := range []string{"Biggest packages", "Imported most", "(-)"} {
			if strings.Contains(md, never) {
				t.Errorf("got %q in a report on nothing:\n%s", never, md)
			}
		}
	}
}

func TestNoHit(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.go": "package a\n"})
	rep, _, err := Investigate(t.Context(), "where is FrobnicateWidget?", r.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	md := rep.Markdown()
	for _, want := range []string{"Nothing in this code base matches FrobnicateWidget (1 file searched)", "FrobnicateWidget was found nowhere"} {
		if !strings.Contains(md, want) {
			t.Errorf("got report without %q:\n%s", want, md)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.txt": strings.Repeat("a", 100_000) + "\n"})
	tests := []struct{ name, pattern, want string }{
		{"empty", "", "empty"},
		{"does not compile", "a(b", "missing closing"},
		{"explodes", "((a{1,100}){1,100}){1,100}", "invalid repeat count"},
		{"large program", strings.Repeat("a{1,900}b", 8), "too complex"},
		{"too long", strings.Repeat("a", maxPattern+1), "longer than"},
		{"line break", `a\nb`, "line by line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Grep(t.Context(), GrepQuery{Pattern: tt.pattern})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("got an error of %d bytes, want a short one", len(err.Error()))
			}
		})
	}
}

// A pattern whose automaton needs a million states runs in bounded memory.
func TestPatternWithManyStates(t *testing.T) {
	line := strings.Repeat("abbaababbabbbaaababab", 40)
	r := writeTree(t, map[string]string{"a.txt": strings.Repeat(line+"\n", 300)})
	n := peakHeap(func() {
		if res := grep(t, r, GrepQuery{Pattern: "[ab]*a[ab]{18}c"}); res.Total != 0 {
			t.Errorf("got %d hits, want none", res.Total)
		}
	})
	if n > 100<<20 {
		t.Errorf("got %d MB of heap, want the table bounded", n>>20)
	}
}

func TestQuestionOfOneMegabyte(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.go": "package a\n\nfunc RetryPolicy() {}\n"})
	question := "where is RetryPolicy? " + strings.Repeat("word0 `quoted` 世界 a/b.go ", 1<<20/32)
	start := time.Now()
	rep, messages, err := Investigate(t.Context(), question, r.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("got %s, want an answer at once", d)
	}
	if len(rep.Places) == 0 || rep.Places[0].Name != "RetryPolicy" || len(rep.Markdown()) > 64<<10 || len(messages) == 0 {
		t.Errorf("got places %v and %d bytes, want RetryPolicy in a short report", rep.Places, len(rep.Markdown()))
	}
}
