package catalog

import (
	"bytes"
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
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
	found := c.alike(name)
	slices.SortStableFunc(found, func(a, b alike) int { return cmp.Compare(b.like, a.like) })
	names := make([]string, min(len(found), max(n, 0)))
	for i := range names {
		names[i] = c.tools[found[i].tool].Name
	}
	return names
}

// An alike is a tool whose name is somewhat like another.
type alike struct {
	tool int
	like float64
}

// alike are the tools whose names are enough like name, in order.
func (c *Catalog) alike(name string) []alike {
	asked, m := spell(name), matcher{}
	var found []alike
	limit := minLikeness
	for i, spelt := range c.spelt.get(c.spellings) {
		if like := m.likeness(asked, spelt); like >= limit {
			limit = max(limit, minShare*like)
			found = append(found, alike{i, like})
		}
	}
	return slices.DeleteFunc(found, func(a alike) bool { return a.like < limit })
}

// A spelling is a name as it is compared.
type spelling struct {
	letters string   // lower-case letters and digits, nothing between them
	words   []string // of the name
}

// spellings are those of all tools' names.
func (c *Catalog) spellings() []spelling {
	all := make([]spelling, len(c.tools))
	for i := range c.tools {
		all[i] = spell(c.tools[i].Name)
	}
	return all
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
	letters := make([]byte, 0, len(s))
	for _, r := range s {
		if kindOf(r) != other {
			letters = utf8.AppendRune(letters, unicode.ToLower(r))
		}
	}
	return string(letters)
}

// A matcher compares names, in memory that it uses again.
type matcher struct {
	rest []byte
	a, b []rune
	rows [3][maxSpelling + 1]int
}

// likeness is how alike two names are: 1 for the same letters in the same
// order, 0 for nothing in common.
func (m *matcher) likeness(a, b spelling) float64 {
	if a.letters == "" || b.letters == "" {
		return 0
	}
	if a.letters == b.letters {
		return 1
	}
	return max(m.overlap(a, b), m.overlap(b, a), m.typing(a.letters, b.letters))
}

// overlap is the part of both names' letters that are words of b and stand in
// a, separated or not, or are a word of a with a typing error. A word like
// "get" counts half: it says little about what was meant.
func (m *matcher) overlap(a, b spelling) float64 {
	var common float64
	m.rest = append(m.rest[:0], a.letters...)
	for _, w := range b.words {
		weight := 1.0
		if commonVerb(w) && w != a.letters {
			weight = .5
		}
		if !m.take(w) {
			weight *= m.misspelt(w, a.words)
		}
		common += weight * float64(len(w))
	}
	const full = .95 // the same letters in another order are less than the same name
	return full * 2 * common / float64(len(a.letters)+len(b.letters))
}

// minWord is how long a word must be to count where it stands inside another.
const minWord = 3

// take takes the word out of what is left of a name, and reports whether it
// was there.
func (m *matcher) take(w string) bool {
	at := bytes.Index(m.rest, []byte(w))
	if at < 0 || len(w) < minWord {
		return false
	}
	for i := range len(w) {
		m.rest[at+i] = ' '
	}
	return true
}

// misspelt is how alike w is to the most alike of the words.
func (m *matcher) misspelt(w string, words []string) (best float64) {
	for _, other := range words {
		if len(w) > minWord && len(other) > minWord {
			best = max(best, m.typing(w, other))
		}
	}
	return best
}

// typing is how alike two words are that differ by typing errors, 0 if they
// differ by more than a quarter.
func (m *matcher) typing(a, b string) float64 {
	m.a, m.b = appendRunes(m.a[:0], a), appendRunes(m.b[:0], b)
	longer := max(len(m.a), len(m.b))
	limit := max(1, longer/4)
	d := m.distance(limit)
	if d > limit {
		return 0
	}
	return 1 - float64(d)/float64(longer)
}

func appendRunes(runes []rune, s string) []rune {
	for _, r := range s {
		runes = append(runes, r)
	}
	return runes
}

// distance is the number of letters to put in, take out, exchange or swap with
// their neighbour to make b of a (optimal string alignment), or more than limit
// as soon as it is clear that it is more.
func (m *matcher) distance(limit int) int {
	a, b := m.a, m.b
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := m.rows[0][:len(b)+1], m.rows[1][:len(b)+1], m.rows[2][:len(b)+1]
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
