package hub

import "testing"

// An agent that keeps dying is known for it while its program starts once more,
// however often its pane is seen to live meanwhile.
func TestFoundKeepsTheDeathsOfAProgram(t *testing.T) {
	t.Parallel()
	w := &worker{death: death{times: hapless, words: "no network"}}
	w.found()
	if words, often := w.lastWords(); !often || words != "no network" {
		t.Errorf("got %q and %t, want its last words, and that it dies each time", words, often)
	}
}
