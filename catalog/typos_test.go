package catalog

import (
	"math"
	"testing"
)

func TestNear(t *testing.T) {
	tests := []struct {
		name, word, term string
		want             float32
	}{
		{"takes one error", "worklgo", "worklog", spellingWeight * (1 - 1./7)},
		{"takes a letter too many", "issuee", "issue", prefixWeight * 5 / 6},
		{"takes no two errors in a short word", "wroklgo", "worklog", 0},
		{"takes two errors in a long word", "rpeoistori", "repositori", spellingWeight * (1 - 2./10)},
		{"takes a beginning", "repo", "repositori", prefixWeight * 4 / 10},
		{"takes no end", "sitori", "repositori", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := new(matcher).near(tt.word, tt.term, maxErrors(tt.word)); math.Abs(float64(got-tt.want)) > 1e-6 {
				t.Errorf("near(%q, %q) = %g, want %g", tt.word, tt.term, got, tt.want)
			}
		})
	}
}
