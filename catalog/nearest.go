package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// maxSpelling is how many characters of a name are compared: the longest name
// that the protocol recommends.
const maxSpelling = 128

// minLikeness is how alike two names have to be, from 0 to 1, and minShare
// which part of the best likeness of all.
const (
	minLikeness = .35
	minShare    = .5
)

// Nearest returns at most n names of tools that are spelled like name, the
// most alike first, whatever the case: with typing errors, with other
// separators, with some of the same words. It is empty if none is alike.
func (c *Catalog) Nearest(name string, n int) []string {
	asked := spell(name)
	type candidate struct {
		name string
		like float64
	}
	var found []candidate
	var best float64
	for i := range c.tools {
		like := likeness(asked, spell(c.tools[i].Name))
		best = max(best, like)
		found = append(found, candidate{c.tools[i].Name, like})
	}
	limit := max(minLikeness, minShare*best)
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.like < limit })
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.like, a.like) })
	names := make([]string, 0, min(len(found), max(n, 0)))
	for _, c := range found[:cap(names)] {
		names = append(names, c.name)
	}
	return names
}

// A spelling is a name as it is compared.
type spelling struct {
	letters string   // lower-case letters and digits, nothing between them
	words   []string // of the name
}

func spell(name string) spelling {
	name = firstRunes(name, maxSpelling)
	return spelling{squash(name), words(name)}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if kindOf(r) == other {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// likeness is how alike two names are: 1 for the same letters in the same
// order, 0 for nothing in common.
func likeness(a, b spelling) float64 {
	if a.letters == "" || b.letters == "" {
		return 0
	}
	if a.letters == b.letters {
		return 1
	}
	return max(overlap(a, b), overlap(b, a), typing(a.letters, b.letters))
}

// overlap is the part of both names' letters that are words of b and stand in
// a, separated or not, or are a word of a with a typing error. A word like
// "get" counts half: it says little about what was meant.
func overlap(a, b spelling) float64 {
	var common float64
	rest := a.letters
	for _, w := range b.words {
		weight := 1.0
		if commonVerb(w) && w != a.letters {
			weight = .5
		}
		if before, after, ok := strings.Cut(rest, w); ok && len(w) >= minWord {
			rest = before + " " + after
			common += weight * float64(len(w))
		} else {
			common += weight * float64(len(w)) * misspelt(w, a.words)
		}
	}
	const full = .95 // the same letters in another order are less than the same name
	return full * 2 * common / float64(len(a.letters)+len(b.letters))
}

// minWord is how long a word must be to count where it stands inside another.
const minWord = 3

// misspelt is how alike w is to the most alike of the words.
func misspelt(w string, words []string) (best float64) {
	for _, other := range words {
		if len(w) > minWord && len(other) > minWord {
			best = max(best, typing(w, other))
		}
	}
	return best
}

// commonVerb reports whether so many names begin with w that it tells no tool
// from another.
func commonVerb(w string) bool {
	switch w {
	case "add", "create", "delete", "find", "get", "list", "new", "read", "remove", "search", "set", "show", "update", "write":
		return true
	}
	return false
}

// typing is how alike two words are that differ by typing errors, 0 if they
// differ by more than a quarter.
func typing(a, b string) float64 {
	ra, rb := []rune(a), []rune(b)
	longer := max(len(ra), len(rb))
	limit := max(1, longer/4)
	d := distance(ra, rb, limit)
	if d > limit {
		return 0
	}
	return 1 - float64(d)/float64(longer)
}

// distance is the number of letters to put in, take out, exchange or swap with
// their neighbour to make b of a (optimal string alignment), or more than limit
// as soon as it is clear that it is more.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+unequal(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		if slices.Min(row) > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// unequal is 1 for two different letters, else 0.
func unequal(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}
