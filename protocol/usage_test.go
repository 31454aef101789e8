package protocol

import "testing"

func TestFigure(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1049: "1k", 12_345: "12.3k", 4_500_000: "4.5M", 2_000_000_000: "2G"} {
		if got := Figure(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
