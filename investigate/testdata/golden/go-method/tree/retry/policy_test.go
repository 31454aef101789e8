package retry

import "testing"

func TestNextGivesUp(t *testing.T) {
	if _, ok := (RetryPolicy{}).Next(9); ok {
		t.Error("got another attempt, want none")
	}
}
