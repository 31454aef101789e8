package protocol

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"grand_boss", "middle_manager", "testing_specialist"}
	tests := []struct{ typed, want string }{
		{"grand_bos", "grand_boss"},
		{"Grand_Boss", "grand_boss"},
		{"boss", "grand_boss"},
		{"test", "testing_specialist"},
		{"midle_manger", "middle_manager"},
		{"xyz", ""},
		{"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.typed, func(t *testing.T) {
			if got := Nearest(tt.typed, names); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
