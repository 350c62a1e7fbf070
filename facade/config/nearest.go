package config

import (
	"cmp"
	"slices"
	"strings"
)

// nearest gives at most n of the words that look like the one given, the
// nearest first. A word counts if a third of its letters or fewer differ, or
// if one of the two contains the other.
func nearest(word string, from []string, n int) []string {
	type guess struct {
		word string
		off  int
	}
	var guesses []guess
	for _, w := range from {
		if off, ok := likeness(strings.ToLower(word), strings.ToLower(w)); ok {
			guesses = append(guesses, guess{w, off})
		}
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(a.off, b.off) })
	var near []string
	for _, g := range guesses[:min(n, len(guesses))] {
		near = append(near, g.word)
	}
	return near
}

// compared is the longest word, in bytes, that is compared letter by letter.
const compared = 64

// likeness gives the number of letters by which two words differ, and whether
// they are near.
func likeness(a, b string) (off int, near bool) {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if short == 0 || long > compared {
		return 0, false
	}
	off = distance(a, b)
	contained := short >= 3 && (strings.Contains(a, b) || strings.Contains(b, a))
	return off, contained || off <= max(1, long/3)
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that make b of a (optimal string alignment).
func distance(a, b string) int {
	var before, last []int // the rows above
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// suggest gives "; nearest: …" for an error, "" when nothing is near.
func suggest(word string, from []string) string {
	near := nearest(word, from, 1)
	if len(near) == 0 {
		return ""
	}
	return "; nearest: " + quoted(near[0])
}
