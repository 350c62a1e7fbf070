package catalog

import "testing"

func TestPlural(t *testing.T) {
	for word, want := range map[string]bool{"issues": true, "entries": true, "boxes": true, "issue": false,
		"status": false, "access": false, "analysis": false, "dns": false, "s": false, "": false} {
		if got := plural(word); got != want {
			t.Errorf("plural(%q) = %t, want %t", word, got, want)
		}
	}
}
