package tmux

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// The panes of a layout and the lines between them fill the window, whatever its size.
func TestLayoutFillsTheWindow(t *testing.T) {
	t.Parallel()
	leaf := regexp.MustCompile(`(\d+)x(\d+),(\d+),(\d+),(\d+)`)
	rapid.Check(t, func(rt *rapid.T) {
		left := rapid.IntRange(1, 6).Draw(rt, "left")
		right := rapid.IntRange(0, 12).Draw(rt, "right")
		size := Size{rapid.IntRange(160, 400).Draw(rt, "width"), rapid.IntRange(130, 300).Draw(rt, "height")}
		var agents []PaneInfo
		for i := range left + right {
			agents = append(agents, PaneInfo{ID: fmt.Sprintf("%%%d", i+10)})
		}
		text := layout(size, columns(agents, left))
		cells := leaf.FindAllStringSubmatch(text, -1)
		if len(cells) != len(agents) {
			rt.Fatalf("%s: got %d panes, want %d", text, len(cells), len(agents))
		}
		covered := map[[2]int]bool{}
		for _, m := range cells {
			var n [5]int
			for i := range n {
				n[i], _ = strconv.Atoi(m[i+1])
			}
			for x := n[2]; x < n[2]+n[0]; x++ {
				for y := n[3]; y < n[3]+n[1]; y++ {
					if covered[[2]int{x, y}] || x >= size.Width || y >= size.Height {
						rt.Fatalf("%s: cell %d,%d lies in two panes or outside", text, x, y)
					}
					covered[[2]int{x, y}] = true
				}
			}
		}
		lines := size.Width * (left - 1)
		if right > 0 {
			w := (size.Width - 1) / 2
			lines = size.Height + w*(left-1) + (size.Width-1-w)*(right-1)
		}
		if got, want := len(covered), size.Width*size.Height-lines; got != want {
			rt.Fatalf("%s: got %d cells covered, want %d", text, got, want)
		}
	})
}

func TestChecksumIsTmuxs(t *testing.T) {
	t.Parallel()
	// Printed by tmux itself.
	want := "8ad8,160x48,0,0{79x48,0,0[79x24,0,0,1,79x23,0,25,3],80x48,80,0[80x16,80,0,2,80x15,80,17,5,80x15,80,33,4]}"
	if got := layout(Size{160, 48}, [][]string{{"1", "3"}, {"2", "5", "4"}}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
