package investigate

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The benchmarks run on the source of the Go standard library and compare with
// ripgrep and universal-ctags in the same run, turn by turn, so that both meet
// the same machine. A ratio below 1 means that we are faster.
//
//	go test -run '^$' -bench . ./investigate

func stdlib(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatalf("find the standard library: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// compareTimes runs ours and the other program in turns and reports the medians
// and their ratio, of the time that passed and of the processor time, which a
// loaded machine disturbs less. Where the program is missing only ours is
// measured.
func compareTimes(b *testing.B, name string, ours func(), other func() *exec.Cmd) {
	b.Helper()
	_, err := exec.LookPath(name)
	if err != nil {
		b.Logf("%s is not installed: no comparison", name)
	}
	var mine, theirs, mineCPU, theirsCPU []time.Duration
	for b.Loop() {
		start, used := time.Now(), processorTime(b)
		ours()
		mine, mineCPU = append(mine, time.Since(start)), append(mineCPU, processorTime(b)-used)
		if err != nil {
			continue
		}
		cmd := other()
		start = time.Now()
		out, runErr := cmd.CombinedOutput()
		theirs = append(theirs, time.Since(start))
		theirsCPU = append(theirsCPU, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		// Exit status 1 of rg means that nothing matched.
		if runErr != nil && cmd.ProcessState.ExitCode() != 1 {
			b.Fatalf("run %s: %v: %s", cmd, runErr, clip(string(out), 300))
		}
	}
	b.ReportMetric(float64(median(mine).Microseconds())/1000, "ms/ours")
	if len(theirs) > 0 {
		b.ReportMetric(float64(median(theirs).Microseconds())/1000, "ms/"+name)
		b.ReportMetric(float64(median(mine))/float64(median(theirs)), "x/"+name)
		b.ReportMetric(float64(median(mineCPU))/float64(median(theirsCPU)), "x-cpu/"+name)
	}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func BenchmarkGrep(b *testing.B) {
	tests := []struct {
		name    string
		pattern string
		fold    bool
	}{
		{"literal", `fmt\.Errorf`, false},
		{"literal-in-regexp", `func \(\w+ \*\w+\) \w+\(`, false},
		{"literal-any-case", `errorf`, true},
		{"no-match", `zzqqnomatch`, false},
		{"short-literal", `[A-Z]{6,}_[0-9]+`, false},
		{"one-byte-literal", `[a-z]+[0-9]+[a-z]+ *= *[0-9]`, false},
		{"no-literal", `[a-z]+[0-9]+[a-z]+[ =]+[0-9]`, false},
		{"frequent-literal-any-case", `[a-z]+ing[0-9]`, true},
		{"no-literal-any-case", `[a-f]+[0-9]{3}[a-f]+`, true},
		{"alternatives", `Lock|Unlock|RLock`, false},
	}
	root := stdlib(b)
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			ours := func() {
				r, err := Open(b.Context(), root)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Grep(b.Context(), GrepQuery{Pattern: tt.pattern, IgnoreCase: tt.fold}); err != nil {
					b.Fatal(err)
				}
			}
			compareTimes(b, "rg", ours, func() *exec.Cmd {
				args := []string{"--hidden", "--line-number", "--count", tt.pattern, root}
				if tt.fold {
					args = append([]string{"--ignore-case"}, args...)
				}
				return exec.Command("rg", args...)
			})
		})
	}
}

func BenchmarkSignatures(b *testing.B) {
	root := stdlib(b)
	compareTimes(b, "ctags", func() {
		r, err := Open(b.Context(), root)
		if err != nil {
			b.Fatal(err)
		}
		res, err := r.Signatures(b.Context(), SignatureQuery{Where: Where{Language: "go"}})
		if err != nil || res.Total < 50_000 {
			b.Fatalf("got %d declarations, %v", res.Total, err)
		}
	}, func() *exec.Cmd {
		cmd := exec.Command("ctags", "-R", "--languages=Go", "--output-format=json", "--fields=+n", "-f", os.DevNull, ".")
		cmd.Dir = root
		return cmd
	})
}

// BenchmarkInvestigate measures whole investigations of the standard library,
// and the largest memory that this process had; run it alone for that figure.
func BenchmarkInvestigate(b *testing.B) {
	root := stdlib(b)
	for _, question := range []string{"where is the retry policy implemented?", "How does Client.Do work in net/http?", "What is this code base?"} {
		b.Run(question, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Investigate(b.Context(), question, root, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			var usage syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
				b.Fatal(err)
			}
			unit := int64(1 << 10) // Linux counts kilobytes
			if runtime.GOOS == "darwin" {
				unit = 1
			}
			b.ReportMetric(float64(int64(usage.Maxrss)*unit)/(1<<20), "MB-peak")
		})
	}
}
